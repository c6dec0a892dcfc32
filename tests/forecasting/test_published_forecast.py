"""The page on forecasts is what its script prints."""

import pandas as pd
import pytest
from typer.testing import CliRunner

import harness
from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.forecasting.forecast_evaluation import errors, evaluated, instants

PAGE = folder("reports") / "forecast.md"


@pytest.mark.data
def test_a_row_of_the_page_has_the_jobs_of_the_log(data):
    """The jobs and instants of KTH-SP2's last row, which take no repetitions to count."""
    study = load("start_forecasts")
    log = harness.read_workload("KTH-SP2")
    rows = pd.concat(evaluated(log, instants(log, study.MOMENTS), study.ASSUMED, repetitions=1, arrivals="none"))
    kept = rows[rows["now"].isin(rows["now"].unique()[study.LEARNING :])]
    last = errors(kept)[-1]
    lines = [[cell.strip() for cell in line.split("|")] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    own = next(cells for cells in lines if cells[1:2] == ["all"])
    assert own[2:4] == [f"{last.jobs:,}", str(last.moments)]
    assert own[6] == f"{last.means['at_once'] / 3600:.3g}"
    assert own[5] == f"{last.means['similar'] / 3600:.3g}"


@pytest.mark.data
@pytest.mark.study
def test_the_page_is_what_we_publish(data):
    printed = CliRunner().invoke(load("start_forecasts").app, ["--format", "markdown"], catch_exceptions=False).output
    assert printed in PAGE.read_text(encoding="utf-8")
