"""Two schedulers in one line: the numbers are those of their runs, and nothing is said that they do not show."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from calling import Call

import harness


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Thirty users over ten weeks, whose jobs crowd a machine of 16 processors now and then."""
    dice = np.random.default_rng(3)
    count = 900
    run = np.ceil(np.exp(dice.normal(8.5, 1.5, count)))
    frame = pd.DataFrame(
        {
            "submit": np.sort(dice.integers(0, 10 * 7 * 86_400, count)),
            "run": run,
            "procs": 2 ** dice.integers(0, 5, count),
            "estimate": run * dice.integers(1, 5, count),
            "user": dice.integers(1, 31, count),
        }
    )
    path = tmp_path_factory.mktemp("logs") / "crowd.csv"
    frame.to_csv(path, index=False)
    return str(path)


def compared(harness_says: Call, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(harness_says("compare", *arguments, "--procs", "16", "--format", "json").out))


def test_the_numbers_are_those_of_the_runs(harness_says: Call, log: str) -> None:
    found = compared(harness_says, log, "fcfs + easy", "spf + none", "--measures", "mean_wait,utilisation")
    jobs = harness.prepare(harness.read_workload(log))
    runs = [
        harness.simulate(jobs, 16, harness.Scheduler(order=o, start=s)) for o, s in (("fcfs", "easy"), ("spf", "none"))
    ]
    assert [line["measure"] for line in found["lines"]] == ["mean_wait", "utilisation"]
    for line in found["lines"]:
        values = [run.measures()[line["measure"]] for run in runs]
        assert [line["one"], line["other"]] == pytest.approx(values)
        assert line["ratio"] == pytest.approx(values[1] / values[0])
        assert (line["interval"], line["verdict"]) == ([None, None], "")
    frames = [run.ran for run in runs]
    by_width = [share for share in found["classes"] if "processor" in share["whose"] or share["whose"] == "wider"]
    assert sum(share["jobs"] for share in by_width) == len(frames[0])
    for name, frame in zip(("one", "other"), frames, strict=True):
        total = sum(share["jobs"] * share[name] for share in by_width)
        assert total / len(frame) == pytest.approx(frame["wait"].mean())
        assert max(share[f"{name}_longest"] for share in by_width) == frame["wait"].max()


def test_the_same_scheduler_twice_is_not_told_from_itself(harness_says: Call, log: str) -> None:
    found = compared(harness_says, log, "fcfs + easy", "fcfs+easy", "--resample", "6")
    assert {line["ratio"] for line in found["lines"]} == {1.0}
    assert {line["verdict"] for line in found["lines"]} == {""}
    assert (found["units"], found["users"]) == (7, [])


def test_a_clear_difference_is_told_with_who_pays(harness_says: Call, log: str) -> None:
    out = harness_says("compare", log, "fcfs + none", "spf + easy", "--resample", "8", "--procs", "16").out
    assert "spf + easy is better by mean wait" in " ".join(out.split())
    assert "That is about 9 streams of jobs" in " ".join(out.split())
    assert len(out.splitlines()) < 60
    lines = compared(harness_says, log, "fcfs + none", "spf + easy", "--resample", "8")["lines"]
    wait = next(line for line in lines if line["measure"] == "mean_wait")
    assert wait["interval"][0] < wait["ratio"] < wait["interval"][1] < 1
    table = harness_says("compare", log, "fcfs + none", "spf + easy", "--procs", "16", "--format", "csv").out
    assert next(csv.DictReader(io.StringIO(table)))["measure"] == "mean wait [s]"


@pytest.mark.parametrize(
    ("names", "more", "words"),
    [
        (("fcfs", "spf + easy"), (), "'fcfs': not a scheduler: expected ORDER + START"),
        (("fcfs + easy", "spf + eazy"), (), "did you mean 'easy'"),
        (("fcfs + easy", "spf + easy + wfp3"), (), "'wfp3': the queue has no condition"),
        (("fcfs + easy", "spf + easy"), ("--measures", "mean_wiat"), "did you mean 'mean_wait'"),
    ],
)
def test_refusals(harness_says: Call, log: str, names: tuple[str, str], more: tuple[str, ...], words: str) -> None:
    answer = harness_says("compare", log, *names, *more, "--procs", "16")
    assert answer.status == 2
    assert words in answer.err


@pytest.mark.slow
def test_a_schedule_made_elsewhere_stands_in_a_schedulers_place(
    harness_says: Call, log: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("theirs") / "schedule.csv"
    assert harness_says("run", log, "--start", "conservative", "--procs", "16", "--schedule", path).status == 0
    ours, theirs = (compared(harness_says, log, "fcfs + easy", other) for other in ("fcfs + conservative", str(path)))
    for one, other in zip(ours["lines"], theirs["lines"], strict=True):
        assert (one["one"], one["other"]) == pytest.approx((other["one"], other["other"]))
    assert [share["other"] for share in ours["classes"]] == pytest.approx([s["other"] for s in theirs["classes"]])
    refused = harness_says("compare", log, "fcfs + easy", path, "--procs", "16", "--resample", "3")
    assert refused.status == 2
    assert "expected no variations" in refused.err
    out = harness_says("compare", log, "fcfs + easy", path, "--procs", "16").out
    assert "a schedule has no variations" in " ".join(out.split())


# ---------------------------------------------------------------- schedules made elsewhere

WORKLOAD = "lublin(jobs=120, procs=16, seed=1, load=0.9)"


def beside_a_schedule(harness_says: Call, path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> str:
    """Compare FCFS and EASY with the schedule that they give, changed."""
    change(harness.simulate(WORKLOAD).frame).to_csv(path, index=False)
    answer = harness_says("compare", WORKLOAD, "fcfs + easy", path)
    assert answer.status == 0, answer.err
    return answer.out


def test_a_schedule_of_all_jobs_with_their_runtimes_needs_no_notice(harness_says: Call, tmp_path: Path) -> None:
    said = beside_a_schedule(harness_says, tmp_path / "theirs.csv", lambda frame: frame)
    assert not [words for words in ("other runtimes", "unstarted", "not in the") if words in said]


def test_other_runtimes_and_other_jobs_of_a_schedule_are_reported(harness_says: Call, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    half = beside_a_schedule(harness_says, path, lambda one: one.assign(end=(one["start"] + one["end"]) / 2))
    assert re.search(r"^other runtimes: theirs: job 1 runs \S+ s, in the workload \S+ s \(\d+ such jobs\)", half)
    assert "not in the schedule: 5 jobs" in beside_a_schedule(harness_says, path, lambda one: one.iloc[5:])
    extra = beside_a_schedule(harness_says, path, lambda one: pd.concat([one, one.tail(3).assign(job=[901, 902, 903])]))
    assert "not in the workload: 3 jobs" in extra


def test_jobs_that_never_start_in_a_schedule_are_reported(harness_says: Call, tmp_path: Path) -> None:
    longest = lambda one: one.assign(start=one["start"].where(one["wait"].rank(method="first") <= 100))  # noqa: E731
    said = beside_a_schedule(harness_says, tmp_path / "theirs.csv", longest)
    assert re.search(r"^unstarted .* 0 +20 +–$", said, re.MULTILINE)  # a long path leaves the unit to the next line
    assert "20 jobs never started with" in said
