"""The store: what is claimed, by whom, for how long; and what is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.experiment.execution import Finished
from harness.experiment.store import Store, open_store
from harness.experiment.stored_results import Results

A, B, C = (letter * 64 for letter in "abc")
WANTED = [
    (name, "log", "8 processors", 0, 0, *("fcfs", "easy", "first-fit", "full", "never", "none", "requested", "none"))
    for name in (A, B, C)
]
GOOD = Finished(None, 40, 1.0, 2.0, "here", 0.5, {"mean_wait": 0.1 + 0.2, "energy": float("nan")}, "d" * 64)
BAD = Finished("LookupError: no seven", 40, 1.0, 2.0, "here")
#: What a session keeps of itself.
ABOUT: dict[str, Any] = {
    "field": {"name": "test", "about": "", "text": "", "resamples": 0, "jobs": None, "state": None},
    "command": "harness tournament test",
    "workers": "1 threads",
    "versions": {"harness": "0"},
    "machine": {"name": "here", "cores": 2},
    "workloads": [
        {
            "name": "log",
            "source": "log.swf",
            "digest": "1",
            "jobs": 40,
            "procs": 8,
            "users": 3,
            "preparation": [{"name": "reading", "jobs": 40, "detail": ""}],
        }
    ],
    "platforms": [{"name": "8 processors", "digest": "2", "nodes": 8, "procs": 8, "windows": 0}],
    "parameters": {"easy": "easy(reservations=1)"},
    "refused": [],
}


def begun(folder: Path) -> Store:
    store = Store(folder)
    store.begin(ABOUT, WANTED)
    return store


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two sessions on one store."""
    first, second = begun(tmp_path / "t"), begun(tmp_path / "t")
    yield first, second
    for store in (first, second):
        store.close()


def test_a_run_is_claimed_once(two: tuple[Store, Store]) -> None:
    first, second = two
    assert first.claim(A)
    assert not first.claim(A)
    assert not second.claim(A)
    assert second.claim(B)
    assert first.completed_runs() == second.completed_runs() == set()


def test_what_is_done_is_settled_for_everybody_and_for_ever(two: tuple[Store, Store], tmp_path: Path) -> None:
    first, second = two
    first.claim(A)
    first.finish(A, GOOD)
    assert second.completed_runs() == {A}
    assert not second.claim(A)
    first.close()
    third = begun(tmp_path / "t")
    assert third.completed_runs() == {A}
    assert not third.claim(A)
    third.close()


def test_a_failure_is_settled_for_those_at_work_and_tried_again_later(tmp_path: Path) -> None:
    first, second = begun(tmp_path), begun(tmp_path)
    first.claim(A)
    first.finish(A, BAD)
    assert second.completed_runs() == {A}
    assert not second.claim(A)
    first.close()
    second.mark_ended_sessions()
    assert second.completed_runs() == set()
    assert second.claim(A)
    second.finish(A, GOOD)
    second.close()
    assert Results(tmp_path).frame()["status"].tolist() == ["done"]


def test_claims_of_a_session_that_is_over_are_free(two: tuple[Store, Store]) -> None:
    first, second = two
    first.claim(A)
    second.mark_ended_sessions()
    assert not second.claim(A)
    first.close()
    assert second.claim(A)


CLAIM = """
import sys, time
sys.path.insert(0, {here!r})
from test_store import A, begun
from pathlib import Path
store = begun(Path(sys.argv[1]))
assert store.claim(A)
print("claimed", flush=True)
time.sleep(60)
"""


def test_claims_of_a_killed_process_are_free_at_once(tmp_path: Path) -> None:
    code = CLAIM.format(here=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        store = begun(tmp_path)
        assert not store.claim(A)
        os.kill(process.pid, signal.SIGKILL)
    store.mark_ended_sessions()
    assert store.claim(A)
    store.close()


def test_files_of_processes_that_were_killed_before_they_began_are_removed(tmp_path: Path) -> None:
    begun(tmp_path).close()
    (tmp_path / "sessions" / "0123456789abcdef").touch()
    first, second = begun(tmp_path), begun(tmp_path)
    assert len(list((tmp_path / "sessions").iterdir())) - (tmp_path / "sessions" / "making").exists() == 2
    for store in (first, second):
        store.close()


def test_measures_come_back_to_the_last_bit(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.claim(B)
    store.finish(B, GOOD)
    store.close()
    frame = Results(tmp_path).frame()
    assert frame["mean_wait"].tolist() == [0.1 + 0.2]
    assert frame["energy"].isna().all()
    assert frame["identity"].tolist() == [B]


def test_a_store_of_another_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    begun(tmp_path).close()
    with sqlite3.connect(tmp_path / "store.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    for used in (Store, Results):
        with pytest.raises(HarnessError, match=r"schema 99.*expected another folder \(--out\)"):
            used(tmp_path)


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_text("mine, and long enough to be taken for a header of a database " * 10)
    before = (tmp_path / "store.sqlite").read_bytes()
    with pytest.raises(HarnessError, match="cannot be used as a tournament's store"):
        Store(tmp_path)
    assert (tmp_path / "store.sqlite").read_bytes() == before
    with pytest.raises(HarnessError, match="holds no tournament"):
        Results(tmp_path / "nowhere")
    with pytest.raises(HarnessError, match="cannot be made"):
        Store(tmp_path / "store.sqlite" / "below")


@pytest.mark.parametrize(
    "odd",
    [
        lambda folder: (folder / "store.sqlite").mkdir(),
        lambda folder: (folder / "store.sqlite").symlink_to("/nowhere/at/all"),
        lambda folder: (folder / "store.sqlite").symlink_to(folder / "store.sqlite"),
        lambda folder: (folder / "sessions" / "making").mkdir(parents=True),
    ],
    ids=["a folder", "a dangling link", "a link to itself", "a folder where the lock belongs"],
)
def test_odd_things_where_the_store_belongs_are_refused_in_a_sentence(tmp_path: Path, odd: Callable[..., None]) -> None:
    odd(tmp_path)
    with pytest.raises(HarnessError, match=r"expected a plain file"):
        Store(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET about = '{'",
        "UPDATE sessions SET about = '5'",
        """UPDATE sessions SET about = replace(about, 'resamples', 'resembles')""",
        "UPDATE runs SET seconds = 'long'",
        "UPDATE runs SET measures = '['",
        "UPDATE runs SET measures = NULL",
        """UPDATE runs SET measures = '{"mean_wait": "long"}'""",
        "DROP TABLE runs",
    ],
)
def test_a_store_with_something_else_in_it_is_refused_in_a_sentence(tmp_path: Path, statement: str) -> None:
    store = begun(tmp_path)
    store.claim(A)
    store.finish(A, GOOD)
    store.database.execute(statement)
    store.database.close()
    with pytest.raises(HarnessError, match=r"store\.sqlite: cannot be used as a tournament's store") as refused:
        Results(tmp_path).frame()
    assert "\n" not in str(refused.value)


def test_a_process_that_stopped_while_it_opened_or_wrote_the_store_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process waits for it for a while, and then says what it waited for."""
    monkeypatch.setattr("harness.experiment.store._PATIENCE", 0.2)
    other = begun(tmp_path)
    with other._making(), pytest.raises(HarnessError, match=r"making: another process has locked it.*fuser -v"):
        Store(tmp_path)
    other.database.execute("BEGIN IMMEDIATE")
    store = Store(tmp_path)
    with pytest.raises(HarnessError, match="another process has written to it"):
        store.begin(ABOUT, WANTED)
    other.database.execute("ROLLBACK")
    for one in (store, other):
        one.close()


def test_an_empty_file_is_no_store_yet(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").touch()
    with pytest.raises(HarnessError, match="holds no tournament"):
        Results(tmp_path)
    begun(tmp_path).close()
    assert Results(tmp_path).planned == 3


def test_nothing_has_run_yet(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with pytest.raises(HarnessError, match="no run has been started there yet"):
        Results(tmp_path)


def test_a_file_that_goes_bad_while_it_is_used_is_refused_in_a_sentence(tmp_path: Path) -> None:
    def used() -> None:
        with open_store(tmp_path) as t:
            t.begin(ABOUT, WANTED)
            t.database.execute("DROP TABLE runs")  # which closing the session wants

    with pytest.raises(HarnessError, match=r"cannot be used as a tournament's store"):
        used()
    begun(tmp_path / "again").close()
