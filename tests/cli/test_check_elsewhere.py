"""A schedule made elsewhere in the place of a run, and the baselines that one replaced."""

import json
from pathlib import Path

import pytest
from calling import Call

import harness
from harness.errors import HarnessError
from harness.gate.history import bars

FIELD = 'workloads = ["lublin(jobs=80, procs=16, seed=1, load=0.9)"]\n[[scheduler]]\nstart = "{start}"\n'


@pytest.fixture
def theirs(tmp_path: Path) -> dict[str, Path]:
    """Schedules of a test workload by two schedulers."""
    found = {}
    for start in ("none", "easy"):
        found[start] = tmp_path / f"{start}.csv"
        workload = harness.prepare(harness.lublin(jobs=80, procs=16, seed=1, load=0.9))
        harness.simulate(workload, 16, harness.Scheduler(start=start)).export(found[start])
    return found


def test_a_release_of_somebodys_scheduler_against_the_one_before(tmp_path: Path, theirs: dict[str, Path]) -> None:
    baseline, field = tmp_path / "gate.json", tmp_path / "gate.toml"
    field.write_text(FIELD.format(start="none"))
    made = harness.check(baseline, field=field, update=True, schedules={"": theirs["easy"]})
    assert made.written == 1
    assert harness.check(baseline, schedules={"": theirs["easy"]}).outcome == "same"
    # It is the schedule that was kept, not what the field's own policy does.
    assert harness.check(baseline).outcome != "same"
    worse = harness.check(baseline, schedules={"": theirs["none"]})
    assert worse.outcome == "worse"
    (run,) = worse.runs
    assert run.difference is not None
    assert run.difference.decision is None
    assert "mean_wait" in {move.measure.name for move in run.moves}


def test_what_a_schedule_does_not_stand_for_is_refused(tmp_path: Path, theirs: dict[str, Path]) -> None:
    field = tmp_path / "gate.toml"
    field.write_text(FIELD.format(start="easy").replace('"easy"', '["easy", "none"]'))
    with pytest.raises(HarnessError, match="the baseline has 2"):
        harness.check(tmp_path / "gate.json", field=field, update=True, schedules={"": theirs["easy"]})
    with pytest.raises(HarnessError, match="no run is of the workload 'KTH'"):
        harness.check(tmp_path / "gate.json", field=field, update=True, schedules={"KTH": theirs["easy"]})


def test_what_was_replaced_is_remembered(tmp_path: Path, theirs: dict[str, Path], harness_says: Call) -> None:
    baseline, field = tmp_path / "gate.json", tmp_path / "gate.toml"
    field.write_text(FIELD.format(start="easy"))
    first = harness.check(baseline, field=field, update=True, schedules={"": theirs["none"]})
    assert first.written == 1
    assert "has no former one" in harness_says("check", baseline, "--history", 5).err
    harness.check(baseline, update=True)
    content = json.loads(baseline.read_text())
    wait = content["former"][0]["measures"]["mean_wait"]
    assert wait > content["runs"][0]["measures"]["mean_wait"]
    harness.check(baseline, update=True)  # the same results replace nothing
    assert json.loads(baseline.read_text())["former"] == content["former"]
    out = harness_says("check", baseline, "--history", 5).out
    row = next(line for line in out.splitlines() if line.startswith("mean_wait"))
    assert "█▁" in row
    assert " %" in row
    assert harness_says("check", baseline, "--history", 5, "--update").status == 2


def test_bars() -> None:
    assert bars([1.0, float("nan"), 8.0]) == "▁ █"
    assert bars([3.0, 3.0]) == "▁▁"
