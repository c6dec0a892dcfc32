"""The results of a field on disk: one SQLite file that two processes may share and any may be killed over.

A run is written in one transaction when it has finished; before it starts, whoever will do it claims it. A claim
names a session, and a session holds a lock on a file of its own for as long as its process lives: the system lets
go of it however the process ends, and then its claims are free for others. The write-ahead log wants all processes
on one machine; Dask's workers elsewhere never open the store.
"""

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness.disk.atomic import replacing
from harness.errors import HarnessError
from harness.experiment.execution import Finished
from harness.experiment.field import PARTS
from harness.present.json_text import finite

#: Raised whenever the tables below change.
SCHEMA = 3

_TABLES = f"""
CREATE TABLE sessions (          -- every time a field was started or resumed
    session INTEGER PRIMARY KEY AUTOINCREMENT,
    lock TEXT NOT NULL,          -- the file that its process holds
    over INTEGER NOT NULL DEFAULT 0,
    started REAL NOT NULL,       -- [s since 1970]
    finished REAL,
    about TEXT NOT NULL          -- JSON: field, command, versions, machine, workloads, platforms
);
CREATE TABLE plan (              -- the runs that a session wants, in the order of its field
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    identity TEXT NOT NULL,
    workload TEXT NOT NULL,
    platform TEXT NOT NULL,
    variation INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    {" ".join(f'"{part}" TEXT NOT NULL,' for part in PARTS)}
    PRIMARY KEY (session, place)
) WITHOUT ROWID;
CREATE TABLE runs (              -- what came of them, whoever wanted them
    identity TEXT PRIMARY KEY,
    status TEXT NOT NULL,        -- running, done, failed
    session INTEGER NOT NULL,    -- who claimed it
    jobs INTEGER,
    seconds REAL,                -- simulation alone
    error TEXT,
    measures TEXT,               -- JSON, null where there is no number
    schedule_digest TEXT,
    started REAL,
    finished REAL,
    worker TEXT                  -- the machine it ran on
) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA};
"""

#: Open claims, and failures: what a later session may do anew, once the session that left it is over.
_CLAIM = """
INSERT INTO runs (identity, status, session) VALUES (?, 'running', ?)
ON CONFLICT (identity) DO UPDATE SET status = 'running', session = excluded.session, error = NULL
WHERE runs.status <> 'done' AND runs.session IN (SELECT session FROM sessions WHERE over)
"""

_FINISH = """
UPDATE runs SET status = ?, jobs = ?, seconds = ?, error = ?, measures = ?, schedule_digest = ?, started = ?,
finished = ?, worker = ? WHERE identity = ?
"""


class Store:
    """A folder of results: `store.sqlite`, and `schedules/` if they are kept."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "store.sqlite"
        self.session = 0
        self._lock: FileLock | None = None
        self._making = FileLock(self.folder / "sessions" / "making")
        if create:
            _make(self.folder)
        with self.refusing(OSError, ValueError):
            if not create and not self.path.is_file():
                raise HarnessError(f"{folder}: holds no tournament: expected a folder with {self.path.name}")
            self.database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                # While one process turns the log on, SQLite refuses others and does not let them wait.
                with self._making if create else nullcontext():
                    self._open(create)
            except BaseException:
                self.database.close()
                raise

    @contextmanager
    def refusing(self, *others: type[Exception]) -> Iterator[None]:
        """Say that the store cannot be used where SQLite raises within the block, or one of the `others` is raised."""
        refused: tuple[type[Exception], ...] = (sqlite3.Error, *others)
        try:
            yield
        except refused as error:
            what = " ".join(f"{error}".split())
            raise HarnessError(f"{self.path}: cannot be used as a tournament's store: {what}") from error

    def _open(self, create: bool) -> None:
        (schema,) = self.database.execute("PRAGMA user_version").fetchone()
        (tables,) = self.database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if create and not tables:
            # A kill of the process loses nothing that was committed; a power cut may lose the last moments.
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.executescript(f"BEGIN; {_TABLES} COMMIT;")
        elif schema != SCHEMA:
            raise HarnessError(
                f"{self.path}: a store of schema {schema}, and this harness keeps schema {SCHEMA}: expected another "
                "folder (--out), or the version of the harness that made this one"
            )
        self.database.execute("PRAGMA synchronous = NORMAL")

    # ------------------------------------------------------------ a session

    def begin(self, about: dict[str, Any], wanted: Iterable[tuple[Any, ...]]) -> None:
        """Start a session that wants these runs, each (identity, workload, platform, variation, seed, *policies)."""
        name = secrets.token_hex(8)
        self._lock = FileLock(self.folder / "sessions" / name)
        with self._making:  # between a session's file and its row here nobody else looks
            self._lock.acquire()
            self.bury()
            self._tidy(name)
            with self._transaction():
                self.database.execute("DELETE FROM plan WHERE session IN (SELECT session FROM sessions WHERE over)")
                insert = "INSERT INTO sessions (lock, started, about) VALUES (?, ?, ?)"
                cursor = self.database.execute(insert, (name, time.time(), json.dumps(about)))
                self.session = int(cursor.lastrowid or 0)
                rows = ((self.session, place, *run) for place, run in enumerate(wanted))
                marks = ", ".join("?" * (7 + len(PARTS)))
                self.database.executemany(f"INSERT INTO plan VALUES ({marks})", rows)

    def bury(self) -> None:
        """Find out which sessions are over because their processes are: their claims are free."""
        living = self.database.execute("SELECT session, lock FROM sessions WHERE NOT over").fetchall()
        for session, name in living:
            if session != self.session and _let_go(self.folder / "sessions" / name):
                self.database.execute("UPDATE sessions SET over = 1 WHERE session = ?", (session,))

    def _tidy(self, mine: str) -> None:
        """Remove the files of processes that were killed before they had a session, or after."""
        living = self.database.execute("SELECT lock FROM sessions WHERE NOT over").fetchall()
        kept = {mine, Path(self._making.lock_file).name, *(name for (name,) in living)}
        for path in (self.folder / "sessions").iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def settled(self) -> set[str]:
        """Return the runs that need not be done: those in the store, and what just failed in a session at work."""
        failed = "status = 'failed' AND session IN (SELECT session FROM sessions WHERE NOT over)"
        return {
            identity
            for (identity,) in self.database.execute(f"SELECT identity FROM runs WHERE status = 'done' OR {failed}")
        }

    def claim(self, identity: str) -> bool:
        """Make a run this session's to do; False if it is done, or another's."""
        return self.database.execute(_CLAIM, (identity, self.session)).rowcount == 1

    def finish(self, identity: str, run: Finished) -> None:
        """Write down what came of a run, its schedule first: who finds the run finds its schedule."""
        if run.kept is not None:
            path = schedule_path(self.folder, identity)
            with self.refusing(OSError):
                path.parent.mkdir(exist_ok=True)
                with replacing(path) as temporary:
                    temporary.write_bytes(run.kept)
        status = "failed" if run.error else "done"
        self.database.execute(
            _FINISH,
            (
                *(status, run.jobs, run.seconds, run.error, json.dumps(finite(run.measures)), run.schedule_digest),
                *(run.started, run.finished, run.worker, identity),
            ),
        )

    def close(self) -> None:
        """End the session, if one was begun; what it had claimed and not finished is free again."""
        try:
            if self.session:
                with self._transaction():
                    mine = (self.session,)
                    self.database.execute("DELETE FROM runs WHERE status = 'running' AND session = ?", mine)
                    self.database.execute(
                        "UPDATE sessions SET over = 1, finished = ? WHERE session = ?", (time.time(), *mine)
                    )
        finally:
            self.database.close()
            if self._lock is not None:
                self._lock.release()
                Path(self._lock.lock_file).unlink(missing_ok=True)
            self.session, self._lock = 0, None

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
def opened(folder: str | os.PathLike[str], *, create: bool = False) -> Iterator[Store]:
    """Open the store in a folder, and close it in the end."""
    store = Store(folder, create=create)
    with store.refusing():
        try:
            yield store
        finally:
            store.close()


def schedule_path(folder: Path, identity: str) -> Path:
    """Return the path of the schedule of a run, if it is kept."""
    return folder / "schedules" / f"{identity}.parquet"


def _make(folder: Path) -> None:
    try:
        (folder / "sessions").mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise HarnessError(f"{folder}: cannot be made: {getattr(error, 'strerror', error)}") from error


def _let_go(path: Path) -> bool:
    """Return whether nobody holds the lock on a file any more."""
    if not path.exists():
        return True
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        return False
    lock.release()
    path.unlink(missing_ok=True)
    return True
