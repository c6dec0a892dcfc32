"""`harness list platforms`: those of the harness, and the rows of a table of servers."""

import csv
import io
import json
from pathlib import Path

from calling import Call

TABLE = """Vendor,Processor,#Chips,#Cores/Chip,RAM (GB),OPS@100%Load,Watts@100%Load
Maker,Fast 5000,2,4,8,1000,90
"""


def test_the_bundled_platforms(harness_says: Call) -> None:
    answer = harness_says("list", "platforms", "--format", "json")
    rows = {row["name"]: row for row in json.loads(answer.out)}
    assert {"peas-table2", "service-rate-80", "service-rate-80-exchanged", "synthetic-11"} <= rows.keys()
    synthetic = rows["synthetic-11"]
    assert (synthetic["nodes"], synthetic["procs"], synthetic["memory"]) == ("16", "128", "64 GB")
    assert (synthetic["idle–peak [W]"], synthetic["sleep states"]) == ("60–220", "suspend, off")
    assert "synthetic" in synthetic["about"]


def test_the_rows_of_a_table(harness_says: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TABLE)
    answer = harness_says("list", "platforms", "--from", tmp_path / "mine.csv", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(answer.out))
    assert (row["row"], row["vendor"], row["processor"], row["procs"]) == ("2", "Maker", "Fast 5000", "8")
    assert (row["memory"], row["idle–peak [W]"], row["refused because"]) == ("8 GB", "?–90", "")


def test_a_table_that_is_not_one(harness_says: Call, tmp_path: Path) -> None:
    for arguments, words in (
        (["platforms", "--from", "nowhere.csv"], "no such platform file"),
        (["platforms", "--from", "synthetic-11"], "expected a table of servers"),
        (["platforms", "--from", tmp_path], "it is a folder"),
        (["orders", "--from", "peas-table2"], "list platforms"),
        (["--from", "peas-table2"], "list platforms"),
    ):
        answer = harness_says("list", *arguments)
        assert (answer.status, answer.out, len(answer.err.splitlines())) == (2, "", 1)
        assert words in answer.err
