"""What reports/slurm.md publishes is what its command makes of the executions beside it."""

import re

import numpy as np
import pytest

from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.words import readable

study = load("slurm_study")

ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (folder("reports") / "slurm.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [a-z]+-?", line)
]
NEAR = {row[0]: row for row in ROWS if len(row) == len(study.NEAR) and row[0] in study.CASES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return study.Studied(study.CASES["whole"], tmp_path_factory.mktemp("study"))


def test_every_configuration_that_was_executed_twice_has_its_line() -> None:
    kept = [path.name.split(".")[0] for path in study.KEPT.glob("*.csv.gz")]
    assert set(NEAR) == {name for name in kept if kept.count(name) > 1}


def test_the_line_of_one_is_what_the_command_gives(whole) -> None:
    assert [str(cell) for cell in study.shown(study.near(whole))] == NEAR["whole"]


def test_a_replay_is_nearer_to_slurm_than_what_knows_nothing_of_it(whole) -> None:
    """Half as far as EASY, or nearly; and not much farther than Slurm is from itself."""
    replay = study.apart(whole.pairs)
    assert replay < 0.75 * study.apart([(whole.simulated("easy"), real) for real in whole.executed])
    assert replay < 1.5 * study.apart([(whole.executed[0], whole.executed[1])])


def test_distances_are_what_they_are_said_to_be() -> None:
    one = np.array([0.0, 3.0, 100.0]), np.array([10.0, 13.0, 110.0])
    other = np.array([0.0, 0.0, 0.0]), np.array([10.0, 10.0, 14.0])
    assert study.apart([(one, other)]) == pytest.approx(((9 + 96**2) / 3) ** 0.5)
    assert study.together([(one, other)]) == pytest.approx(200 / 3)
    assert study.shown(("whole", 2, 0.1234567)) == ["whole", 2, readable(0.1234567, 3)]


def test_workloads_are_the_same_every_time(tmp_path) -> None:
    configurations = load("slurm_configurations")
    for name in ("narrow", "memory", "things", "fours"):
        first = configurations.workload(name, tmp_path / "one").read_text()
        assert first == configurations.workload(name, tmp_path / "two").read_text()
        assert first.count("\n") == 151


def test_an_execution_is_made_by_one_and_again_if_that_was_killed(tmp_path) -> None:
    place = tmp_path / "whole.1.csv.gz"
    with study.claimed(place) as first, study.claimed(place) as second:
        assert (first, second) == (True, False)
    assert not list(tmp_path.iterdir())
    place.with_suffix(".claim").write_text("999999999")
    with study.claimed(place) as again:
        assert again
    place.touch()
    with study.claimed(place) as made:
        assert not made
