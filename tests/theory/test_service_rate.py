"""The service-rate paper's figures: the tasks cleaned, the trajectory, the pages, and the published table."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness.cli.study_command import load
from harness.cli.theory_command import app
from harness.disk.bundled import folder
from harness.errors import HarnessError

study = load("service_rate")
HIGH, LOW, controlled, read_tasks, sweep = study.HIGH, study.LOW, study.controlled, study.read_tasks, study.sweep


@pytest.fixture
def few(tmp_path):
    """Tasks with every fault of the real file: two at once, time running backwards, one without cores."""
    path = tmp_path / "few.csv"
    path.write_text("interarrival,delays,service,cores_used\n10,0,266,2\n0,0,532,80\n-5,0,100,0\n20,0,0,1\n1,0,266,1\n")
    return path


def test_tasks_are_cleaned_as_the_paper_says(few):
    tasks = read_tasks(few).jobs
    assert tasks["job"].tolist() == [1, 2, 4, 5]
    gaps = tasks["submit"].diff().tolist()
    assert gaps[1] == 10.0
    assert 0.002 <= gaps[2] <= 0.02  # two faulty gaps, each some milliseconds
    assert gaps[3] == 20.0
    assert (tasks["work"] * HIGH).tolist() == pytest.approx([266.0, 532.0, 0.0, 266.0])


@pytest.mark.parametrize("rate", [LOW, HIGH])
def test_a_task_takes_its_work_over_the_rate(few, rate):
    low, high = (0, 0) if rate == HIGH else (1e9, 1e9)
    frame = controlled(read_tasks(few), low, high).frame.set_index("job")
    assert frame.loc[2, "run"] == pytest.approx(532 / rate)


def test_between_epochs_the_workload_falls_by_the_rate_for_each_job_served(few):
    epochs = study.trajectory(controlled(read_tasks(few), 100, 300))
    arrivals = (epochs["workload"] - epochs["before"]).round(6)
    assert sorted(arrivals[arrivals > 0]) == [266.0, 266.0, 532.0]
    assert set(epochs["rate"].round(9)) == {LOW, HIGH}
    crossed = epochs["rate"].diff() < 0  # it goes slow exactly where the workload has fallen to k_L
    assert epochs["workload"][crossed].tolist() == pytest.approx([100.0] * crossed.sum())


def test_spells_of_the_high_rate():
    epochs = pd.DataFrame({"time": [0.0, 1.0, 2.0, 5.0, 9.0], "rate": [LOW, HIGH, HIGH, LOW, HIGH]})
    assert study.fast_spells(epochs) == [(1.0, 5.0), (9.0, 9.0)]


def test_neighbouring_processors_are_one_block():
    places = pd.DataFrame({"job": [1, 1, 1], "node": [5, 3, 4], "cores": 1, "begin": 0.0, "end": 9.0})
    apart = places.assign(job=2, node=[0, 2, 7])
    blocks = study.held_processors(pd.concat([places, apart]))
    assert blocks[["job", "processor", "processors"]].to_numpy().tolist() == [
        [1, 3, 3],
        [2, 0, 1],
        [2, 2, 1],
        [2, 7, 1],
    ]


@pytest.mark.parametrize("figure", [1, 2, 3])
def test_each_figure_is_one_command(few, tmp_path, figure):
    out = tmp_path / "figure.html"
    arguments = ["service-rate", few, "--figure", figure, "--out", out, "--first", 1, "--days", "0:1"]
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0
    assert "plotly" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "figure.png"], "ends in .html"),
        (["--figure", "3", "--low", "1"], "its own thresholds"),
        (["--figure", "1", "--low", "-1"], "the lower threshold"),
        (["--figure", "1", "--out", "f.html", "--days", "9:3"], "the earlier one first"),
    ],
)
def test_bad_calls(few, arguments, sentence):
    with pytest.raises(HarnessError, match=sentence):
        CliRunner().invoke(app, ["service-rate", str(few), *arguments], catch_exceptions=False)


@pytest.mark.data
def test_figure_3_is_what_we_publish(data):
    swept = sweep(read_tasks(data / "hpcwld/HPC_KRC2.csv"))
    lines = [line for line in (folder("reports") / "service-rate.md").read_text().splitlines() if line.startswith("|")]
    published = np.array(
        [[float(cell.replace(",", "")) for cell in line.strip("|").split("|")] for line in lines[2:33]]
    )
    np.testing.assert_allclose(published, swept.reset_index().to_numpy(), rtol=1e-5)
    assert swept["mean workload"].is_monotonic_increasing  # the trade-off …
    assert swept["mean power exchanged"].is_monotonic_decreasing  # … which the powers as printed do not show
    assert swept["mean power as printed"].iloc[0] < swept["mean power as printed"].iloc[-1]


@pytest.mark.data
@pytest.mark.parametrize(
    ("gap", "seconds_at", "waiting", "mean"), [("after", 1.0, 0, 0.0), ("before", 2.66, 205, 25_429.4)]
)
def test_two_readings_of_the_tasks_of_figure_2(data, gap: str, seconds_at: float, waiting: int, mean: float) -> None:
    tasks = read_tasks(data / "hpcwld/HPC_KRC2.csv", 1, gap, seconds_at)
    told = list(study.shown(study.controlled(tasks, record=False), 7000, 500).values())
    assert told[0] == waiting
    assert told[1] == pytest.approx(mean, abs=0.1)
    page = (folder("reports") / "service-rate.md").read_text()
    assert f"| {waiting} | {mean:,.1f} |".replace("0.0", "0") in page


def test_readings_that_there_are_not(few) -> None:
    with pytest.raises(HarnessError, match="gap='between': known: after, before"):
        read_tasks(few, gap="between")
    with pytest.raises(HarnessError, match="--seconds-at 0: expected a rate above 0"):
        read_tasks(few, seconds_at=0.0)
