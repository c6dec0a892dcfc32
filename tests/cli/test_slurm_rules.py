"""`--slurm`: a replay under the rules of a configuration, where policies would stand."""

import json
from pathlib import Path

import pandas as pd
import pytest
from calling import Call

CONFIGURATION = """
SelectType=select/linear
TopologyPlugin=topology/3d_torus
NodeName=n[1-4] CPUs=1
PartitionName=all Nodes=ALL
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Path:
    """Four nodes under Slurm, and a plugin of its that no replay knows."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONFIGURATION)
    return path


def test_a_run_says_who_decided_and_what_was_left_out(harness_says: Call, log: Path, slurm: Path) -> None:
    answer = harness_says("run", log, "--slurm", slurm)
    assert answer.status == 0, answer.err
    assert "order slurm basic, start slurm backfill(interval=30, depth=500, window=86400)" in answer.out
    assert "not modelled: TopologyPlugin=topology/3d_torus, which may change where jobs are placed" in answer.out
    found = json.loads(harness_says("run", log, "--slurm", slurm, "--format", "json").out)
    assert found["measures"]["accepted"] == 12
    assert found["scheduler"]["select"] == "slurm linear"
    assert found["unmodelled"] == [
        "not modelled: TopologyPlugin=topology/3d_torus, which may change where jobs are placed"
    ]


def test_its_schedule_is_one_like_any_other(harness_says: Call, log: Path, slurm: Path, tmp_path: Path) -> None:
    """Written, it is an execution; the same seed gives it again, so that a replay of it is not off."""
    written = tmp_path / "execution.csv"
    assert harness_says("run", log, "--slurm", slurm, "--schedule", written).status == 0
    words = ("adequacy", log, "--slurm", slurm, "--against", written, "--repetitions", "0", "--format", "json")
    answer = harness_says(*words)
    assert answer.status == 0, answer.err
    assert json.loads(answer.out)["adequacy"]["P"] == 0.0


def test_how_far_a_replay_is_is_said_of_several_phases_of_the_loops(
    harness_says: Call, log: Path, slurm: Path, tmp_path: Path
) -> None:
    """The mean lies between the ends; of one execution and of several, and only of as many replays as are asked for."""
    written = [tmp_path / f"execution{seed}.csv" for seed in range(2)]
    for seed, path in enumerate(written):
        assert harness_says("run", log, "--slurm", slurm, "--seed", str(seed), "--schedule", path).status == 0
    for sides in (written[:1], written):
        against = [word for path in sides for word in ("--against", path)]
        words = ("adequacy", log, "--slurm", slurm, *against, "--repetitions", "3")
        facts = json.loads(harness_says(*words, "--format", "json").out)["phases"]
        assert facts["replays"] == 3
        assert 0.0 <= facts["least"] <= facts["P"] <= facts["most"]
        assert "over 3 more replays the mean of P is " in harness_says(*words).out
    assert "phases" not in json.loads(harness_says(*words[:-1], "0", "--format", "json").out)


def test_a_log_that_knows_its_waits_is_replayed_all_the_same(
    harness_says: Call, log: Path, slurm: Path, tmp_path: Path
) -> None:
    written = tmp_path / "execution.csv"
    harness_says("run", log, "--procs", "4", "--schedule", written)
    words = ("adequacy", written, "--slurm", slurm, "--against", written, "--repetitions", "0")
    answer = harness_says(*words)
    assert answer.status == 0, answer.err
    assert "scheduler: order slurm basic" in answer.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--start", "easy"), "--slurm and --start: the configuration decides which jobs start, when and where"),
        (("--procs", "4"), "--slurm and --procs: the configuration decides"),
        (("--events", "outages.csv"), "--slurm and --events: "),
    ],
)
def test_what_would_say_otherwise_is_refused(
    harness_says: Call, log: Path, slurm: Path, more: tuple[str, ...], told: str
) -> None:
    for command in ("run", "adequacy"):
        answer = harness_says(command, log, "--slurm", slurm, *more)
        assert answer.status == 2
        assert told in answer.err


def test_its_timeline_and_its_page_are_had(harness_says: Call, log: Path, slurm: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    timeline, page = tmp_path / "timeline.csv", tmp_path / "page.html"
    answer = harness_says("run", log, "--slurm", slurm, "--timeline", timeline, "--report", page)
    assert answer.status == 0, answer.err
    frame = pd.read_csv(timeline)
    assert frame["busy"].max() <= 4
    assert (frame["busy"] + frame["free"] == 4).all()
    assert frame.iloc[-1][["queued", "running", "busy"]].tolist() == [0, 0, 0]
    text = page.read_text()
    assert "slurm backfill(interval=30, depth=500, window=86400)" in text
    assert "as the configuration says" in text


def test_two_configurations_are_compared_or_one_with_policies(harness_says: Call, log: Path, slurm: Path) -> None:
    """The numbers are those of their runs; the other scheduler has the nodes of the configuration."""
    lazy = slurm.parent / "lazy.conf"
    lazy.write_text(CONFIGURATION + "SchedulerParameters=bf_interval=600,sched_interval=600,defer\n")
    waits = {}
    for name in (slurm, lazy):
        answer = harness_says("run", log, "--slurm", name, "--format", "json")
        waits[name] = json.loads(answer.out)["measures"]["mean_wait"]
    answer = harness_says("compare", log, slurm, lazy, "--measures", "mean_wait", "--format", "json")
    assert answer.status == 0, answer.err
    found = json.loads(answer.out)
    assert [found["lines"][0][side] for side in ("one", "other")] == [waits[slurm], waits[lazy]]
    assert found["unmodelled"][0].startswith(f"{slurm}: not modelled: TopologyPlugin")
    answer = harness_says("compare", log, "fcfs + easy", slurm, "--measures", "mean_wait", "--format", "json")
    assert answer.status == 0, answer.err
    easy = harness_says("run", log, "--procs", "4", "--format", "json")
    line = json.loads(answer.out)["lines"][0]
    assert (line["one"], line["other"]) == (json.loads(easy.out)["measures"]["mean_wait"], waits[slurm])


def test_a_comparison_refuses_other_machines_and_files(harness_says: Call, log: Path, slurm: Path) -> None:
    for words, told in (
        ((slurm, "fcfs + easy", "--procs", "5"), "has 4 processors, the platform '5 processors' 5: expected the same"),
        (("none.conf", "fcfs + easy"), "none.conf: cannot be read as a slurm.conf: there is no such file"),
        ((f"{slurm} + none.dump", slurm), "none.dump: cannot be read as what sacctmgr dump writes"),
    ):
        answer = harness_says("compare", log, *words)
        assert answer.status == 2
        assert told in answer.err
        assert len(answer.err.strip().splitlines()) == 1


def test_accounts_need_a_slurm(harness_says: Call, log: Path, slurm: Path, tmp_path: Path) -> None:
    answer = harness_says("run", log, "--associations", "dump")
    assert answer.status == 2
    assert "expected --slurm slurm.conf too" in answer.err
    accounts = tmp_path / "dump"
    accounts.write_text("Users: ann\n")
    answer = harness_says("run", log, "--slurm", slurm, "--associations", accounts)
    assert answer.status == 2
    assert "line 1: expected a line such as Account - 'name'" in answer.err


def test_nodes_that_are_kept_are_nobodys(harness_says: Call, log: Path, slurm: Path, tmp_path: Path) -> None:
    table, schedule = tmp_path / "kept.csv", tmp_path / "schedule.csv"
    table.write_text("begin,end\n0,100000\n")
    words = ("run", log, "--slurm", slurm, "--reservations", table, "--schedule", schedule)
    assert harness_says(*words).status == 0
    assert (pd.read_csv(schedule)["start"] >= 100000).all()
    table.write_text("begin,end,users\n0,100000,3\n")
    answer = harness_says(*words)
    assert answer.status == 2
    assert "a window is kept for some users, groups or queues" in answer.err
