"""The tables of a store, and the check that a store holds these tables and the content that this program writes.

A store may come from another person. The text of its schema must be that of a new store: so it has no views,
triggers, virtual tables, generated columns or further tables. Rows are read through the models below.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Json, NonNegativeInt, ValidationError

from harness.disk.own_folder import LOCK_NAME
from harness.experiment.field import PARTS

#: Raised whenever the tables below change.
SCHEMA = 4

TABLES = f"""
CREATE TABLE sessions (          -- one row for each start or resumption of a field
    session INTEGER PRIMARY KEY AUTOINCREMENT,
    lock TEXT NOT NULL,          -- the name of the file that its process has locked
    over INTEGER NOT NULL DEFAULT 0,
    process INTEGER NOT NULL,    -- the number of its process
    machine TEXT NOT NULL,       -- the machine of its process
    started REAL NOT NULL,       -- [s since 1970]
    finished REAL,
    about TEXT NOT NULL          -- JSON: field, command, versions, machine, workloads, platforms
);
CREATE TABLE plan (              -- the runs of a session, in the order of its field
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
CREATE TABLE runs (              -- the results of runs, of all sessions
    identity TEXT PRIMARY KEY,
    status TEXT NOT NULL,        -- running, done, failed
    session INTEGER NOT NULL,    -- the session that claimed it
    jobs INTEGER,
    seconds REAL,                -- simulation alone
    error TEXT,
    measures TEXT,               -- JSON, null where there is no number
    schedule_digest TEXT,
    started REAL,                -- of a running one, when it was claimed
    finished REAL,
    worker TEXT,                 -- the machine it ran on
    plugins TEXT                 -- JSON: name and digest of each plugin in its process, without the bundled ones
) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA};
"""

Model = TypeVar("Model", bound=BaseModel)

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Time = Annotated[float, Field(allow_inf_nan=False)]
_Name = Annotated[str, Field(max_length=10_000)]


class _Row(BaseModel):
    """A row of a table, or a part of the JSON of a session; values are not converted, and unknown keys are refused."""

    model_config = ConfigDict(strict=True, extra="forbid")


class RunRow(_Row):
    """A row of `runs`."""

    identity: _Digest
    status: Literal["running", "done", "failed"]
    session: int
    jobs: NonNegativeInt | None
    seconds: _Time | None
    error: str | None
    measures: Json[dict[Annotated[str, Field(max_length=100)], _Time | None]] | None
    schedule_digest: _Digest | None
    started: _Time | None
    finished: _Time | None
    worker: str | None
    plugins: Json[list[Annotated[list[_Name], Field(min_length=2, max_length=2)]]] | None


class PlanRow(_Row):
    """A row of `plan`; `policies` holds its last columns."""

    session: int
    place: NonNegativeInt
    identity: _Digest
    workload: _Name
    platform: _Name
    variation: NonNegativeInt
    seed: NonNegativeInt
    policies: dict[str, _Name]


class _FieldAbout(_Row):
    name: _Name
    about: str
    text: str
    resamples: NonNegativeInt
    jobs: NonNegativeInt | None
    state: str | None


class _StepAbout(_Row):
    name: str
    jobs: NonNegativeInt
    detail: str


class _LogAbout(_Row):
    name: _Name
    source: str
    digest: str
    jobs: NonNegativeInt
    procs: NonNegativeInt | None
    users: NonNegativeInt
    preparation: list[_StepAbout]


class _MachineAbout(_Row):
    name: _Name
    digest: str
    nodes: NonNegativeInt
    procs: NonNegativeInt
    windows: NonNegativeInt


class _RefusedAbout(_Row):
    workload: _Name
    platform: _Name
    policies: dict[str, _Name]
    reason: str


class About(_Row):
    """How the results of a session were made, as stored by the session."""

    field: _FieldAbout
    command: str
    workers: str
    versions: dict[str, str]
    machine: dict[str, str | int | None]
    workloads: list[_LogAbout]
    platforms: list[_MachineAbout]
    parameters: dict[str, str]  # policy as shown → with all its parameters
    refused: list[_RefusedAbout]
    notices: list[str] = []  # warnings about the results


class SessionRow(_Row):
    """A row of `sessions`."""

    session: int
    lock: Annotated[str, Field(pattern=f"^{LOCK_NAME.pattern}$")]
    over: Literal[0, 1]
    process: NonNegativeInt
    machine: _Name
    started: _Time
    finished: _Time | None
    about: Json[About]


@cache
def _expected() -> dict[str, str]:
    """Return the text of every entry of the schema of a new store, by name."""
    database = sqlite3.connect(":memory:")
    try:
        database.executescript(TABLES)
        return dict(_entries(database))
    finally:
        database.close()


def _entries(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for kind, name, table, text in database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        yield str(name), f"{kind} on {table}: {text}"


def check_schema(database: sqlite3.Connection) -> None:
    """Refuse a database with other tables than those of a store, or with damaged pages."""
    (schema,) = database.execute("PRAGMA user_version").fetchone()
    if schema != SCHEMA:
        raise ValueError(
            f"a store of schema {schema}, and this harness keeps schema {SCHEMA}: expected another folder (--out), "
            "or the version of the harness that made this one"
        )
    expected = _expected()
    found = dict(_entries(database))
    for name in sorted(expected.keys() | found.keys()):
        if found.get(name) != expected.get(name):
            kind = "no" if name not in found else "an unknown" if name not in expected else "another"
            raise ValueError(f"it has {kind} table or view {name!r:.80}: expected the tables of harness tournament")
    (damage,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if damage != "ok":
        raise ValueError(f"{damage:.200}")


def checked_sessions(database: sqlite3.Connection) -> list[SessionRow]:
    """Return the rows of `sessions` in their order; refuse content that no session writes."""
    return [_checked(SessionRow, row) for row in _rows(database, "SELECT * FROM sessions ORDER BY session")]


def checked_runs(database: sqlite3.Connection, session: int | None = None) -> Iterator[RunRow]:
    """Yield the rows of `runs`, all or those that a session wants; refuse content that no run writes."""
    wanted = "" if session is None else " WHERE identity IN (SELECT identity FROM plan WHERE session = ?)"
    values = () if session is None else (session,)
    for row in _rows(database, f"SELECT * FROM runs{wanted}", values):
        found = _checked(RunRow, row)
        if found.status == "done" and (found.measures is None or found.jobs is None or found.schedule_digest is None):
            raise ValueError(f"runs: {found.identity}: it is done, and has no results")
        yield found


def checked_plan(database: sqlite3.Connection, session: SessionRow) -> Iterator[PlanRow]:
    """Yield the rows of `plan` of a session in their order; refuse those that it cannot have written."""
    workloads = {one.name for one in session.about.workloads}
    platforms = {one.name for one in session.about.platforms}
    for row in _rows(database, "SELECT * FROM plan WHERE session = ? ORDER BY place", (session.session,)):
        policies = {part: row.pop(part) for part in PARTS}
        found = _checked(PlanRow, {**row, "policies": policies})
        for what, name, known in (("workload", found.workload, workloads), ("platform", found.platform, platforms)):
            if name not in known:
                raise ValueError(f"plan: its session does not describe the {what} {name!r:.80}")
        yield found


def _rows(database: sqlite3.Connection, query: str, values: Iterable[Any] = ()) -> Iterator[dict[str, Any]]:
    cursor = database.execute(query, tuple(values))
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _checked(model: type[Model], row: Mapping[str, Any]) -> Model:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        table = model.__name__.removesuffix("Row").lower()
        where = ".".join(re.sub(r"[^\w.\[\]-]", "?", str(part))[:40] for part in first["loc"])
        raise ValueError(f"{table}: {where}: {first['msg']}; expected what harness tournament writes") from error
