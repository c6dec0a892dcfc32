"""Measures the memory of a run beyond its workload, as the system reports it: `python reports/felt_memory.py JOBS`.

It prints the resident bytes a job and for how long the simulation had a processor [s]; on Linux, and in a process of
its own, in which nothing was kept before.
"""

import re
import subprocess
import sys
from pathlib import Path

from engine_speed import CLUSTER, stream

from harness.experiment.simulation import simulate
from harness.policy.scheduler import Scheduler


def felt(jobs: int) -> tuple[float, float]:
    """Return the memory of a run beyond its workload [bytes a job], and its time [s]."""
    simulate(stream(1_000), CLUSTER, Scheduler(start="easy"))
    workload = stream(jobs)
    before = resident("VmRSS")
    outcome = simulate(workload, CLUSTER, Scheduler(start="easy")).outcome
    return (resident("VmHWM") - before) / jobs, outcome.processor_seconds


def resident(field: str) -> int:
    """Return the present or largest memory of this process. `getrusage` would include the parent process."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) * 1024


def apart(jobs: int) -> tuple[float, float]:
    """Return the same of a process of its own."""
    said = subprocess.run([sys.executable, __file__, str(jobs)], check=True, capture_output=True, text=True)
    memory, seconds = map(float, said.stdout.split())
    return memory, seconds


if __name__ == "__main__":
    print(*felt(int(sys.argv[1])))
