"""A store from another person: what no tournament writes is refused in a sentence by every command that reads it."""

import copy
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from calling import Call

import harness
from harness.errors import HarnessError

FIELD = 'workloads = "lublin(jobs=20, procs=8)"\n[[scheduler]]\norder = ["fcfs", "spf"]\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a field, and with the results of it in `out`."""
    place = tmp_path_factory.mktemp("made")
    (place / "field.toml").write_text(FIELD)
    harness.tournament(place / "field.toml", place / "out", workers=1)
    return place


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Results that came from elsewhere."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def change(out: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Change a store by SQL."""
    with closing(sqlite3.connect(out / "store.sqlite", isolation_level=None)) as store:
        for statement in statements:
            store.execute(statement, values)


def refused(harness_says: Call, out: Path, *, resumed: bool = True) -> None:
    """Every command that reads the store refuses it in one sentence."""
    commands: list[list[object]] = [["report", out, "--out", out.parent / "page.html"]]
    if resumed:
        commands.append(["tournament", out.parent / "field.toml", "--out", out, "--workers", "1"])
    for command in commands:
        answer = harness_says(*command)
        assert answer.status == 2, (command, answer)
        (said,) = (line for line in answer.err.splitlines() if line.startswith("harness:"))
        assert "store.sqlite: cannot be used as a tournament's store" in said
        assert "Traceback" not in answer.err
    assert not (out.parent / "page.html").exists()
    with pytest.raises(HarnessError):
        harness.Results(out).frame()


#: A table that SQLite computes without end.
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS session, '0123456789abcdef' AS lock, 0 AS over, 1 AS process, 'm' AS machine, 0.0 AS started, "
    "NULL AS finished, '{}' AS about FROM n"
)


def rewritten(name: str, old: str, new: str) -> tuple[str, ...]:
    """Change the text of a table in the schema, as a file may hold it."""
    text = f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"
    return "PRAGMA writable_schema = ON", text, "PRAGMA writable_schema = OFF"


SCHEMAS: dict[str, tuple[str, ...]] = {
    "an endless view": ("DROP TABLE sessions", f"CREATE VIEW sessions AS {ENDLESS}"),
    "an endless view besides": (f"CREATE VIEW more AS {ENDLESS}",),
    "a view of runs": ("ALTER TABLE runs RENAME TO others", "CREATE VIEW runs AS SELECT * FROM others"),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON plan BEGIN DELETE FROM runs; END",),
    "a trigger on sessions": ("CREATE TRIGGER t AFTER UPDATE ON sessions BEGIN DELETE FROM plan; END",),
    "a virtual table": ("CREATE VIRTUAL TABLE more USING fts5(text)",),
    "a virtual table of runs": ("DROP TABLE runs", "CREATE VIRTUAL TABLE runs USING fts5(identity, status)"),
    "a generated column": ("ALTER TABLE sessions ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(1000)))",),
    "a further column": ("ALTER TABLE plan ADD COLUMN more TEXT DEFAULT 'x'",),
    "a default": rewritten("sessions", "over INTEGER NOT NULL DEFAULT 0", "over INTEGER NOT NULL DEFAULT 1"),
    "a check": rewritten("sessions", "over INTEGER NOT NULL", "over INTEGER NOT NULL CHECK(abs(over) >= 0)"),
    "a damaged name": rewritten("runs", "measures TEXT", "measurez TEXT"),
    "a renamed column": ('ALTER TABLE plan RENAME COLUMN "start" TO "begin"',),
    "a lost column": ("ALTER TABLE runs DROP COLUMN worker",),
    "a lost table": ("DROP TABLE plan",),
    "a further table": ("CREATE TABLE more (a)",),
    "an index": ("CREATE INDEX more ON runs (hex(zeroblob(jobs)))",),
    "an index of one's own": ("CREATE UNIQUE INDEX more ON sessions (over)",),
    "statistics": ("ANALYZE",),
    "two tables in one place": (
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema AS other WHERE other.name = 'runs') "
        "WHERE name = 'plan'",
    ),
    "no schema": ("PRAGMA user_version = 0",),
}


@pytest.mark.parametrize("statements", SCHEMAS.values(), ids=SCHEMAS)
def test_a_store_has_the_tables_of_a_store_and_no_others(
    harness_says: Call, out: Path, statements: tuple[str, ...]
) -> None:
    change(out, *statements)
    refused(harness_says, out)


ROWS = [
    *("over = 2", "over = 'x'", "process = -1", "process = 'x'", "machine = x'00'"),
    *("started = 'now'", "started = 9e999", "finished = 'later'", "about = ''", "about = '5'", "about = '{'"),
    *("about = '[]'", "about = x'7b7d'", "about = '{\"field\": 5}'"),
]
RUNS = [
    *("identity = identity || '0'", "identity = substr(identity, 2)", "identity = '../' || identity"),
    *("status = 'finished'", "status = 5", "session = 'x'", "session = 1.5", "jobs = -1", "jobs = 'many'"),
    *("jobs = 1.5", "jobs = NULL", "seconds = 'long'", "seconds = 9e999", "error = x'00'"),
    *("measures = '['", "measures = NULL", "measures = '5'", "measures = '[]'", "measures = 7"),
    *("""measures = '{"mean_wait": "long"}'""", """measures = '{"mean_wait": true}'"""),
    *("""measures = '{"mean_wait": [1]}'""", """measures = '{"mean_wait": NaN}'"""),
    *("""measures = '{"mean_wait": 1e999}'""", """measures = '{"mean_wait": """ + "9" * 5000 + "}'"),
    *("""measures = '{"status": 5}'""", """measures = '{"scheduler": 5}'""", """measures = '{"identity": 5}'"""),
    """measures = '{"energy_policy": 5}'""",
    "measures = '" + "[" * 100_000 + "'",
    *("schedule_digest = 5", "schedule_digest = 'x'", "schedule_digest = NULL", "finished = 'x'", "worker = x'00'"),
]
PLAN = [
    *("identity = 'x'", "workload = 5", "workload = 'another'", "platform = 'another'", "platform = x'00'"),
    *("variation = -1", "variation = 'x'", "variation = 0.5", "seed = 'x'", "seed = -1", "\"order\" = x'00'"),
    *("\"select\" = x'00'", "hold = x'00'", "place = -1", "place = 'x'"),
]


@pytest.mark.parametrize("assignment", ROWS, ids=lambda text: text[:40])
def test_a_session_is_what_a_session_writes(harness_says: Call, out: Path, assignment: str) -> None:
    change(out, f"UPDATE sessions SET {assignment}")
    refused(harness_says, out)


@pytest.mark.parametrize("assignment", RUNS, ids=lambda text: text[:60])
def test_a_run_is_what_a_run_writes(harness_says: Call, out: Path, assignment: str) -> None:
    change(out, f"UPDATE runs SET {assignment}")
    if assignment.startswith("identity"):  # these are the runs of no plan for a reader
        answer = harness_says("tournament", out.parent / "field.toml", "--out", out, "--workers", "1")
        assert answer.status == 2
        assert "store.sqlite: cannot be used as a tournament's store: run: identity" in answer.err
        return
    refused(harness_says, out)


@pytest.mark.parametrize("assignment", PLAN)
def test_a_plan_is_what_a_session_writes(harness_says: Call, out: Path, assignment: str) -> None:
    where = " WHERE place = 0" if assignment.startswith("place") else ""
    change(out, f"UPDATE plan SET {assignment}{where}")
    refused(harness_says, out, resumed=False)  # a tournament makes a plan of its own


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value within a value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def refusal(out: Path) -> str | None:
    """Return why results are refused, or None."""
    try:
        harness.Results(out).frame()
    except HarnessError as error:
        return str(error)
    return None


def test_every_part_of_what_a_session_says_of_itself_is_needed_and_has_its_type(harness_says: Call, out: Path) -> None:
    """Whatever part is missing, or is of another type: the page is made, or the store is refused in a sentence."""
    with closing(sqlite3.connect(out / "store.sqlite")) as store:
        (text,) = store.execute("SELECT about FROM sessions").fetchone()
    whole, made = json.loads(text), 0
    values: list[Any] = ["missing", None, "{{ 7*7 }}", 5, [5], {"name": 5}, -1]
    for number, path in enumerate(list(places(whole))[1:]):
        for instead in (values[0], *(values[1 + (2 * number + more) % 6] for more in (0, 1))):
            about = copy.deepcopy(whole)
            within = about
            for key in path[:-1]:
                within = within[key]
            if instead == "missing":
                del within[path[-1]]
            else:
                within[path[-1]] = instead
            change(out, "UPDATE sessions SET about = ?", values=(json.dumps(about),))
            why = refusal(out)
            assert why is None or ("cannot be used as a tournament's store" in why and "\n" not in why)
            made += why is None
            if why is None and (made % 8 == 0):
                answer = harness_says("report", out, "--out", out.parent / "page.html")
                assert answer.status == 0, (path, instead, answer)
    assert made > 10


@pytest.mark.parametrize("damage", ["cut", "zeros", "noise"])
def test_a_damaged_file_is_refused(harness_says: Call, out: Path, damage: str) -> None:
    path = out / "store.sqlite"
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-4096]
    elif damage == "zeros":
        content[4096:8192] = bytes(4096)
    else:
        content[5000:8000] = bytes(number * 37 % 256 for number in range(3000))
    path.write_bytes(content)
    refused(harness_says, out)


READ = """
import os, sys
import harness
assert not os.access(sys.argv[1] + "/store.sqlite", os.W_OK)
results = harness.Results(sys.argv[1])
print(len(results.frame()), results.planned)
"""


@pytest.mark.parametrize("state", ["at rest", "with a log", "with a log alone", "a file that may not be written"])
def test_a_store_is_read_where_nothing_may_be_written(out: Path, state: str) -> None:
    kept = out.parent / "kept"
    with closing(sqlite3.connect(out / "store.sqlite", isolation_level=None)) as store:
        store.execute("UPDATE runs SET worker = 'another'")
        if "log" in state:
            shutil.copytree(out, kept)
    if "log" not in state:
        shutil.copytree(out, kept)
    if state == "with a log alone":
        (kept / "store.sqlite-shm").unlink()
    for path in (kept, *kept.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if state == "a file that may not be written":
        kept.chmod(0o777)
    before = sorted(os.listdir(kept))
    command: list[str | Path] = [sys.executable, "-c", READ, kept]
    if os.geteuid() == 0:  # who may write to any file
        if not shutil.which("setpriv"):
            pytest.skip("root gives up rights by setpriv")
        command = ["setpriv", "--bounding-set=-dac_override", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("2 2\n", 0), done.stderr
    assert sorted(os.listdir(kept)) == before


def test_reading_leaves_no_files(harness_says: Call, out: Path) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert harness_says("report", out, "--out", out.parent / "page.html").status == 0
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
