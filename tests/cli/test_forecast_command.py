"""`harness forecast` says when each waiting job will start; `harness run --state` goes on from a live machine."""

import json
from pathlib import Path

import pytest
from calling import Call

STATE = """JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS
11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|48
13_7|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|64
14|ann|PENDING|2026-11-19T09:20:00|N/A|0:00|30:00|8
"""

LOG = "; MaxProcs: 4\n; UnixStartTime: 852076800\n" + "".join(
    f"{k} {60 * k} {10 if k < 20 else 600} 30 {1 + k % 4} -1 -1 {1 + k % 4} 60 -1 1 {k % 3} -1 -1 -1 -1 -1 -1\n"
    for k in range(24)
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("state.txt").write_text(STATE)
    Path("was.swf").write_text(LOG)


@pytest.mark.usefixtures("files")
def test_a_forecast_from_an_instant_of_a_log(harness_says: Call) -> None:
    answer = harness_says("forecast", "was.swf", "--at", "1380", "--repetitions", 5, "--procs", 4)
    assert (answer.status, answer.err) == (0, "")
    assert "was, on 1997-01-01 00:23:00: " in answer.out
    assert "starts in" in answer.out
    assert "drawn from the shares of their limits that 20 finished jobs used" in answer.out
    assert "no later submissions are assumed" in answer.out
    dated = harness_says("forecast", "was.swf", "--at", "1997-01-01T00:23", "--repetitions", 5, "--procs", 4)
    assert dated.out == answer.out


@pytest.mark.usefixtures("files")
def test_a_forecast_for_programs(harness_says: Call) -> None:
    asked = ("forecast", "--state", "state.txt", "--procs", 64, "--repetitions", 9)
    told = json.loads(harness_says(*asked, "--format", "json").out)
    assert [job["job"] for job in told["jobs"]] == ["14", "13_7"]
    first, second = told["jobs"]
    assert (first["median"], first["limit"], first["waited"]) == (0, 1800, 2400)
    assert 0 < second["low"] <= second["median"] <= second["high"] <= 7800
    assert told["repetitions"] == 9
    assert "no job had finished before" in told["assumed"][0]
    rows = harness_says(*asked, "--format", "csv").out.splitlines()
    assert rows[0] == "job,procs,limit,waited,median,low,high"
    assert len(rows) == 3


@pytest.mark.usefixtures("files")
def test_a_log_says_what_was_before_a_state(harness_says: Call) -> None:
    answer = harness_says("forecast", "was.swf", "--state", "state.txt", "--procs", 64, "--repetitions", 3)
    assert "drawn from the shares of their limits that 24 finished jobs" in answer.out
    assert "2026-11-19 10:00:00" in answer.out


@pytest.mark.usefixtures("files")
def test_a_run_goes_on_from_a_state(harness_says: Call) -> None:
    told = harness_says("run", "--state", "state.txt", "--procs", 64, "--schedule", "next.csv")
    assert told.status == 0
    assert "half of 2 jobs" in told.out
    assert "state: 3 jobs (1 run, 2 wait)" in told.out
    starts = [line.split(",")[2] for line in Path("next.csv").read_text().splitlines()[1:]]
    assert starts == ["600", "15000", "7200"]
    longer = harness_says("run", "was.swf", "--state", "state.txt", "--procs", 64)
    assert "further jobs: 24 jobs" in longer.out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("forecast", "expected a log and an instant of it"),
        ("forecast was.swf", "expected a log and an instant of it"),
        ("forecast was.swf --at soon", "--at 'soon': expected seconds after the first submit, or a date"),
        ("forecast was.swf --at 1990-01-01", "no job runs or waits then"),
        ("forecast was.swf --at 100000", "no job runs or waits then"),
        ("forecast was.swf --at 5 --state state.txt", "--at and --state both given"),
        ("forecast was.swf --at 1380 --procs 4 --level 7", "level 7: expected a share"),
        ("forecast was.swf --at 1380 --procs 4 --arrivals week", "did you mean 'weeks'"),
        ("forecast was.swf --at 1380 --procs 4 --order fcff", "did you mean 'fcfs'"),
        ("forecast was.swf --at 1380 --format jsn", "jsn"),
        ("forecast --state was.swf", "has no column 'State'"),
        ("forecast --state nothing.txt", "there is no such file"),
        ("forecast --state state.txt", "give --procs N"),
        ("forecast --state state.txt --procs 47", "its running jobs use 48 processors of a machine of 47: expected"),
        ("forecast was.swf --state state.txt --procs 1", "expected the machine of this state, of at least 48"),
        ("forecast --state state.txt --platform synthetic-11(procs=16)", "of at least 48 processors"),
        ("run --state nothing.txt", "there is no such file"),
        ("run --state state.txt --procs 20", "job 11 has no room on the platform's 20"),
        ("run --state state.txt --procs 64 --hold limits(user_jobs=1)", "expected no hold"),
        ("run --state state.txt --slurm slurm.conf", "--slurm and --state"),
    ],
)
def test_what_is_refused(harness_says: Call, call: str, complaint: str) -> None:
    answer = harness_says(*call.split())
    assert (answer.status, answer.out) == (2, "")
    assert complaint in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.usefixtures("files")
def test_a_forecast_learns_from_earlier_ones(harness_says: Call) -> None:
    asked = ("forecast", "was.swf", "--at", "1380", "--repetitions", 3, "--procs", 4)
    assert "--calibrate 20 learns by how much" in harness_says(*asked).out
    answer = harness_says(*asked, "--calibrate", 40)
    assert "calibrated with" in answer.out
    assert "--calibrate 20" not in answer.out
    few = harness_says("forecast", "--state", "state.txt", "--procs", 64, "--calibrate", 2)
    assert few.status == 2
    assert "nothing to calibrate with" in few.err
