"""`harness data …`: what is listed, shown and fetched, and how it fails."""

import csv
import gzip
import io
import json
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from calling import Call

from harness.workload.catalogue import catalogue, fetched_folder

KTH = "KTH-SP2-1996-2.1-cln.swf.gz"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data, and a cache that holds nothing."""
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_MIRROR", "http://127.0.0.1:1")  # nobody answers there
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_the_list_says_where_each_log_is(harness_says: Call, place: Path) -> None:
    (place / KTH).write_bytes(b"")
    rows = {row["name"]: row for row in json.loads(harness_says("data", "list", "--format", "json").out)}
    assert list(rows) == list(catalogue())
    assert rows["KTH-SP2"]["where"] == str(place / KTH)
    assert rows["RICC"]["where"] == "not fetched"
    assert rows["WAGAP"]["where"] == "not here"
    assert rows["KTH-SP2"]["jobs"] == 28_476
    assert rows["SHARCNET"]["jobs"] is None


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex", "html"])
def test_every_format_lists_every_log(harness_says: Call, place: Path, format: str) -> None:
    answer = harness_says("data", "list", "--format", format)
    assert answer.status == 0
    assert all(name in answer.out for name in catalogue())
    if format == "csv":
        assert len(list(csv.DictReader(io.StringIO(answer.out)))) == len(catalogue())


def test_a_description_fits_on_a_screen(harness_says: Call, log: Path) -> None:
    answer = harness_says("data", "show", log)
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    for words in ("12 jobs", "of 4 processors", "completed 12", "width [procs]", "arrivals by hour, at most 12", "█"):
        assert words in answer.out, words
    assert "! unknown wait: 12 jobs" in answer.out


def test_a_picture_has_a_column_for_each_hour(harness_says: Call, log: Path) -> None:
    lines = harness_says("data", "show", log).out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("arrivals by hour"))
    assert lines[head + 1 : head + 4] == ["█" + " " * 51 + "██"] * 3  # all twelve in the first hour of the first day
    assert lines[head + 4].split() == [*map(str, range(0, 24, 3)), *map(str, range(1, 8))]


def test_the_same_as_json(harness_says: Call, log: Path) -> None:
    about = json.loads(harness_says("data", "show", log, "--format", "json", "--procs", 8).out)
    assert (about["jobs"], about["procs"], about["span"]) == (12, 8, 11)
    assert about["arrivals_by_hour"] == [12] + [0] * 23
    assert about["spreads"][-1] == {
        "name": "wait", "unit": "s", "known": 0, "least": None, "quarter": None, "median": None,
        "three_quarters": None, "most": None, "mean": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.csv", "submit,run,procs\n0,5,1\n1,5,2\n"),
        ("gaps.csv", "interarrival,service,cores_used\n1,5,1\n1,5,2\n"),
        ("dump.log", "State|Submit|Elapsed|NCPUS\n" + "COMPLETED|2021-03-01T08:00:00|00:00:05|2\n" * 2),
        ("log.txt", "1 0 0 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n" * 2),
    ],
)
def test_every_format_is_run_and_shown(harness_says: Call, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    run = json.loads(harness_says("run", path, "--procs", 4, "--format", "json").out)
    shown = json.loads(harness_says("data", "show", path, "--format", "json").out)
    assert run["measures"]["jobs"] == shown["jobs"] == 2
    assert shown["name"] == run["workload"]["name"] == path.stem
    path.write_text(text + "nonsense\n")
    answer = harness_says("run", path, "--procs", 4)
    assert (answer.status, answer.out) == (2, "")
    assert str(path) in answer.err
    assert f"line {1 + text.count(chr(10))}" in answer.err
    run = json.loads(harness_says("run", path, "--procs", 4, "--format", "json", "--lenient").out)
    assert run["preparation"][0]["name"] == "skipped malformed lines"


def test_a_log_from_a_pipe(tmp_path: Path, log: Path) -> None:
    command = [sys.executable, "-m", "harness", "data", "show", "/dev/stdin"]
    done = subprocess.run(command, input=log.read_bytes(), capture_output=True, timeout=60, check=True)
    assert done.stdout.startswith(b"stdin: 12 jobs")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "RICC"], "harness data fetch RICC"),
        (["show", "KTH-SP"], "did you mean 'KTH-SP2'?"),
        (["show", "lublin(jobs=9)", "--format", "csv"], "there is no format 'csv' of a description"),
        (["list", "--format", "pdf"], "there is no table format 'pdf'"),
        (["fetch", "KTH-SP"], "there is no trace 'KTH-SP': did you mean 'KTH-SP2'?"),
        (["fetch", "WAGAP"], "'WAGAP': is not in the archive"),
        (["fetch", "RICC"], "http://127.0.0.1:1/l_ricc/RICC-2010-2.swf.gz: cannot be fetched"),
        (["fetch", "RICC", "--mirror", "nonsense"], "the mirror 'nonsense': expected an address"),
        (["fetch", "RICC", "--mirror", "file:///tmp"], "expected an address that begins with http:// or https://"),
    ],
)
def test_a_wrong_call(harness_says: Call, place: Path, arguments: list[str], words: str) -> None:
    answer = harness_says("data", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not list(fetched_folder().glob("*.gz"))


def test_what_is_here_is_not_fetched(harness_says: Call, place: Path) -> None:
    unpacked = place / KTH.removesuffix(".gz")
    unpacked.write_bytes(b"")
    answer = harness_says("data", "fetch", "kth-sp2")
    assert (answer.status, answer.out) == (0, f"KTH-SP2: is here already, {unpacked}\n")


def test_what_is_damaged_here_is_not_taken_for_the_log(harness_says: Call, place: Path) -> None:
    (place / KTH).write_bytes(gzip.compress(b"")[:9])
    answer = harness_says("data", "fetch", "KTH-SP2")
    assert (answer.status, answer.out) == (2, "")
    assert f"{place / KTH}: is damaged, or not the known {KTH}: remove it" in answer.err


def test_a_log_that_was_fetched_can_be_run(
    harness_says: Call, place: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    served = tmp_path / "served" / "l_das2" / "DAS2-fs1-2003-1.swf.gz"
    served.parent.mkdir(parents=True)
    served.write_bytes(gzip.compress(log.read_bytes()))
    handler: Any = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        answer = harness_says("data", "fetch", "DAS2-fs1", "--mirror", f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
    assert (answer.status, answer.err) == (0, "")
    assert "no checksum is known" in answer.out
    assert "DAS2-fs1-2003-1: 12 jobs" in harness_says("data", "show", "DAS2-fs1").out


def test_outages_are_written_as_events(harness_says: Call, tmp_path: Path) -> None:
    source = tmp_path / "log.csv"
    assert harness_says("run", "lublin(jobs=400, procs=64, seed=1)", "--schedule", source).status == 0
    out = tmp_path / "events.csv"
    answer = harness_says("data", "outages", source, "--procs", "64", "--out", out)
    assert answer.status == 0
    assert "intervals in which processors of 64 were missing" in answer.out
    assert out.read_text().startswith("time,event,subject")
    assert harness_says("data", "outages", source).status == 2
    refused = harness_says("data", "outages", "lublin(jobs=50)")
    assert (refused.status, "no job has a wait" in refused.err) == (2, True)
