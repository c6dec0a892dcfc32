"""Readers of workloads: logs by path or catalogue name in all known formats, and generated streams.

The first line or the name of a file determines its format. Files that no other reader accepts are read in the Standard
Workload Format.
"""

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
def read_accounting(source, lenient):
    """The output of Slurm's `sacct --parsable2`."""
    return harness.read_sacct(source, lenient=lenient) if harness.is_sacct(source) else None


@harness.hookimpl(specname="read_workload")
def read_customers(source, lenient):
    """A CSV of interarrival and service times, as the R package hpcwld has them."""
    return harness.read_hpcwld(source, lenient=lenient) if harness.is_hpcwld(source) else None


@harness.hookimpl(specname="read_workload")
def read_executed(source, lenient):
    """A schedule of any program: a CSV or Parquet file with the times of submission, start and end."""
    return harness.read_schedule(source, lenient=lenient) if harness.is_schedule(source) else None


@harness.hookimpl(specname="read_workload")
def read_traces(source, lenient):
    """A trace as its publishers write it: LUMOS (Mira, Theta, ThetaGPU, Philly), Eagle, Alibaba's GPU cluster."""
    return harness.read_published(source, lenient=lenient) if harness.is_published(source) else None


@harness.hookimpl(specname="read_workload", tryfirst=True)
def read_elastic(source):
    """A workload of ElastiSim with rigid or moldable jobs, `.json`, packed or not."""
    return harness.read_elastisim(source) if harness.is_elastisim(source) else None


@harness.hookimpl(specname="read_workload", trylast=True)
def read_columns(source, lenient):
    """A CSV or Parquet file with columns named as in the harness."""
    return harness.read_table(source, lenient=lenient) if harness.is_table(source) else None


@harness.hookimpl(specname="read_workload")
def read_batsim(source):
    """A workload of Batsim with profiles that are delays, `.json`, packed or not."""
    return harness.read_batsim(source) if harness.is_batsim(source) else None


@harness.hookimpl(specname="read_workload", trylast=True)
def read_log(source, lenient):
    """A path, or the short name of a log of the Parallel Workloads Archive."""
    return harness.read_swf(harness.find_trace(source), lenient=lenient)
