"""The memory of a run serves the next one."""

import os
import platform
import subprocess
import sys

import pytest

#: Three runs in a thread, as in a pool; printed are the pages that the last of them had to get, and of its arrays.
RUNS = """
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.experiment import execution
from harness.experiment.field_reading import parse_field
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.source_text import SourceText

text = 'workloads = "lublin(jobs=20000, procs=64)"\\nseeds = [0, 1, 2]\\n[[scheduler]]\\norder = "fcfs"\\n'
bytes_taken = []
simulate = execution.simulate


def noting(*arguments, **named):
    schedule = simulate(*arguments, **named)
    bytes_taken.append(schedule.outcome.bytes)
    return schedule


execution.simulate = noting


def pages(run):
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    assert execution.execute(run.task(), run.workload).error is None
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


with ThreadPoolExecutor(1) as thread:
    got = list(thread.map(pages, make_run_matrix(parse_field(SourceText(Path("memory.toml"), text))).runs))
print(got[-1], bytes_taken[-1] // resource.getpagesize())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone is told to keep it")
def test_a_run_takes_what_the_run_before_left() -> None:
    nanny = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}  # as Dask's workers are started
    done = subprocess.run(
        [sys.executable, "-c", RUNS], env=nanny, capture_output=True, text=True, timeout=300, check=True
    )
    got, taken = map(int, done.stdout.split())
    assert got < taken / 10
