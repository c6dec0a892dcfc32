"""Reading platforms: so many processors, and tables of servers."""

import harness


@harness.hookimpl(specname="read_platform")
def read_count(source):
    """A number: a plain cluster of so many single-processor nodes."""
    return harness.plain(int(source)) if source.strip().isdecimal() else None


@harness.hookimpl(specname="read_platform")
def read_table(source):
    """A `.csv` table of servers as the PEAS paper prints it; `NAME.csv(whole_watts=true)` rounds watts per core."""
    path, parenthesis, parameters = source.partition("(")
    if not path.endswith(".csv"):
        return None
    _, values = harness.parse("table" + parenthesis + parameters)
    return harness.call(harness.read_small_table, values, source, harness.find_platform(path))
