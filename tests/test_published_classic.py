"""What reports/classic.md publishes is what its commands give, and what its sentences say is so."""

import io
import re
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pandas as pd
import pytest

import harness
from harness.disk.bundled import folder
from harness.ranking.leaderboard import leaderboard

pytestmark = [pytest.mark.data, pytest.mark.slow]

LOGS = ["KTH-SP2", "SDSC-SP2", "CTC-SP2"]

#: The mean of a measure: a row per scheduler, a column per log.
Means = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory in which the tournament has run."""
    path = tmp_path_factory.mktemp("classic")
    with chdir(path):
        harness.tournament("classic")
    return path


@pytest.fixture(scope="module")
def means(here: Path) -> Means:
    frame = harness.Results(here / "tournaments" / "classic").frame()
    measures = ("mean_wait", "mean_response", "mean_bounded_slowdown")
    return {name: frame.pivot(index="scheduler", columns="workload", values=name) for name in measures}


def published() -> str:
    return (folder("reports") / "classic.md").read_text()


def test_the_leaderboard(here: Path) -> None:
    frame = harness.Results(here / "tournaments" / "classic").frame()
    assert list(frame["status"]) == ["done"] * 45
    assert leaderboard(frame, format="markdown") in published()


def test_the_tables_log_by_log(here: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", published(), re.DOTALL)
    with chdir(here), redirect_stdout(io.StringIO()) as told:
        exec(program, {})
    tables = told.getvalue().strip().split("\n\n")
    assert len(tables) == 3
    for table in tables:
        assert table in published()


@pytest.mark.parametrize("log", LOGS)
def test_backfilling_beats_none_by_a_factor(means: Means, log: str) -> None:
    for measure, least, most in (("mean_wait", 51, 74), ("mean_bounded_slowdown", 82, 152)):
        value = means[measure][log]
        assert least < value["fcfs + none"] / value["fcfs + easy"] < most


@pytest.mark.parametrize("log", LOGS)
def test_shortest_first_improves_the_mean_wait_without_backfilling(means: Means, log: str) -> None:
    wait = means["mean_wait"][log]
    assert 9 < wait["fcfs + none"] / wait["spf + none"] < 29


@pytest.mark.parametrize("log", LOGS)
def test_with_easy_shortest_first_improves_the_slowdown_but_the_mean_wait_on_one_log_only(
    means: Means, log: str
) -> None:
    slowdown, wait = means["mean_bounded_slowdown"][log], means["mean_wait"][log]
    assert 0.45 < slowdown["spf + easy"] / slowdown["fcfs + easy"] < 0.65
    assert (wait["spf + easy"] < wait["fcfs + easy"]) == (log == "KTH-SP2")


@pytest.mark.parametrize("log", LOGS)
def test_easy_and_conservative_are_close(means: Means, log: str) -> None:
    for measure, difference in (("mean_wait", 0.19), ("mean_bounded_slowdown", 0.05)):
        value = means[measure][log]
        assert abs(value["fcfs + conservative"] / value["fcfs + easy"] - 1) < difference


@pytest.mark.parametrize("log", LOGS)
def test_preempting_for_the_last_costs_the_others(means: Means, log: str) -> None:
    wait, response = means["mean_wait"][log], means["mean_response"][log]
    assert wait["lcfs + preempt"] < 10
    assert 8 < response["lcfs + preempt"] / response["fcfs + easy"] < 19
