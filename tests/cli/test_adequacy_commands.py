"""`harness adequacy` and `harness identify`: what they say, and when they refuse."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from calling import HEADER, Call, swf_line

import harness
from harness.present.tables import FORMATS
from harness.workload.swf import write_swf


@pytest.fixture
def replayed(harness_says: Call, tmp_path: Path) -> Path:
    """A log with waits: sixty jobs as our FCFS would have run them."""
    source, path = tmp_path / "source.swf", tmp_path / "log.swf"
    source.write_text(HEADER + "".join(swf_line(job, 1 + job % 4, run=3 + job % 7) for job in range(1, 61)))
    assert harness_says("run", source, "--start", "none", "--schedule", path).status == 0
    return path


def test_a_replay_of_the_same_policy_is_not_off(harness_says: Call, replayed: Path) -> None:
    answer = harness_says("adequacy", replayed, "--start", "none", "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    summary = json.loads(answer.out)
    assert set(summary) == {
        "workload", "platform", "scheduler", "parameters", "preparation", "launch", "completion", "overheads",
        "submission", "adequacy", "reference", "ratio", "verdict", "breakdown",
    }  # fmt: skip
    found, reference = summary["adequacy"], summary["reference"]
    assert (found["P"], found["jobs"], [row["jobs"] for row in found["growth"]]) == (0, 60, [50, 60])
    assert len(reference["pairs"]) == 20
    assert reference["low"] <= reference["P"] <= reference["high"]
    assert found["scale"]["skill"] == 1
    assert "indistinguishable from the machine" in summary["verdict"]


def test_another_policy_is(harness_says: Call, replayed: Path) -> None:
    options = ("--order", "lcfs", "--launch", "constant(seconds=1)", "--completion", "constant(seconds=0)")
    answer = harness_says("adequacy", replayed, *options, "--repetitions", "2")
    assert answer.status == 0
    assert "60 jobs on 4 processors" in answer.out
    assert "order lcfs, start easy" in answer.out
    assert "different waits" in answer.out
    assert (
        "P_ideal = 0.0 s, 95 % interval 0.0 to 0.0 s, of 2 pairs of repetitions, 67% of them below 0.0 s; launch"
        in answer.out
    )
    assert "the replay is distinguishable from the machine" in answer.out


def test_what_was_assumed_of_the_machine_is_said(harness_says: Call, replayed: Path) -> None:
    options = ("--overheads", "outside", "--submission", "uniform(low=0, high=9)", "--backfill-interval", "60")
    answer = harness_says("adequacy", replayed, *options, "--repetitions", "2")
    assert (answer.status, answer.err) == (0, "")
    assert "completion exponential(mean=5), outside the runtime, submission uniform(low=0, high=9)." in answer.out
    refused = harness_says("adequacy", replayed, "--overheads", "outsied")
    assert refused.status == 2
    assert "overheads='outsied': did you mean 'outside'" in refused.err


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_growth_table(harness_says: Call, replayed: Path, format: str) -> None:
    answer = harness_says("adequacy", replayed, "--repetitions", "0", "--format", format)
    assert (answer.status, answer.err) == (0, "")
    assert "50" in answer.out
    if format == "csv":
        assert answer.out.startswith("jobs,P,E,different waits\n50,")


def test_repetitions_need_no_log(harness_says: Call) -> None:
    generated = "lublin(jobs=60, procs=32, seed=1)"
    answer = harness_says("adequacy", generated, "--against", "repetition", "--format", "csv", "--repetitions", "1")
    assert answer.out.splitlines()[0] == 'jobs,P_ideal,E_ideal,"different waits, ideal"'
    answer = harness_says("adequacy", generated)
    assert answer.status == 2
    assert "is undefined: the wait of job 1 is unknown" in answer.err
    assert "60 of 60 lack" in answer.err
    assert harness_says("adequacy", generated, "--against", "repetition", "--repetitions", "0").status == 2


def test_two_logs_as_they_are_written(harness_says: Call, replayed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.swf"
    assert harness_says("run", replayed, "--order", "lcfs", "--schedule", other).status == 0
    apart = json.loads(harness_says("adequacy", replayed, "--against", other, "--format", "json").out)["adequacy"]
    replay = harness_says("adequacy", replayed, "--order", "lcfs", "--repetitions", "0", "--format", "json")
    assert apart["P"] == json.loads(replay.out)["adequacy"]["P"] > 0
    assert "60 of 60" not in harness_says("adequacy", replayed, "--against", replayed).err
    shorter = tmp_path / "shorter.swf"
    shorter.write_text("".join(replayed.read_text().splitlines(keepends=True)[:-1]))
    refused = harness_says("adequacy", replayed, "--against", shorter)
    assert refused.status == 2
    assert "60 jobs against 59, job 60 has no counterpart" in refused.err


@pytest.mark.parametrize("lag", [0.5, 60.0])
@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("format", ["table", "json", "markdown"])
def test_other_submit_times_are_reported(
    harness_says: Call, replayed: Path, tmp_path: Path, lag: float, others: int, format: str
) -> None:
    log = harness.read_workload(str(replayed))
    jobs = log.jobs.astype({"submit": float})
    jobs.loc[7, "submit"] += lag
    names = [str(tmp_path / f"other{number}.swf") for number in range(others)]
    for name in names:
        write_swf(dataclasses.replace(log, jobs=jobs), name)
    against = [word for name in names for word in ("--against", name)]
    told = harness_says("adequacy", replayed, *against, "--format", format).out
    assert re.search(rf"The submissions of 1 of 60 jobs in \S+ and other0 differ by up to {lag:.1f} s", told)
    assert "The submissions" not in harness_says("adequacy", replayed, "--against", replayed, "--format", format).out


@pytest.mark.parametrize("option", [("--jobs", "9"), ("--from", "9"), ("--order", "fcfs"), ("--repetitions", "10")])
def test_nothing_is_replayed_of_logs_as_they_are_written(
    harness_says: Call, replayed: Path, option: tuple[str, str]
) -> None:
    answer = harness_says("adequacy", replayed, "--against", replayed, *option)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"harness: {option[0]}: logs are compared as they are written")


def test_two_replays_of_another_stream_can_be_compared(harness_says: Call, replayed: Path) -> None:
    options = ("--against", "repetition", "--repetitions", "1", "--load", "2", "--rate", "fixed(rate=0.5)")
    answer = harness_says("adequacy", replayed, *options, "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    summary = json.loads(answer.out)
    assert summary["preparation"][-1]["name"] == "load"
    assert summary["scheduler"]["rate"].startswith("fixed(rate=0.5")


def test_the_policy_that_wrote_the_log_is_identified(harness_says: Call, replayed: Path) -> None:
    choice = ("--order", "fcfs", "--order", "lcfs", "--start", "none", "--start", "greedy")
    answer = harness_says("identify", replayed, *choice, "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert (told["workload"]["jobs"], told["preparation"][0]["name"], told["combinations"]) == (60, "width", 4)
    rows = told["ranking"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert (rows[0]["order"], rows[0]["start"], rows[0]["P"]) == ("fcfs", "none", 0)
    best = harness_says("identify", replayed, *choice, "--best", "1")
    assert "60 jobs under 4 combinations, the nearest to the log first" in best.out
    assert best.out.startswith("preparation:\n  width: 0 jobs")
    assert "lcfs" not in best.out


@pytest.mark.parametrize("command", ["adequacy", "identify"])
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--format", "tabel"), "did you mean 'table'"),
        (("--order", "fcsf"), "did you mean 'fcfs'"),
        (("--filter", "usr == 1"), "did you mean 'user'"),
        (("--procs", "4", "--platform", "peas-table2"), "expected one of them"),
        (("--procs", "3"), "never ran"),
        (("--load", "2"), "--load: changes the stream of jobs"),
        (("--width", "2"), "--width: changes the stream of jobs"),
        (("--variation", "1"), "--variation: changes the stream of jobs"),
    ],
)
def test_refusals(harness_says: Call, replayed: Path, command: str, options: tuple[str, ...], complaint: str) -> None:
    answer = harness_says(command, replayed, *options)
    assert answer.status == 2
    assert complaint in answer.err
    assert answer.out == ""


@pytest.mark.data
@pytest.mark.parametrize("command", ["adequacy", "identify"])
def test_thunder_says_nothing_about_waits(harness_says: Call, command: str) -> None:
    answer = harness_says(command, "LLNL-Thunder")
    assert answer.status == 2
    assert "is undefined: the wait of job 1 is unknown" in answer.err
    assert "113,613 of 113,613 lack" in answer.err


def test_run_takes_the_transforms(harness_says: Call, replayed: Path) -> None:
    chosen = ("--filter", "procs <= 3 and not user == 0", "--width", "0.5", "--variation", "3", "--procs", "4")
    answer = harness_says("run", replayed, *chosen, "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    steps = {step["name"]: step for step in json.loads(answer.out)["preparation"]}
    assert list(steps)[-3:] == ["filter", "width scaled", "resampled"]
    assert "procs <= 3 and (not user == 0)" in steps["filter"]["detail"]
    assert "variation 3" in steps["resampled"]["detail"]
    assert harness_says("run", replayed, "--filter", "procs").status == 2
    assert harness_says("run", "poisson(jobs=9)", "--variation", "1").status == 2


@pytest.fixture
def executed(harness_says: Call, tmp_path: Path) -> tuple[Path, list[Path]]:
    """A workload without waits, and three executions of it; the last on half of the machine."""
    planned = tmp_path / "planned.swf"
    planned.write_text(HEADER + "".join(swf_line(job, 1 + job % 2, run=1 + job % 7) for job in range(1, 61)))
    ran = []
    for name, options in (("a", ()), ("b", ("--order", "spf")), ("c", ("--procs", "2"))):
        path = tmp_path / f"{name}.csv"
        assert harness_says("run", planned, "--schedule", path, *options).status == 0
        ran.append(path)
    return planned, ran


def test_a_replay_against_executions(harness_says: Call, executed: tuple[Path, list[Path]]) -> None:
    planned, ran = executed
    files = [word for path in ran for word in ("--against", path)]
    answer = harness_says("adequacy", planned, *files, "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert [one["name"] for one in told["executions"]] == ["a", "b", "c"]
    assert [bool(one["incidents"]) for one in told["executions"]] == [False, False, True]
    assert [found["P"] == 0 for found in told["replays"]] == [True, False, False]
    assert told["P_ideal"] == told["pairs"][0]["P"] == told["replays"][1]["P"]
    screen = harness_says("adequacy", planned, *files).out
    assert "Incident in c: never more than 2 of 4 processors were busy" in screen
    assert "It differs from 0 of 2 of them" in screen
    alone = harness_says("adequacy", planned, "--against", ran[0], "--repetitions", "0", "--format", "json")
    assert json.loads(alone.out)["adequacy"]["P"] == 0
    pairs = harness_says("adequacy", ran[0], "--against", ran[1], "--against", ran[2], "--format", "json")
    assert [pair["P"] for pair in json.loads(pairs.out)["pairs"]] == [pair["P"] for pair in told["pairs"]]
    mixed = harness_says("adequacy", planned, "--against", "log", "--against", ran[0])
    assert mixed.status == 2
    assert "expected one of them, or files only" in mixed.err


@pytest.mark.slow
def test_schedulers_that_hold_jobs_are_not_asked_for_single_decisions(harness_says: Call, replayed: Path) -> None:
    """Their answers go by the hour, and states of the log are put together at other hours."""
    options = ("--order", "fcfs", "--order", "spf", "--start", "easy", "--hold", "limits(user_jobs=50)")
    answer = harness_says("identify", replayed, *options)
    assert (answer.status, answer.err) == (0, "")
    assert "Single decisions are not compared for schedulers with holds" in answer.out
    assert "By single decisions" not in answer.out
    assert json.loads(harness_says("identify", replayed, *options, "--format", "json").out)["verdict"] is None
