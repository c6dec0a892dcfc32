"""Readers of smaller inputs, which `fuzzing.py --seconds` covers besides those of the published page."""

from typing import Any

from shared.mutated import spoilt
from shared.readers import BESIDE, GAPS, GENERATED, RAN, SWF, Reader

QUEUES = '[short]\nqueue = 1\norder = "spf"\nstart = "easy"\n[wide]\npartition = [2, 3]\norder = "wfp3(power=2)"\n'
NODES = "cpu_milli,memory_mib,gpu,model\n64000,262144,2,P100\n64000,262144,2,P100\n96000,786432,0,\n"
RANGES = """workloads = "poisson(jobs=9, procs=8)"
[[scheduler]]
order = "wfp3(power=1..3)"
start = "easy(reservations=1..4)"
"""
POLICIES = {
    "select": (b"first-fit", b"best-fit", b"whole-nodes", b"contiguous"),
    "predict": (b"requested", b"recent(n=2)", b"similar(look=20)", b"online(rate=0.2, caution=1.5)"),
    "hold": (b"none", b"limits(user_jobs=4)", b"limits(group_jobs=1, user_submitted=3)"),
    "energy": (b"none", b"spec", b"cores"),
    "signal": (b"daily(low=50, high=300, peak=19)", b"daily(values=[1, 2, 3], kind=price)"),
}


def _of(name: str, file: str, text: str, *calls: tuple[str, ...], **more: Any) -> Reader:
    valid = [text.encode()]
    return Reader(name, spoilt(valid), valid, calls, file, beside=BESIDE, **more)


def further_readers() -> list[Reader]:
    """The readers."""
    run = ("run", "log.swf", "--platform", "synthetic-11")
    return [
        _of("queues TOML", "queues.toml", QUEUES, ("run", "log.swf", "--queues", "FILE")),
        _of("list of nodes", "nodes.csv", NODES, ("run", GENERATED, "--platform", "FILE")),
        _of("ranges TOML", "ranges.toml", RANGES, ("tune", "FILE", "--out", "tuned", "--trials", "1")),
        _of("outages of a log", "log2.swf", SWF, ("data", "outages", "FILE", "--procs", "40")),
        _of("log of theory", "gaps.csv", GAPS, ("theory", "stability", "FILE", "--servers", "16")),
        _of("schedule given", "ran.csv", RAN, ("compare", "ran.csv", "fcfs + easy", "FILE", "--procs", "40")),
        *(
            Reader(f"{part} policies", spoilt(valid), valid, [(*run, f"--{part}=INPUT")], beside=BESIDE)
            for part, valid in POLICIES.items()
        ),
    ]
