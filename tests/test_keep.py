"""Compiled kernels on disk: found again, never confused, never stale."""

import os
import subprocess
import sys

import numpy as np
import pytest

PLUGIN = """
import harness

def score(job, clock):
    return {score}

@harness.hookimpl
def order_queue():
    return [harness.Order("{name}", score)]
"""

RUN = """
import sys, time
import harness
from harness import kernels
log = harness.lublin(jobs=300, procs=64, seed=3)
for order, plugin in zip(sys.argv[1::2], sys.argv[2::2]):
    schedule = harness.simulate(log, 64, harness.Scheduler(order=order, start="none"), plugins=[plugin])
    print(schedule.digest)
"""


@pytest.fixture
def run(tmp_path):
    """Run the given orders in a process of their own that keeps kernels in `tmp_path`; their schedules' digests."""

    def runner(*arguments):
        environment = {**os.environ, "HARNESS_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", RUN, *map(str, arguments)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return runner


def plugin(folder, name, score):
    path = folder / f"{name}.py"
    path.write_text(PLUGIN.format(name=name, score=score))
    return path


@pytest.mark.slow
def test_kernels_of_different_processes_stay_apart(run, tmp_path):
    """Functions are linked by name: two cached kernels must not become one when a third process loads both."""
    narrow = plugin(tmp_path, "narrow", "float(job.procs)")
    wide = plugin(tmp_path, "wide", "-float(job.procs)")
    alone = run("narrow", narrow) + run("wide", wide)
    assert alone[0] != alone[1]
    assert run("narrow", narrow, "wide", wide) == alone
    assert run("wide", wide, "narrow", narrow) == alone[::-1]


@pytest.mark.slow
def test_an_edited_plugin_is_compiled_anew(run, tmp_path):
    first = run("mine", plugin(tmp_path, "mine", "float(job.procs)"))
    helper = "import harness\n\nSIGN = {sign}\n\ndef score(job, clock):\n    return SIGN * job.procs\n"
    implementation = PLUGIN[PLUGIN.index("@harness") :].format(name="mine", score="")
    path = tmp_path / "mine.py"
    path.write_text(helper.format(sign="1.0") + "\n" + implementation)
    same = run("mine", path)
    path.write_text(helper.format(sign="-1.0") + "\n" + implementation)  # only a constant it refers to changes
    assert same == first
    assert run("mine", path) != first
    kernels = len(list((tmp_path / "cache" / "kernels").glob("order_queue_*.py")))
    assert run("mine", path) != first
    assert len(list((tmp_path / "cache" / "kernels").glob("order_queue_*.py"))) == kernels


def test_a_fingerprint_changes_with_what_numba_would_freeze():
    from harness.version import fingerprint

    def make(weights, factor):
        def score(job, clock):
            return weights[0] * factor

        return score

    first = fingerprint(make(np.array([1.0, 0.0]), np.int64(1)))
    assert first == fingerprint(make(np.array([1.0, 0.0]), np.int64(1)))
    assert first != fingerprint(make(np.array([0.0, 1.0]), np.int64(1)))
    assert first != fingerprint(make(np.array([1.0, 0.0]), np.int64(-1)))


def test_nowhere_to_keep_kernels_is_no_obstacle(monkeypatch, tmp_path):
    import harness
    from harness import kernels

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("not a folder")
    kernels.compiled.cache_clear()
    log = harness.lublin(jobs=50, procs=16)
    assert harness.simulate(log, 16, harness.Scheduler(order="lcfs", start="none")).measures()["accepted"] == 50
    kernels.compiled.cache_clear()
