"""The results of a field on disk: one SQLite file that several processes share, and that a kill does not damage.

A finished run is written in one transaction. Before a run starts, a session claims it. A session locks a file of its
own while its process lives. The system releases the lock when the process ends in any way, and then other sessions may
claim its unfinished runs. The write-ahead log needs all processes on one machine; Dask's workers elsewhere never open
the store.
"""

import json
import os
import secrets
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.disk.own_folder import OwnFolder
from harness.errors import HarnessError
from harness.experiment.execution import Finished
from harness.experiment.field import PARTS
from harness.experiment.store_tables import TABLES, check_schema, checked_runs, checked_sessions
from harness.present.json_text import finite

#: The name of the store, and the files that SQLite may put next to it. A rollback journal is not among these: the
#: store never has one, and reading one back deletes the file that it names.
_STORE = "store.sqlite"
_FILES = (_STORE, f"{_STORE}-wal", f"{_STORE}-shm")

#: The longest wait for another process that is opening the store or writing to it [s].
_PATIENCE = 60.0

#: A session may claim the unfinished and failed runs of sessions that are over.
_CLAIM = """
INSERT INTO runs (identity, status, session, started) VALUES (?, 'running', ?, ?)
ON CONFLICT (identity) DO UPDATE
SET status = 'running', session = excluded.session, started = excluded.started, error = NULL
WHERE runs.status <> 'done' AND runs.session IN (SELECT session FROM sessions WHERE over)
"""

_FINISH = """
UPDATE runs SET status = ?, jobs = ?, seconds = ?, error = ?, measures = ?, schedule_digest = ?, started = ?,
finished = ?, worker = ?, plugins = ? WHERE identity = ?
"""

_HOLDERS = """
SELECT process, machine, count(*), min(runs.started) FROM runs JOIN sessions USING (session)
WHERE status = 'running' AND session <> ? GROUP BY session
"""


@dataclass(frozen=True)
class Holder:
    """A process that has claimed runs of the store."""

    process: int
    machine: str
    runs: int
    since: float  # [s since 1970]


class Store:
    """A folder of results as a tournament writes it: `store.sqlite`, and `schedules/` if they are kept."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / _STORE
        self.session = 0
        self._lock: tuple[str, int] | None = None
        with ExitStack() as undo:
            try:
                self._own = OwnFolder(folder, create=True)
                undo.callback(self._own.close)
                self._sessions = OwnFolder("sessions", self._own, create=True)
                undo.callback(self._sessions.close)
            except (OSError, ValueError) as error:
                raise HarnessError(f"{folder}: cannot be made: {getattr(error, 'strerror', error)}") from error
            with as_user_errors(self.path, OSError, ValueError):
                with self._making():
                    if not _plain(self._own):
                        self._own.write(_STORE, _new_store())
                self.database = _connected(self.path)
                undo.callback(self.database.close)
                check_schema(self.database)
                # A kill of the process loses nothing that was committed; a power cut may lose the last moments.
                self.database.execute("PRAGMA synchronous = NORMAL")
            self._undo = undo.pop_all()

    @contextmanager
    def _making(self) -> Iterator[None]:
        """Hold the lock that a process needs to make the store or to begin a session in it."""
        until = time.monotonic() + _PATIENCE
        while (held := self._sessions.lock("making", create=True)) is None:
            if time.monotonic() > until:
                path = self._sessions.path / "making"
                raise HarnessError(
                    f"{path}: another process has locked it for {_PATIENCE:.0f} s: expected it to go on, or to be "
                    f"ended (fuser -v {path} names it)"
                )
            time.sleep(0.02)
        try:
            yield
        finally:
            os.close(held)

    # ------------------------------------------------------------ a session

    def begin(self, about: dict[str, Any], wanted: Iterable[tuple[Any, ...]]) -> None:
        """Start a session with these runs, each (identity, workload, platform, variation, seed, *policies)."""
        name = secrets.token_hex(8)
        with self._making(), as_user_errors(self.path, OSError, ValueError):
            held = self._sessions.lock(name, create=True)
            assert held is not None  # the name is new
            self._lock = name, held
            self.mark_ended_sessions()
            for _ in checked_runs(self.database):
                pass
            self._tidy(name)
            with self._transaction():
                self._forget_plans(about["field"])
                insert = "INSERT INTO sessions (lock, process, machine, started, about) VALUES (?, ?, ?, ?, ?)"
                values = (name, os.getpid(), socket.gethostname(), time.time(), json.dumps(about))
                self.session = int(self.database.execute(insert, values).lastrowid or 0)
                rows = ((self.session, place, *run) for place, run in enumerate(wanted))
                marks = ", ".join("?" * (7 + len(PARTS)))
                self.database.executemany(f"INSERT INTO plan VALUES ({marks})", rows)

    def mark_ended_sessions(self) -> None:
        """Mark the sessions of ended processes, so that others may claim their runs."""
        for session in checked_sessions(self.database):
            if not session.over and session.session != self.session and self._ended(session.lock):
                self.database.execute("UPDATE sessions SET over = 1 WHERE session = ?", (session.session,))

    def _ended(self, lock: str) -> bool:
        try:
            held = self._sessions.lock(lock)
        except FileNotFoundError:
            return True
        if held is None:
            return False
        os.close(held)
        self._sessions.remove_lock(lock)
        return True

    def _tidy(self, mine: str) -> None:
        living = {session.lock for session in checked_sessions(self.database) if not session.over}
        for name in self._sessions.names():
            if name != mine and name not in living:
                self._sessions.remove_lock(name)

    def _forget_plans(self, field: dict[str, Any]) -> None:
        """Delete the plans that no reader shows: those of ended sessions, except each other field's last session."""
        sessions = checked_sessions(self.database)
        last = {session.about.field.model_dump_json(): session.session for session in sessions}
        kept = {number for text, number in last.items() if json.loads(text) != field}
        for session in sessions:
            if session.over and session.session not in kept:
                self.database.execute("DELETE FROM plan WHERE session = ?", (session.session,))

    def completed_runs(self) -> set[str]:
        """Return the runs that need not be done: finished ones, and those that just failed in a session that still
        runs.
        """
        failed = "status = 'failed' AND session IN (SELECT session FROM sessions WHERE NOT over)"
        return {
            identity
            for (identity,) in self.database.execute(f"SELECT identity FROM runs WHERE status = 'done' OR {failed}")
        }

    def claim(self, identity: str) -> bool:
        """Claim a run for this session; return False if it is done, or claimed by another session."""
        return self.database.execute(_CLAIM, (identity, self.session, time.time())).rowcount == 1

    def holders(self) -> list[Holder]:
        """Return the other processes that have claimed runs."""
        return [Holder(*row) for row in self.database.execute(_HOLDERS, (self.session,))]

    def finish(self, identity: str, run: Finished, plugins: Iterable[Iterable[str]] = ()) -> None:
        """Write the result of a run, its schedule first: a reader that finds the run finds its schedule.

        `plugins` are the names and digests of the plugins in the process of the run, without the bundled ones.
        """
        if run.kept is not None:
            path = schedule_path(self.folder, identity)
            with as_user_errors(self.path, OSError):
                schedules = OwnFolder(path.parent.name, self._own, create=True)
                try:
                    schedules.write(path.name, run.kept)
                finally:
                    schedules.close()
        status = "failed" if run.error else "done"
        self.database.execute(
            _FINISH,
            (
                *(status, run.jobs, run.seconds, run.error, json.dumps(finite(run.measures)), run.schedule_digest),
                *(run.started, run.finished, run.worker, json.dumps([*plugins]), identity),
            ),
        )

    def close(self) -> None:
        """End the session; the runs that it claimed and did not finish become free."""
        try:
            if self.session:
                with self._transaction():
                    mine = (self.session,)
                    self.database.execute("DELETE FROM runs WHERE status = 'running' AND session = ?", mine)
                    self.database.execute(
                        "UPDATE sessions SET over = 1, finished = ? WHERE session = ?", (time.time(), *mine)
                    )
        finally:
            if self._lock is not None:
                name, held = self._lock
                os.close(held)
                self._sessions.remove_lock(name)
            self.session, self._lock = 0, None
            self._undo.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")


@contextmanager
def open_store(folder: str | os.PathLike[str]) -> Iterator[Store]:
    """Open the store in a folder, create it if necessary, and close it at the end."""
    store = Store(folder)
    with as_user_errors(store.path):
        try:
            yield store
        finally:
            store.close()


@contextmanager
def open_read_only(folder: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open the store in a folder for reading, also on a read-only file system, and close it at the end."""
    path = Path(folder) / _STORE
    with ExitStack() as undo, as_user_errors(path, OSError, ValueError, TypeError, AttributeError):
        try:
            own = OwnFolder(folder)
        except (OSError, ValueError):
            raise HarnessError(f"{folder}: holds no tournament: expected a folder with {_STORE}") from None
        undo.callback(own.close)
        if not _plain(own):
            raise HarnessError(f"{folder}: holds no tournament: expected a folder with {_STORE}")
        if not (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
            # SQLite reads a write-ahead log only where it may write next to it.
            path = _copied(path, Path(undo.enter_context(tempfile.TemporaryDirectory())))
        database = _connected(path)
        undo.callback(database.close)
        database.execute("PRAGMA query_only = ON")
        check_schema(database)
        yield database


@contextmanager
def as_user_errors(path: Path, *others: type[Exception]) -> Iterator[None]:
    """Raise `HarnessError` if SQLite raises an error within the block, or one of the `others` is raised."""
    refused: tuple[type[Exception], ...] = (sqlite3.Error, *others)
    try:
        yield
    except HarnessError:
        raise
    except refused as error:
        what = " ".join(f"{error}".split())
        if isinstance(error, sqlite3.OperationalError) and "locked" in what:
            what = f"another process has written to it for {_PATIENCE:.0f} s: expected it to go on, or to be ended"
        raise HarnessError(f"{path}: cannot be used as a tournament's store: {what}") from error


def schedule_path(folder: Path, identity: str) -> Path:
    """Return the path of the schedule of a run."""
    return folder / "schedules" / f"{identity}.parquet"


def _plain(own: OwnFolder) -> bool:
    """Return whether a folder has a store; refuse links, and files that SQLite would follow to others."""
    if own.size(f"{_STORE}-journal"):
        raise ValueError(f"{_STORE}-journal: a tournament's store has no rollback journal: expected no such file")
    sizes = [own.size(name) for name in _FILES]
    return sizes[0] > 0


def _new_store() -> bytes:
    """Return the content of an empty store. It is made in another folder: here it never has a rollback journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _STORE
        database = sqlite3.connect(path, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(f"BEGIN; {TABLES} COMMIT;")
        finally:
            database.close()
        return path.read_bytes()


def _connected(path: Path) -> sqlite3.Connection:
    """Open an existing store; functions and tables that its schema names are not trusted."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    database = sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
    except BaseException:
        database.close()
        raise
    return database


def _copied(path: Path, folder: Path) -> Path:
    """Copy a store to a folder, with its write-ahead log, as both were at one instant."""
    sources = [path, path.with_name(f"{_STORE}-wal")]
    until = time.monotonic() + _PATIENCE
    while True:
        before = [_stamp(source) for source in sources]
        for source in sources:
            (folder / source.name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(source, folder / source.name, follow_symlinks=False)
        if before == [_stamp(source) for source in sources]:
            return folder / path.name
        if time.monotonic() > until:
            raise HarnessError(f"{path}: is being written: expected it at rest, as it cannot be locked from here")
        time.sleep(0.1)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes whenever the file is written, or None if there is no such file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
