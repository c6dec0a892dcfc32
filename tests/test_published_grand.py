"""The page of the grand tournament holds what its script prints of the files beside it, of every run of the field."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

from harness.experiment.field_reading import read_field

REPORTS = Path(__file__).parents[1] / "reports"
PAGE = (REPORTS / "grand.md").read_text(encoding="utf-8")


def test_every_table_of_the_page_is_what_the_script_prints() -> None:
    ran = subprocess.run(
        [sys.executable, REPORTS / "grand.py"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    lines = [line for line in ran.stdout.splitlines() if line]
    assert len(lines) > 150
    held = set(PAGE.splitlines())
    assert [line for line in lines if line not in held] == []


def test_the_frame_is_of_every_run_of_the_field() -> None:
    frame = pd.read_parquet(REPORTS / "grand.parquet")
    field = read_field("grand")
    runs = sum(1 for _ in field.combinations())
    assert len(frame) == runs
    assert set(frame["status"]) == {"done"}
    assert f"{runs:,} runs" in PAGE
    assert set(frame["workload"]) == {source.name for source in field.workloads}
