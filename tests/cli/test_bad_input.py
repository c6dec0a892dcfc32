"""Whatever a user gets wrong is one clear sentence on stderr and exit status 2, and no file is left half written."""

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from calling import HEADER, Answer, Call, swf_line

from harness.disk import atomic as files

GENERATED = "lublin(jobs=20, procs=32, seed=3)"


def refused(answer: Answer, *words: str) -> None:
    """One sentence that contains `words`, and nothing else."""
    assert answer.status == 2, answer
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("harness: ")
    assert [word for word in words if word not in lines[0]] == [], lines[0]


# ---------------------------------------------------------------- the call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "KTH-SP3"], ["KTH-SP3", "did you mean 'KTH-SP2'"]),
        (["run", GENERATED, "--order", "fcsf"], ["fcsf", "did you mean 'fcfs'"]),
        (["run", GENERATED, "--start", "eazy"], ["eazy", "did you mean 'easy'"]),
        (["run", GENERATED, "--select", "firstfit"], ["firstfit", "did you mean 'first-fit'"]),
        (["run", GENERATED, "--energy", "pease"], ["pease", "did you mean 'peas'"]),
        (["run", GENERATED, "--start", "easy(reservation=2)"], ["reservation", "did you mean 'reservations'"]),
        (["run", GENERATED, "--start", "easy(reservations=two)"], ["reservations", "expected a number"]),
        (["run", GENERATED, "--start", "easy(reservations=1.5)"], ["reservations", "whole number"]),
        (["run", GENERATED, "--start", "conservative(replan=3)"], ["replan", "true or false"]),
        (["run", GENERATED, "--start", "preempt(at=noon)"], ["at", "any"]),
        (["run", GENERATED, "--start", "easy(backfill_order=spff)"], ["spff", "did you mean 'spf'"]),
        (["run", GENERATED, "--start", "easy("], ["easy(", "expected a name"]),
        (["run", GENERATED, "--order", ""], ["expected"]),
        (["run", "lublin(job=20)"], ["job", "did you mean 'jobs'"]),
        (["run", "lublin(jobs=-5)"], ["jobs"]),
        (["run", "lublin(jobs=many)"], ["jobs"]),
        (["run", "lublin(jobs=20"], ["lublin(jobs=20"]),
        (["run", GENERATED, "--format", "jsno"], ["jsno", "did you mean 'json'"]),
        (["run", GENERATED, "--schedule", "out.xls"], ["out.xls", ".csv"]),
        (["run", GENERATED, "--procs", "8", "--platform", "peas-table2"], ["--procs", "--platform"]),
        (["run", GENERATED, "--platform", "peas-table3"], ["peas-table3", "did you mean 'peas-table2'"]),
        (["run", GENERATED, "--platform", "nowhere.csv"], ["nowhere.csv"]),
        (["run", GENERATED, "--energy", "peas"], ["peas", "power"]),
        (["run", GENERATED, "--rate", "fixed(rate=0)"], ["rate", "above 0"]),
        (["run", GENERATED, "--procs", "0"], ["--procs"]),
        (["run", GENERATED, "--procs", "many"], ["--procs"]),
        (["run", GENERATED, "--procs", str(10**15)], ["at most"]),
        (["run", GENERATED, "--jobs", "0"], ["--jobs"]),
        (["run", GENERATED, "--load", "0"], ["load"]),
        (["run", GENERATED, "--load", "nan"], ["load"]),
        (["run", GENERATED, "--estimates", "guessed"], ["guessed"]),
        (["run", GENERATED, "--estimates", "factor(0)"], ["factor"]),
        (["run", GENERATED, "--overrun", "rise"], ["rise"]),
        (["run", GENERATED, "--procs-from", "usde"], ["usde"]),
        (["run", GENERATED, "--seed", "-1"], ["seed"]),
        (["run", GENERATED, "--fairness", "-1"], ["--fairness"]),
        (["run", GENERATED, "--ordre", "fcfs"], ["--ordre", "--order"]),
        (["run", GENERATED, "extra"], ["extra"]),
        (["run", GENERATED, "--order"], ["--order"]),
        (["run", GENERATED, "--plugins", "nowhere.py"], ["nowhere.py"]),
        (["list", "order"], ["order", "did you mean 'orders'"]),
        (["list", "orders", "--format", "jsno"], ["jsno", "did you mean 'json'"]),
        (["rum"], ["rum"]),
        (["theory", "nonsense"], ["nonsense"]),
    ],
    ids=lambda value: " ".join(value) if value and value[0] in ("run", "list", "rum", "theory") else "",
)
def test_a_wrong_call(
    harness_says: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(harness_says(*arguments), *words)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- the log


def test_a_missing_file(harness_says: Call, tmp_path: Path) -> None:
    refused(harness_says("run", tmp_path / "missing.swf"), "missing.swf")


def test_a_folder(harness_says: Call, tmp_path: Path) -> None:
    refused(harness_says("run", tmp_path), str(tmp_path))


def test_a_truncated_gzip(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "cut.swf.gz"
    whole = gzip.compress((HEADER + "".join(map(swf_line, range(1, 2000)))).encode())
    log.write_bytes(whole[: len(whole) // 2])
    refused(harness_says("run", log), "cut.swf.gz")


def test_something_else_that_calls_itself_gzip(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "text.swf.gz"
    log.write_text(HEADER + swf_line(1))
    assert harness_says("run", log).status == 0  # how a file is packed is told by its first bytes, not by its name


def test_a_line_with_17_columns(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "short.swf"
    log.write_text(HEADER + swf_line(1) + swf_line(2).rsplit(" ", 1)[0] + "\n" + swf_line(3))
    refused(harness_says("run", log), "short.swf", "3", "17", "18")
    lenient = harness_says("run", log, "--lenient", "--format", "json")
    assert lenient.status == 0
    assert '"jobs": 2.0' in lenient.out


def test_a_word_where_a_number_belongs(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "word.swf"
    log.write_text(HEADER + swf_line(1) + swf_line(2).replace(" 10 ", " ten ", 1))
    refused(harness_says("run", log), "word.swf", "3", "ten")


@pytest.mark.parametrize("text", ["", HEADER, "\n\n"])
def test_zero_jobs(harness_says: Call, tmp_path: Path, text: str) -> None:
    log = tmp_path / "empty.swf"
    log.write_text(text)
    refused(harness_says("run", log, "--procs", "4", "--schedule", tmp_path / "out.csv"), "no jobs")
    assert not (tmp_path / "out.csv").exists()


def test_zero_jobs_after_preparation(harness_says: Call, log: Path) -> None:
    refused(harness_says("run", log, "--from", "1000000"), "no jobs")


def test_a_log_that_does_not_say_how_big_its_machine_was(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "headless.swf"
    log.write_text(swf_line(1))
    refused(harness_says("run", log), "headless", "--procs")


def test_a_binary_file(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "binary.swf"
    log.write_bytes(bytes(range(256)) * 40)
    refused(harness_says("run", log), "binary.swf")


LONG = "n" * 3000


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", LONG],
        ["run", f"{LONG}.csv"],
        ["run", f"lublin({LONG}=3)"],
        ["run", GENERATED, f"--{LONG}"],
        ["run", GENERATED, "--order", LONG],
        ["run", GENERATED, "--filter", " + ".join("n" * 1000)],
        ["run", GENERATED, "--events", LONG],
        ["run", GENERATED, "--platform", LONG],
        ["run", GENERATED, "--plugins", LONG],
        ["run", GENERATED, "--schedule", f"{LONG}.csv"],
        ["check", LONG],
        ["data", "show", f"{LONG}.json"],
        ["data", "fetch", LONG],
        ["list", LONG],
        ["plugin", "new", LONG],
        ["tournament", LONG],
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_what_goes_on_for_ever_is_not_quoted_back(
    harness_says: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = harness_says(*arguments)
    refused(answer)
    assert len(answer.err) < 600
    assert "[Errno" not in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "lublin(jobs=1000000000000)"], "jobs="),
        (["run", "lublin(jobs=9, procs=10000000000000000000000000)"], "procs="),
        (["identify", GENERATED, "--workers", "1000000"], "--workers"),
        (["adequacy", GENERATED, "--repetitions", "1000000000"], "--repetitions"),
        (["tournament", "demo", "--resample", "1000000000"], "--resample"),
    ],
)
def test_absurd_counts(harness_says: Call, arguments: list[str], word: str) -> None:
    refused(harness_says(*arguments), word)


def test_a_header_of_a_million_digits(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "big.swf"
    log.write_text(f"; MaxProcs: {'9' * 10**6}\n" + swf_line(1))
    refused(harness_says("run", log), "big", "MaxProcs", "a whole number")


SERVERS = (
    "Vendor,Processor,#Chips,#Cores/Chip,RAM (GB),OPS@100%Load,Watts@100%Load\n"
    "Maker,Fast 1,2,4,16,400000,220\nMaker,Slow 2,1,2,8,{}x,110.5\n"
)


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("long.swf", HEADER + swf_line(1) + "9" * 200_000 + "x" + swf_line(2), ["run", "long.swf"]),
        ("long.csv", SERVERS.format("9" * 120_000), ["run", "--platform", "long.csv"]),
        ("log.swf", HEADER + swf_line(1), ["run", "log.swf", "--estimates", f"factor({'9' * 200_000}x)"]),
    ],
    ids=["log", "table", "option"],
)
def test_what_is_almost_a_number_without_end_is_refused_at_once(
    harness_says: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, arguments: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    before = time.process_time()
    refused(harness_says(*arguments))
    assert time.process_time() - before < 5  # it was up to minutes


def test_a_log_that_begins_beyond_the_calendar(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "late.swf"
    log.write_text("; UnixStartTime: 99999999999999\n" + HEADER + swf_line(1))
    answer = harness_says("data", "show", log)
    assert (answer.status, answer.err) == (0, "")
    assert "the date is not known" in answer.out
    assert "no date: 1 jobs" in answer.out


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.zip", "csv.xz", "csv.zst", "csv.tar", "csv.bz2"])
@pytest.mark.parametrize("content", [b"nothing of the kind", b"\x1f\x8b no", b"PK\x03\x04 no", b"\xfd7zXZ\0 no"])
def test_events_that_are_not_packed_as_they_say(
    harness_says: Call, tmp_path: Path, suffix: str, content: bytes
) -> None:
    events = tmp_path / f"events.{suffix}"
    events.write_bytes(content)
    refused(harness_says("run", GENERATED, "--events", events), str(events))


def test_a_workload_of_brackets_without_end(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "deep.json"
    log.write_text("[" * 100_000)
    refused(harness_says("run", log), "deep.json", "cannot be read")


# ---------------------------------------------------------------- plugins


def plugin(tmp_path: Path, body: str, name: str = "mine", offer: str = "harness.Order('mine', mine)") -> Path:
    """A plugin file that offers one order."""
    path = tmp_path / f"{name}.py"
    path.write_text(
        f"import harness\n\n{body}\n\n@harness.hookimpl\ndef order_queue():\n    return [{offer}]\n", encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import harness\nimport no_such_module\n", ["no_such_module", "line 2"]),
        ("import harness\ndef broken(:\n", ["SyntaxError"]),
        ("raise RuntimeError('two\\nlines')\n", ["RuntimeError"]),
        ("import harness\nharness.Ordre\n", ["Ordre"]),
        ("import harness\n@harness.hookimpl\ndef order_que():\n    return []\n", ["order_que", "order_queue"]),
        ("import harness\n@harness.hookimpl\ndef order_queue():\n    return 1 / 0\n", ["ZeroDivisionError"]),
        ("import harness\n@harness.hookimpl\ndef order_queue():\n    return None\n", ["order_queue"]),
        ("import harness\n@harness.hookimpl\ndef order_queue():\n    return ['mine']\n", ["harness.Order"]),
        ("import harness\nharness.Order('mine', lambda job: 0.0)\n", ["mine", "clock"]),
        ("import harness\n@harness.hookimpl\ndef order_queue(queue):\n    return []\n", ["queue"]),
    ],
)
def test_a_plugin_that_cannot_be_loaded(harness_says: Call, tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    refused(harness_says("run", GENERATED, "--plugins", path, "--order", "mine"), "mine.py", *words)
    refused(harness_says("list", "orders", "--plugins", path), "mine.py", *words)


@pytest.mark.parametrize(
    ("measures", "words"),
    [
        ("1 / 0", ["ZeroDivisionError", "line 4"]),
        ("None", ["expected a list of harness.Measure"]),
        ("['mine']", ["expected harness.Measure"]),
        ("[harness.Measure('adequacy', 's', 'less', 'x', lambda schedule: 1.0)]", ["adequacy", "already taken"]),
    ],
)
def test_measures_that_cannot_be_offered(harness_says: Call, tmp_path: Path, measures: str, words: list[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"import harness\n@harness.hookimpl\ndef score_schedule():\n    return {measures}\n")
    refused(harness_says("list", "measures", "--plugins", path), "mine.py", *words)


def test_a_name_that_is_already_taken(harness_says: Call, tmp_path: Path) -> None:
    path = plugin(tmp_path, "def mine(job, clock):\n    return 0.0", offer="harness.Order('fcfs', mine)")
    refused(harness_says("run", GENERATED, "--plugins", path), "fcfs", "already taken", "mine.py", "order_queue.py")


@pytest.mark.parametrize(
    "body",
    [
        "def mine(job, clock):\n    if job.procs > 0:\n        raise ValueError('not today')\n    return 0.0",
        "def mine(job, clock):\n    str(job)\n    if job.procs:\n        raise ValueError('not today')\n    return 0.0",
        "import json\ndef mine(job, clock):\n    json.loads('1')\n    raise ValueError('not today')",
    ],
    ids=["compiled", "maybe compiled", "plain Python"],
)
def test_a_policy_that_raises(harness_says: Call, tmp_path: Path, body: str) -> None:
    path = plugin(tmp_path, body)
    out = tmp_path / "out.csv"
    answer = harness_says("run", GENERATED, "--plugins", path, "--order", "mine", "--schedule", out)
    # Plain Python is announced on a line of its own before.
    *notices, last = answer.err.splitlines()
    assert [line for line in notices if "plain Python" not in line] == []
    refused(Answer(answer.status, answer.out, last), "ValueError", "not today", "mine", "job")
    assert not out.exists()


def test_a_score_that_is_not_a_number(harness_says: Call, tmp_path: Path) -> None:
    path = plugin(tmp_path, "def mine(job, clock):\n    return float('nan')")
    answer = harness_says("run", GENERATED, "--plugins", path, "--order", "mine")
    refused(answer, "mine", "nan", "number was expected")


def test_a_parameter_of_a_plugin_misspelt(harness_says: Call, tmp_path: Path) -> None:
    path = plugin(tmp_path, "def mine(job, clock, power=1.0):\n    return power")
    refused(harness_says("run", GENERATED, "--plugins", path, "--order", "mine(pwoer=2)"), "pwoer", "'power'")


# ---------------------------------------------------------------- writing


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".swf"])
def test_a_full_disk(harness_says: Call, log: Path, tmp_path: Path, suffix: str) -> None:
    full = tmp_path / f"full{suffix}"
    full.symlink_to("/dev/full")
    refused(harness_says("run", log, "--schedule", full), "full", "cannot be written")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([full.name, "small.swf"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".swf", ".swf.gz"])
def test_a_disk_that_fills_up_at_the_last_moment(
    harness_says: Call, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = tmp_path / f"out{suffix}"
    before.write_text("as it was")
    monkeypatch.setattr(files.os, "replace", full)
    refused(harness_says("run", log, "--schedule", before), "No space left on device")
    assert before.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([before.name, "small.swf"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(harness_says: Call, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    refused(harness_says("run", log, "--schedule", folder / "out.csv"), "closed", "cannot be written")


@pytest.mark.parametrize("place", ["missing/out.csv", "small.swf/out.csv"])
def test_a_folder_that_is_none(harness_says: Call, log: Path, tmp_path: Path, place: str) -> None:
    answer = harness_says("run", log, "--schedule", tmp_path / place, "--procs", 99_999_999_999)
    refused(answer, "cannot be written: there is no folder")  # before anything else is looked at


def test_a_page_is_refused_before_a_schedule_is_written(harness_says: Call, log: Path, tmp_path: Path) -> None:
    for place, words in (("missing/x.html", "there is no folder"), ("run.pdf", "expected a name that ends in .html")):
        refused(harness_says("run", log, "--schedule", tmp_path / "o.csv", "--report", tmp_path / place), words)
        assert not (tmp_path / "o.csv").exists()


def test_a_folder_where_a_file_belongs(harness_says: Call, log: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    refused(harness_says("run", log, "--schedule", tmp_path / "out.csv"), "folder")


# ---------------------------------------------------------------- in a process of its own


def test_the_shell_sees_the_exit_status(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness", "run", "KTH-SP3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    refused(Answer(done.returncode, done.stdout, done.stderr), "did you mean 'KTH-SP2'")


def test_debug_shows_where(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness", "--debug", "run", "KTH-SP3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_a_terminal_that_lacks_our_letters(log: Path) -> None:
    command = [sys.executable, "-m", "harness", "data", "show", str(log)]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert "12 jobs" in done.stdout
    assert "??" in done.stdout  # where others see a picture


def test_the_workload_itself_is_never_overwritten(harness_says, log):
    before = log.read_bytes()
    answer = harness_says("run", log, "--schedule", log)
    assert answer.status == 2
    assert "is the workload itself" in answer.err
    assert log.read_bytes() == before
