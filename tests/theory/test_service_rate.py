"""The service-rate paper's figures: the tasks cleaned, the trajectory, the pages, and the published table."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness import Scheduler, prepare, read_workload, simulate
from harness.cli.study_command import load
from harness.cli.theory_command import app
from harness.disk.bundled import folder
from harness.errors import HarnessError
from harness.present.tables import readable
from harness.theory import delays_of_arrivals, read_job_stream

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
        (["--figure", "2", "--window", "2"], "expected --window and --runs with figure 3"),
        (["--window", "2", "--runs", "2"], "a table of windows"),
        (["--window", "9"], "at most the 4 tasks"),
    ],
)
def test_bad_calls(few, arguments, sentence):
    with pytest.raises(HarnessError, match=sentence):
        CliRunner().invoke(app, ["service-rate", str(few), *arguments], catch_exceptions=False)


def published() -> list[list[list[str]]]:
    """The rows of every table of the page, cell by cell, without their heads."""
    found: list[list[list[str]]] = [[]]
    for line in (folder("reports") / "service-rate.md").read_text().splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table[2:] for table in found if table]


def figures(rows: list[list[str]]) -> np.ndarray:
    return np.array([[float(cell.replace(",", "")) for cell in row] for row in rows])


@pytest.mark.data
def test_figure_3_is_what_we_publish(data):
    swept = sweep(read_tasks(data / "hpcwld/HPC_KRC2.csv"))
    np.testing.assert_allclose(figures(published()[0]), swept.reset_index().to_numpy(), rtol=1e-5)
    assert swept["mean workload"].is_monotonic_increasing  # the trade-off …
    assert swept["mean power exchanged"].is_monotonic_decreasing
    printed = swept["mean power as printed"]  # … of which the trace shows only a part with the powers as printed
    assert printed[800_000] > printed[1_400_000] > printed[0] == printed.min()


@pytest.mark.data
def test_in_most_windows_power_falls_as_printed(data):
    tasks = read_tasks(data / "hpcwld/HPC_KRC2.csv")
    found = study.windows(tasks, study.single_threshold, 500, (0.0, 3e6))
    rows = published()[1]
    assert [row[0] for row in rows] == found.index.tolist()
    np.testing.assert_allclose(figures([row[1:5] for row in rows]), found.iloc[:, :4].to_numpy(), rtol=1e-5)
    assert [row[5] == "yes" for row in rows] == found["trades"].tolist()
    assert (found["trades"].sum(), len(found)) == (12, 18)


@pytest.mark.data
@pytest.mark.slow
def test_averaged_over_randomised_runs_there_is_the_trade_off(data):
    tasks = read_tasks(data / "hpcwld/HPC_KRC2.csv")
    found = study.averaged(tasks, study.single_threshold, study.THRESHOLDS, 100, 500, 1)
    np.testing.assert_allclose(figures(published()[2]), found.reset_index().to_numpy(), rtol=1e-5)
    falling = found.loc[:500_000]
    assert falling["mean workload"].is_monotonic_increasing
    assert falling["mean power as printed"].is_monotonic_decreasing
    assert (found["to"].iloc[1:] < 0).all()


@pytest.mark.data
def test_the_sum_of_equation_12_counts_what_was_served_meanwhile(data):
    schedule = controlled(read_tasks(data / "hpcwld/HPC_KRC2.csv"), 0, 0)
    told = study.summary(schedule)
    exact, summed = told["mean workload [work]"], told["mean workload by the sum of eq. 12 [work]"]
    page = " ".join((folder("reports") / "service-rate.md").read_text(encoding="utf-8").split())
    assert f"gives {summed:,.0f} where the integral is {exact:,.0f}, {100 * (1 - exact / summed):.0f} % less" in page
    whole = study.summary(controlled(read_tasks(data / "hpcwld/HPC_KRC2.csv")))
    assert [[name, readable(value)] for name, value in whole.items()] == published()[3][: len(whole)]


@pytest.mark.data
def test_run_and_theory_read_the_same_jobs(data):
    path = str(data / "hpcwld/HPC_KRC2.csv")
    jobs = read_job_stream(path, gap="before", zeros="keep")
    by_theory = delays_of_arrivals(jobs.arrival, jobs.service, jobs.width, 80).mean()
    kept, usual = (prepare(read_workload(path), zeros=zeros, gap="before") for zeros in ("keep", "drop"))
    by_run = simulate(kept, 80, Scheduler(start="none", energy="none")).measures()["mean_wait"]
    assert by_run == pytest.approx(by_theory)
    page = " ".join((folder("reports") / "service-rate.md").read_text(encoding="utf-8").split())
    for told in (f"wait for {by_run:,.2f} s", f"takes {len(usual):,} jobs", f"there are {len(kept):,}, and"):
        assert told in page
    assert f"the {len(kept) - len(usual):,} tasks of zero seconds" in page


def test_eq_12_and_the_integral_by_hand():
    epochs = pd.DataFrame({"time": [0.0, 2.0, 6.0], "workload": [10.0, 4.0, 0.0]})
    assert study.by_epochs(epochs) == pytest.approx((2 * 10 + 4 * 4) / 6)


def test_windows_and_runs_by_hand(few):
    """Tasks 1, 2, 4 and 5; in windows of two each begins at 0, and what is left over is left out."""
    tasks, seen = read_tasks(few), []

    def measure(jobs, k):
        seen.append(jobs.jobs)
        return jobs.jobs["work"].sum() * (1 + k), 100.0 - k

    found = study.windows(tasks, measure, 2, (0.0, 1.0))
    assert found.index.tolist() == ["1–2", "4–5"]
    assert found["trades"].tolist() == [True, True]
    assert {jobs["submit"].iloc[0] for jobs in seen} == {0.0}
    assert study.windows(tasks, measure, 3, (0.0, 1.0)).index.tolist() == ["1–4"]
    assert not study.windows(tasks, measure, 3, (1.0, 0.0))["trades"].any()
    seen.clear()
    mean = study.averaged(tasks, measure, (0.0, 1.0), 3, 50, 7)
    assert mean.loc[1.0, "mean workload"] == pytest.approx(2 * mean.loc[0.0, "mean workload"])
    assert mean[["against the first", "from", "to"]].to_numpy().tolist() == [[0, 0, 0], [-1, -1, -1]]
    gaps = {round(gap, 9) for jobs in seen for gap in jobs["submit"].diff().dropna()}
    assert gaps == {round(gap, 9) for gap in tasks.jobs["x_gap"]}
    assert all(len(jobs) == 50 for jobs in seen)
    with pytest.raises(HarnessError, match="--window 5: expected at most the 4 tasks that there are"):
        study.windows(tasks, measure, 5, (0.0, 1.0))


@pytest.mark.data
@pytest.mark.parametrize(
    ("gap", "seconds_at", "waiting", "mean"), [("after", 1.0, 0, 0.0), ("before", 2.66, 205, 25_429.4)]
)
def test_two_readings_of_the_tasks_of_figure_2(data, gap: str, seconds_at: float, waiting: int, mean: float) -> None:
    tasks = read_tasks(data / "hpcwld/HPC_KRC2.csv", 1, gap, seconds_at)
    told = list(study.shown(study.controlled(tasks, record=False), 7000, 500).values())
    assert told[0] == waiting
    assert told[1] == pytest.approx(mean, abs=0.1)
    page = " ".join((folder("reports") / "service-rate.md").read_text(encoding="utf-8").split())
    assert f"| {waiting} | {mean:,.1f} |".replace("0.0", "0") in page


def test_readings_that_there_are_not(few) -> None:
    with pytest.raises(HarnessError, match="gap='between': known: after, before"):
        read_tasks(few, gap="between")
    with pytest.raises(HarnessError, match="--seconds-at 0: expected a rate above 0"):
        read_tasks(few, seconds_at=0.0)
