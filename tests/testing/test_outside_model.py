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


def command(verb, jobs, part, trouble=0):
    """The command line that runs the model as one part of the scheduler; the model fails for the job `trouble`."""
    Path("model.py").write_text(MODEL.format(trouble=trouble))
    workload = f"lublin(jobs={jobs}, procs=32, seed=1)"
    Path("field.toml").write_text(f'workloads = ["{workload}"]\n\n[[scheduler]]\n{part} = ["model"]\n')
    words = {
        "run": ("run", workload, f"--{part}", "model"),
        "tournament": ("tournament", "field.toml"),
        "check": ("check", "gate.json", "--field", "field.toml", "--update"),
    }
    return [sys.executable, "-m", "harness", *words[verb], "--plugins", "model.py", "--format", "json"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


#: A tournament tells which of its runs failed and exits with 1; the others did not get what they were to make.
FAILED = {"run": 2, "tournament": 1, "check": 2}

verbs = pytest.mark.parametrize("verb", FAILED)
both = pytest.mark.parametrize("part", ["order", "start"])


@pytest.mark.quick_cases(1)
@verbs
@both
def test_runs(verb, part):
    done = subprocess.run(command(verb, 50, part), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if verb == "run":
        assert answer["measures"]["accepted"] == 50


@pytest.mark.slow
def test_is_checked_against_what_it_gave():
    subprocess.run(command("check", 50, "order"), capture_output=True, timeout=120)
    again = [sys.executable, "-m", "harness", "check", "gate.json", "--plugins", "model.py"]
    done = subprocess.run(again, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "gate.json: 1 run: 1 the same\n")


@pytest.mark.quick_cases(1)
@verbs
@both
def test_is_interrupted_in_the_middle_of_a_question(verb, part):
    """Without Ctrl-C it would take many minutes, and nothing else of the run would end it."""
    process = subprocess.Popen(command(verb, 20_000, part), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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
    assert not Path("gate.json").exists()


def wait_until_asked(process):
    for _ in range(1000):
        assert process.poll() is None, process.communicate()
        if Path("asked").exists():
            return
        time.sleep(0.1)
    raise AssertionError("the model is never asked")


@pytest.mark.quick_cases(1)
@verbs
@pytest.mark.parametrize(
    ("part", "where"),
    [
        ("order", r"in the policy 'model' (order_queue), for job 7, at 16218 s"),
        ("start", r"in the policy 'model' (start_jobs) at 16218 s"),
    ],
)
def test_what_it_raises_names_policy_job_and_instant(verb, part, where):
    done = subprocess.run(command(verb, 50, part, trouble=7), capture_output=True, text=True, timeout=120)
    assert done.returncode == FAILED[verb]
    lines = [line for line in done.stderr.splitlines() if line.startswith("harness: ")]
    assert len(lines) == 1
    assert "ConnectionError: the model does not answer" in lines[0]
    assert where in lines[0]
    assert "job 7" in lines[0]
    assert "Traceback" not in done.stderr
