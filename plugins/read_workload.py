"""Reading workloads: logs in SWF by path or catalogue name, those of Batsim, and generated streams."""

import harness

GENERATORS = {"lublin": harness.lublin, "poisson": harness.poisson}


@harness.hookimpl(specname="read_workload")
def read_generated(source):
    """`lublin` or `poisson`, with parameters as in `lublin(jobs=1000, procs=128, seed=2)`."""
    if source.partition("(")[0].strip() not in GENERATORS:
        return None
    name, parameters = harness.parse(source)
    return harness.call(GENERATORS[name], parameters, source)


@harness.hookimpl(specname="read_workload")
def read_batsim(source):
    """A workload of Batsim, `.json` or `.json.gz`, whose profiles are delays."""
    return harness.read_batsim(source) if source.endswith((".json", ".json.gz")) else None


@harness.hookimpl(specname="read_workload", trylast=True)
def read_log(source, lenient):
    """A path, or the short name of a log of the Parallel Workloads Archive."""
    return harness.read_swf(harness.find_trace(source), lenient=lenient)
