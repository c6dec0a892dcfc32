"""Readers of platforms: numbers of processors, descriptions in TOML, and tables of servers."""

import harness


@harness.hookimpl(specname="read_platform")
def read_count(source):
    """A number: a plain cluster with that number of single-processor nodes."""
    number = source.strip()
    return harness.plain(int(number[:30])) if number.isdecimal() else None  # longer ones are too large all the same


@harness.hookimpl(specname="read_platform")
def read_description(source):
    """A `.toml` file: rows picked from a table of servers or nodes given one by one, with the states they know."""
    return harness.read_description(harness.find_platform(source)) if source.endswith(".toml") else None


@harness.hookimpl(specname="read_platform")
def read_one_server(source):
    """One row of SPEC's export: `spec(system="…")`, `spec(result="…")`, picked as descriptions do."""
    if not source.startswith("spec("):
        return None
    _, facts = harness.parse(source)
    return harness.call(spec_server, facts, source)


def spec_server(table="power_ssj2008-results-20230518-025251.csv.gz", vendor="", system="", processor="", result=""):
    """Make a platform of one node, of the one row of SPEC's `table` that has all the facts given."""
    facts = {"vendor": vendor, "system": system, "processor": processor, "result": result}
    given = {name: fact for name, fact in facts.items() if fact}
    node = harness.read_spec(harness.find_platform(table)).pick(given)
    return harness.Platform(f"spec({', '.join(given.values())})", (node,), f"one server of {table}")


@harness.hookimpl(specname="read_platform")
def read_servers(source):
    """A `.csv` table of servers, packed or not: SPEC's own export, or the small one of the PEAS paper.

    `NAME.csv(whole_watts=true)` rounds the watts of a core of the small one down, `NAME.csv(whole_numbers=true)` all
    that the PEAS paper divides, and runtimes to seconds.
    """
    path, parenthesis, parameters = source.rpartition("(") if source.endswith(")") else (source, "", "")
    if not harness.is_platform_table(path):
        return None
    _, values = harness.parse("table" + parenthesis + parameters)
    return harness.call(harness.read_platform_table, values, source, harness.find_platform(path))
