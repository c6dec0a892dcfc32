"""A forecast counts every run and job, and takes its time from how fast each scheduler was tried."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.experiment import forecast as room
from harness.experiment.field_reading import read_field
from harness.experiment.run_matrix import Run
from harness.workload.prepare import prepare
from harness.workload.synthetic import lublin

FIELD = """
workloads = ["lublin(jobs=40, procs=16)", "poisson(jobs=30, procs=16)"]
seeds = [1, 2]

[[scheduler]]
order = ["fcfs", "spf", "lcfs"]
start = "easy"
"""


def test_the_time_is_that_of_all_jobs_at_the_pace_of_their_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "field.toml").write_text(FIELD)
    tried: list[str] = []

    def pace(run: Run) -> float:
        tried.append(run.policies["order"])
        return {"fcfs": 1.0, "spf": 10.0, "lcfs": 100.0}[run.policies["order"]]

    monkeypatch.setattr(room, "_seconds_per_job", pace)
    field = read_field(tmp_path / "field.toml")
    found = room.forecast(field, workers=5)
    each = found.runs // 2 * 70  # half of the runs of each workload
    assert sorted(tried) == ["fcfs", "lcfs", "spf"]  # each once
    assert found.jobs == each
    plan = room.make_run_matrix(field)
    expected = sum(run.jobs * pace(run) for run in plan.runs)
    assert (found.seconds, found.workers) == (expected / 5, 5)


def test_a_scheduler_is_tried_on_the_first_jobs_by_submission() -> None:
    workload = prepare(lublin(jobs=3000, procs=16))
    shuffled = workload.jobs.sample(frac=1, random_state=1)
    beginning = room._beginning(room.replace(workload, jobs=shuffled))
    assert len(beginning) == room.SAMPLE
    assert beginning.jobs["submit"].tolist() == sorted(workload.jobs["submit"])[: room.SAMPLE]
    assert beginning.digest != workload.digest


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"), (36_000, "10.0 h")],
)
def test_times_are_about(seconds: float, words: str) -> None:
    assert room._duration(seconds) == words


def test_what_is_done_is_told_to_the_last_trial_and_the_last_run_drawn(tmp_path: Path) -> None:
    (tmp_path / "field.toml").write_text(FIELD.replace("seeds = [1, 2]", f"seeds = {list(range(20))}"))
    told: list[tuple[int, int]] = []
    found = room.forecast(read_field(tmp_path / "field.toml"), progress=lambda *so_far: told.append(so_far))
    assert found.drawn > 1
    assert told == [(done + 1, 3 + found.drawn) for done in range(3 + found.drawn)]


@given(st.floats(1.0, 2.0), st.integers(1, 1_000), st.floats(0.01, 100.0))
def test_a_run_that_was_left_is_drawn_out_as_its_pace_develops(power: float, half: int, seconds: float) -> None:
    jobs = 3_000
    marks = [(seconds * (count / jobs) ** power, count) for count in (0, half, 2 * half)]
    assert room.extrapolated(marks, jobs) == pytest.approx(seconds)


def test_of_a_run_that_nobody_has_left_all_that_is_known_is_that_it_is_slow() -> None:
    assert room.extrapolated([(0.0, 0), (5.0, 0)], 700) == 3_500


@pytest.mark.parametrize("power", [0.5, 3.0])
def test_growth_beyond_what_steady_queues_explain_is_not_drawn_out(power: float) -> None:
    marks = [(float(count) ** power, count) for count in range(101)]
    bound = 1.0 if power < 1 else 2.0
    assert room.extrapolated(marks, 1_000) == pytest.approx(100.0**power * 10**bound)


def test_slow_runs_are_left_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "field.toml").write_text(FIELD.replace("seeds = [1, 2]", f"seeds = {list(range(20))}"))
    seen: list[int] = []

    def extrapolated(marks: list[tuple[float, int]], jobs: int) -> float:
        seen.append(marks[-1][1])
        return 1000.0

    monkeypatch.setattr(room, "LONGEST", -1.0)
    monkeypatch.setattr(room, "extrapolated", extrapolated)
    found = room.forecast(read_field(tmp_path / "field.toml"))
    assert seen == [0] * len(seen) != []  # each was left at the first look
    assert found.seconds > 100 * found.runs / found.workers


def test_when_time_is_up_the_first_drawn_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "field.toml").write_text(FIELD.replace("seeds = [1, 2]", f"seeds = {list(range(100))}"))
    field = read_field(tmp_path / "field.toml")
    whole = room.forecast(field, workers=1).drawn
    monkeypatch.setattr(room, "DRAWING", 0.0)
    assert 2 <= room.forecast(field, workers=1).drawn < whole
