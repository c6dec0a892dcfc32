"""A schedule and results show themselves in a notebook, through the charts of the report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import harness
from harness.errors import HarnessError
from harness.report.page import run_page, tournament_page
from harness.results.schedule import Schedule

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def simulated() -> Schedule:
    return harness.simulate("lublin(jobs=150, procs=32, seed=2)", 32, harness.Scheduler(order="spf"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> harness.Results:
    folder = tmp_path_factory.mktemp("showing")
    (folder / "small.toml").write_text(
        'workloads = ["lublin(jobs=1500, procs=64)"]\nresamples = 2\nplatforms = "log"\n[[scheduler]]\n'
        'order = ["fcfs", "spf", "lcfs"]\nstart = "easy"\n'
    )
    return harness.tournament(folder / "small.toml", folder / "out", workers=1)


def test_the_short_form_is_one_line_with_the_sentence(simulated: Schedule) -> None:
    assert repr(simulated).startswith(
        "<Schedule of lublin(jobs=150, procs=32, seed=2) on 32 processors under spf + easy"
    )
    assert "\n" not in repr(simulated)


def test_a_notebook_shows_the_measures_that_say_something(simulated: Schedule) -> None:
    shown = simulated._repr_html_()
    rows = [row.split("</td>")[0].removeprefix("<td>").strip() for row in shown.split("<tr>") if row.startswith("<td>")]
    assert 3 <= len(rows) <= 12
    assert "mean_wait" in rows
    assert shown.startswith("<p>lublin(jobs=150")


def test_names_are_no_markup() -> None:
    log = harness.log_from_frame(pd.DataFrame({"submit": [0], "run": [5], "procs": [1]}), "<b>bold</b>", procs=2)
    assert "<b>" not in harness.simulate(log)._repr_html_()


@pytest.mark.parametrize(("what", "chart"), [("time", "time"), ("jobs", "states"), ("waits", "waits")])
def test_a_plot_is_the_chart_of_the_report(simulated: Schedule, what: str, chart: str) -> None:
    timed = harness.simulate(simulated.workload, 32, simulated.policies, timeline=True)
    [drawn] = [figure for figure in run_page(timed).figures if figure.name.startswith(f"{chart}-")]
    plotted = json.loads(simulated.plot(what).to_json())  # made without a timeline: repeated to get it
    assert len(plotted["data"]) == len(drawn.data)
    for ours, theirs in zip(plotted["data"], drawn.data, strict=True):
        assert ours["y"] == theirs["y"]
    assert plotted["layout"]["meta"]["caption"] == drawn.caption


def test_the_bars_cover_every_processor_second(simulated: Schedule) -> None:
    [bars] = simulated.gantt(10_000).data
    area = (86400 * _numbers(bars.x) * _numbers(bars.width)).sum()
    assert area == pytest.approx((simulated.ran["procs"] * simulated.ran["run"]).sum(), rel=1e-9)


def _numbers(given: Any) -> np.ndarray[Any, Any]:
    import base64

    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), np.dtype(given["dtype"]))
    return np.asarray(given, float)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda schedule, results: schedule.plot("wait"), "no chart 'wait' of a schedule; did you mean 'waits'"),
        (lambda schedule, results: schedule.gantt(0), "most=0"),
        (lambda schedule, results: results.plot("mean_wiat"), "did you mean 'mean_wait'"),
        (lambda schedule, results: results.plot("mean_wait", "enrgy"), "did you mean 'energy'"),
    ],
)
def test_what_there_is_not_is_refused(
    simulated: Schedule, results: harness.Results, call: Callable[..., Any], words: str
) -> None:
    with pytest.raises(HarnessError, match=words):
        call(simulated, results)


def test_what_no_simulation_made_cannot_be_repeated(some: Schedule) -> None:
    with pytest.raises(HarnessError, match="cannot be repeated: expected a schedule made by simulate"):
        some.plot()


def test_results_show_the_logs_and_not_their_variations(results: harness.Results) -> None:
    assert repr(results) == f"<Results of small in {results.folder}: 9 of 9 runs>"
    shown = results._repr_html_()
    assert "Means over 3 runs of the original logs" in shown
    frame = results.frame()
    own = frame[frame["variation"] == 0].set_index("scheduler")["mean_wait"]
    chart = results.plot("mean_wait")
    points = {trace.customdata[0]: trace.y[0] for trace in chart.data if trace.mode == "markers+text"}
    assert points == pytest.approx(own.to_dict())
    assert chart.layout.xaxis.title.text == "max wait [s]"  # no energy was accounted


def test_against_energy_it_is_the_chart_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        'workloads = ["lublin(jobs=40, procs=16)"]\nplatforms = "peas-table2"\n[[scheduler]]\norder = ["fcfs", "spf"]\n'
    )
    results = harness.tournament(tmp_path / "small.toml", tmp_path / "out", workers=1)
    name = "pareto-mean_bounded_slowdown-lublin(jobs=40, procs=16, seed=1)"
    [drawn] = [figure for figure in tournament_page(results).figures if figure.name == name]
    plotted = json.loads(results.plot().to_json())
    assert [trace.get("y") for trace in plotted["data"]] == [trace["y"] for trace in drawn.data]


@pytest.mark.parametrize("suffix", [".json", ".arrow"])
def test_other_files_read_back(some: Schedule, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"s{suffix}"
    some.export(path)
    if suffix == ".json":
        rows = json.loads(path.read_text())
        assert [row["job"] for row in rows] == some.frame["job"].tolist()
        starts = np.array([np.nan if row["start"] is None else row["start"] for row in rows], float)
        np.testing.assert_array_equal(starts, some.frame["start"])
    else:
        pd.testing.assert_frame_equal(pd.read_feather(path), some.frame, check_exact=True)


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    book = nbformat.read(ROOT / "reports" / "first-answers.ipynb", as_version=4)
    client(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    kinds = [kind for output in shown for kind in output.get("data", {})]
    assert kinds.count("application/vnd.plotly.v1+json") == 3
    assert kinds.count("text/html") >= 2
    assert not any(cell.get("outputs") for cell in nbformat.read(ROOT / "reports" / "first-answers.ipynb", 4).cells)
