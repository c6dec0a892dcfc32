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


def test_the_page_says_how_much_of_the_field_ran() -> None:
    frame = pd.read_parquet(REPORTS / "grand.parquet")
    field = read_field("grand")
    runs = sum(1 for _ in field.combinations())
    assert len(frame) <= runs
    assert set(frame["status"]) == {"done"}
    assert f"{len(frame):,} of {runs:,} runs" in PAGE
    assert set(frame["workload"]) <= {source.name for source in field.workloads}


def test_comparisons_are_over_logs_that_every_scheduler_ran_on() -> None:
    frame = pd.read_parquet(REPORTS / "grand.parquet")
    logged = frame[frame["energy"].isna()]
    ran = logged.groupby("workload", observed=True)["scheduler"].nunique()
    whole = set(ran.index[ran == logged["scheduler"].nunique()])
    assert f"### All schedulers, as logged, over {len(whole)} logs" in PAGE
    table = PAGE[PAGE.index("### By log") : PAGE.index("### By family")]
    assert {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")} - {"log"} == whole
