"""`harness verify` says in words, and by its exit status, what a schedule shows."""

import json
from pathlib import Path

import pandas as pd
from calling import Call

KEPT = "job,submit,wait,run,estimate,procs\n1,0,0,10,10,3\n2,1,9,5,5,4\n"


def test_a_schedule_that_the_harness_wrote(harness_says: Call, log: Path, tmp_path: Path) -> None:
    written = tmp_path / "schedule.csv"
    assert harness_says("run", log, "--schedule", written).status == 0
    answer = harness_says("verify", written, "--promise", "easy", "--procs", 4)
    assert answer.status == 0, answer.err
    assert "never more processors in use than there are\nthe first of the queue is never delayed" in answer.out


def test_a_schedule_that_somebody_else_wrote(harness_says: Call, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text(KEPT)
    assert harness_says("verify", path, "--promise", "fcfs", "--procs", 4).status == 0
    path.write_text(KEPT + "3,2,0,20,20,2\n")
    answer = harness_says("verify", path, "--promise", "fcfs", "--procs", 4)
    assert answer.status == 1
    assert "overcommitted, first at 2 s, for job 3: 5 processors are in use, of 4; it starts at 2 s" in answer.out
    assert (
        "the promise of fcfs is broken, first at 2 s, for job 2: job 3, submitted later, starts before it" in answer.out
    )
    found = json.loads(harness_says("verify", path, "--promise", "fcfs", "--procs", 4, "--format", "json").out)
    assert (found["kept"], found["broken"]["queue"], found["overcommitted"]["job"]) == (False, [2], 3)


def test_requested_times_from_the_workload(harness_says: Call, log: Path, tmp_path: Path) -> None:
    """The same schedule without its requested times is refused, and verified with those of its workload."""
    written = tmp_path / "schedule.csv"
    assert harness_says("run", log, "--schedule", written).status == 0
    table = pd.read_csv(written).drop(columns="estimate")
    table.to_csv(written, index=False)
    answer = harness_says("verify", written, "--promise", "easy", "--procs", 4)
    assert (answer.status, "has no requested time" in answer.err) == (2, True)
    assert harness_says("verify", written, "--promise", "easy", "--procs", 4, "--workload", log).status == 0


def test_refusals(harness_says: Call, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text(KEPT)
    assert "did you mean 'easy'" in harness_says("verify", path, "--promise", "eazy", "--procs", 4).err
    assert "expected table or json" in harness_says("verify", path, "--promise", "easy", "--format", "csv").err
    assert "give --procs N" in harness_says("verify", path, "--promise", "easy").err
