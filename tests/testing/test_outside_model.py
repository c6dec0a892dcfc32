"""A plain Python policy that asks a slow model outside: it works, ends at once on Ctrl-C, and its errors say where."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MODEL = """
import time
from pathlib import Path

import harness

def ask(job):
    Path("asked").touch()
    time.sleep(0.001)
    if job.number == {trouble}:
        raise ConnectionError("the model does not answer")
    return float(job.estimate)

def predicted(job, clock):
    return ask(job)

def by_the_model(state):
    for job in harness.waiting(state):
        ask(state.jobs[job])
        if harness.fits(state, job):
            harness.start(state, job)

@harness.hookimpl
def order_queue():
    return [harness.Order("model", predicted, compiled=False, varies=True)]

@harness.hookimpl
def start_jobs():
    return [harness.Start("model", by_the_model, compiled=False)]
"""


def command(jobs, part, trouble=0):
    """The command line that runs the model as one part of the scheduler; the model fails for the job `trouble`."""
    Path("model.py").write_text(MODEL.format(trouble=trouble))
    workload = f"lublin(jobs={jobs}, procs=32, seed=1)"
    return [
        *(sys.executable, "-m", "harness", "run", workload),
        *("--plugins", "model.py", f"--{part}", "model", "--format", "json"),
    ]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


both = pytest.mark.parametrize("part", ["order", "start"])


@both
def test_runs(part):
    done = subprocess.run(command(50, part), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measures"]["accepted"] == 50


@both
def test_is_interrupted_in_the_middle_of_a_question(part):
    """Without Ctrl-C it would take many minutes, and nothing else of the run would end it."""
    process = subprocess.Popen(command(20_000, part), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_asked(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "harness: interrupted" in err
    assert "Traceback" not in err
    assert out == ""


def wait_until_asked(process):
    for _ in range(1000):
        assert process.poll() is None, process.communicate()
        if Path("asked").exists():
            return
        time.sleep(0.1)
    raise AssertionError("the model is never asked")


@pytest.mark.parametrize(
    ("part", "where"),
    [
        ("order", r"raised in the policy 'model' (order_queue), for job 7, at "),
        ("start", r"raised in the policy 'model' (start_jobs) at "),
    ],
)
def test_what_it_raises_names_policy_job_and_instant(part, where):
    done = subprocess.run(command(50, part, trouble=7), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("harness: ")]
    assert len(lines) == 1
    assert "ConnectionError: the model does not answer" in lines[0]
    assert where in lines[0]
    assert "job 7" in lines[0]
    assert "Traceback" not in done.stderr
