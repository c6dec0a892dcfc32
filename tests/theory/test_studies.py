"""The scripts beside the published pages: run by hand, run as commands, and what they leave behind."""

import re
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import harness
from harness.cli.study_command import load
from harness.cli.theory_command import STUDIES, app
from harness.disk.bundled import folder
from harness.disk.data_search import find_data

REPORTS = folder("reports")


def described(page):
    """Return the text and the options of a page of help, without its usage, its examples and the types of options."""
    text, _, options = page.partition("╭")
    lines = [line.strip() for line in text.strip().splitlines()[1:] if not line.startswith(" $ ")]
    return " ".join(lines).split(), re.findall(r"(?<!\S)--[a-z-]+", options)


@pytest.mark.parametrize(("command", "script"), [(command, script) for command, (script, _) in STUDIES.items()])
def test_a_command_is_the_script_beside_its_page(command, script):
    by_hand = subprocess.run(
        [sys.executable, str(REPORTS / f"{script}.py"), "--help"], capture_output=True, text=True, check=True
    ).stdout
    as_command = CliRunner().invoke(app, [command, "--help"], catch_exceptions=False)
    assert as_command.exit_code == 0
    assert described(by_hand) == described(as_command.output)
    assert f"python reports/{script}.py" in (REPORTS / f"{script.replace('_', '-')}.md").read_text(encoding="utf-8")


def test_a_mistake_in_a_script_is_one_sentence():
    command = [sys.executable, str(REPORTS / "service_rate.py"), "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("harness: nowhere.csv: there is no such file")
    assert done.stderr.count("\n") == 1


def test_loading_a_script_leaves_the_search_path_as_it_was():
    before = list(sys.path), sys.dont_write_bytecode
    load("theory")
    assert (sys.path, sys.dont_write_bytecode) == before


@pytest.mark.data
def test_table_3_of_peas_is_what_we_publish(data):
    assert load("peas_table3").table() in (REPORTS / "peas-table3.md").read_text(encoding="utf-8")


@pytest.mark.data
@pytest.mark.study
def test_table_5_of_rlscheduler_is_what_we_publish(data):
    for table in load("rlscheduler").tables():
        assert table in (REPORTS / "rlscheduler.md").read_text(encoding="utf-8")


@pytest.mark.data
def test_the_loop_of_rlscheduler_gives_a_printed_figure(data):
    study = load("rlscheduler")
    path, procs, lines, printed = study.PRINTED["lublin_256"]
    assert f"{study.theirs(study.read(find_data(path), lines), procs, 'F1', backfill=True):.2f}" == printed["F1"][1]


@pytest.mark.data
@pytest.mark.parametrize("start", ["easy", "easy(backfill_order=spf)"])
def test_a_line_of_the_page_on_predictions_is_what_we_publish(data, start):
    study = load("predictions")
    workload = harness.prepare(harness.read_workload("KTH-SP2"))
    runs = [study.replay(workload, start, predict) | {"log": "KTH-SP2"} for predict in study.PREDICTORS]
    line = [cell.strip() for cell in study.by_log(pd.DataFrame(runs), "markdown").splitlines()[-1].split("|")]
    page = (REPORTS / "predictions.md").read_text(encoding="utf-8").splitlines()
    assert line in [[cell.strip() for cell in printed.split("|")] for printed in page]


@pytest.mark.data
@pytest.mark.study
def test_the_page_on_predictions_is_what_we_publish(data):
    printed = CliRunner().invoke(load("predictions").app, ["--format", "markdown"], catch_exceptions=False).output
    assert printed in (REPORTS / "predictions.md").read_text(encoding="utf-8")
