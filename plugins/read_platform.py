"""Reading platforms: so many processors, descriptions in TOML, and tables of servers."""

import harness


@harness.hookimpl(specname="read_platform")
def read_count(source):
    """A number: a plain cluster of so many single-processor nodes."""
    return harness.plain(int(source)) if source.strip().isdecimal() else None


@harness.hookimpl(specname="read_platform")
def read_description(source):
    """A `.toml` file: rows picked from a table of servers or nodes given one by one, with the states they know."""
    return harness.read_description(harness.find_platform(source)) if source.endswith(".toml") else None


@harness.hookimpl(specname="read_platform")
def read_servers(source):
    """A `.csv` or `.csv.gz` table of servers: SPEC's own export, or the small one of the PEAS paper.

    `NAME.csv(whole_watts=true)` rounds the watts of a core of the small one.
    """
    path, parenthesis, parameters = source.rpartition("(") if source.endswith(")") else (source, "", "")
    if not path.endswith((".csv", ".csv.gz")):
        return None
    _, values = harness.parse("table" + parenthesis + parameters)
    return harness.call(harness.read_platform_table, values, source, harness.find_platform(path))
