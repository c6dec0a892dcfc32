"""What reports/slurm.md publishes is what its command makes of the executions beside it."""

import re

import numpy as np
import pytest

from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.words import readable

configurations, studied, figures, tables = map(
    load, ("slurm_configurations", "slurm_studied", "slurm_figures", "slurm_tables")
)

ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (folder("reports") / "slurm.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [a-z]+-?", line)
]
WHICH = [which.name for which in configurations.WORKLOADS]
NEAR = {tuple(row[:2]): row for row in ROWS if len(row) == len(tables.NEAR) and row[1] in WHICH}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    one = studied.Studied(configurations.CASES["whole"], configurations.WORKLOADS[0], tmp_path_factory.mktemp("study"))
    return figures.figures(one, figures.policies())


def test_every_workload_that_was_executed_twice_has_its_line() -> None:
    kept = [tuple(path.name.split(".")[:2]) for path in studied.KEPT.glob("*.csv.gz")]
    longer = {which.name for which in configurations.GROWTH}
    assert set(NEAR) == {one for one in kept if kept.count(one) > 1 and one[1] not in longer}


def test_the_line_of_one_is_what_the_command_gives(whole) -> None:
    assert [str(cell) for cell in tables.shown(tables.near(whole))] == NEAR["whole", "first"]


def test_a_replay_is_nearer_to_slurm_than_what_knows_nothing_of_it(whole) -> None:
    """Half as far as EASY, or nearly; and not much farther than Slurm is from itself."""
    assert whole.own < whole.replay < 0.75 * whole.policies["fcfs + easy"]
    assert whole.replay < 1.5 * whole.between


def test_distances_are_what_they_are_said_to_be() -> None:
    one = studied.Times(np.array([0.0, 3.0, 100.0]), np.array([10.0, 13.0, 110.0]))
    other = studied.Times(np.array([0.0, 0.0, 0.0]), np.array([10.0, 10.0, 14.0]))
    assert one.apart(other) == pytest.approx(((9 + 96**2) / 3) ** 0.5)
    assert one.together(other, 60.0) == pytest.approx(200 / 3)
    assert tables.shown(("whole", 2, 0.1234567)) == ["whole", 2, readable(0.1234567, 3)]


def test_a_perfect_model_is_one_whose_replays_are_drawn_for_executions(whole) -> None:
    assert len(whole.perfect) == figures.DRAWN
    assert 0.9 < np.median(whole.perfect) < 1.2


def test_workloads_are_the_same_every_time(tmp_path) -> None:
    for name in ("narrow", "memory", "things", "fours"):
        first = configurations.workload(name, tmp_path / "one").read_text()
        assert first == configurations.workload(name, tmp_path / "two").read_text()
        assert first.count("\n") == 151


def test_an_execution_is_made_by_one_and_again_if_that_was_killed(tmp_path) -> None:
    place = tmp_path / "whole.1.csv.gz"
    with studied.claimed(place) as first, studied.claimed(place) as second:
        assert (first, second) == (True, False)
    assert not list(tmp_path.iterdir())
    place.with_suffix(".claim").write_text("999999999")
    with studied.claimed(place) as again:
        assert again
    place.touch()
    with studied.claimed(place) as made:
        assert not made
