"""Platforms in TOML: node types taken from a table of servers, or described one by one."""

import math
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.disk.stored import stored_bytes, toml_of
from harness.errors import HarnessError, did_you_mean
from harness.platform.finding import find_platform
from harness.platform.machine import NodeType, PerformanceState, Platform, SleepState
from harness.platform.server_tables import read_servers
from harness.platform.servers import Servers
from harness.platform.validation import quoted
from harness.platform.windows import read_windows, with_windows


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Performance(_Keys):
    rate: float
    idle: float
    peak: float


class _Sleep(_Keys):
    """A way to sleep. Every key is required, so that no transition is free because its energy was forgotten."""

    name: str
    watts: float
    down: float
    up: float
    down_energy: float
    up_energy: float


class _Pick(_Keys):
    row: int | None = None
    vendor: str | None = None
    system: str | None = None
    processor: str | None = None
    result: str | None = None


class _Nodes(_Pick):
    count: int = 1
    name: str | None = None
    cores: int | None = None
    ops: float | None = None
    memory_gb: float | None = None
    idle: float | None = None
    peak: float | None = None
    curve: list[float] | None = None
    partition: int | None = None
    performance: list[_Performance] | None = None
    sleep: list[_Sleep] | None = None
    features: list[str] | None = None
    resources: dict[str, int] | None = None
    partitions: list[int | str] | None = None


class _Description(_Keys):
    about: str = ""
    table: str | None = None
    licences: dict[str, int] = Field(default_factory=dict)
    reservations: str | None = None
    nodes: list[_Nodes] = Field(min_length=1)


#: Table in the file → its keys; "" is the file itself.
_KEYS: dict[str, type[_Keys]] = {"": _Description, "nodes": _Nodes, "performance": _Performance, "sleep": _Sleep}


def read_description(path: str | Path) -> Platform:
    """Read a description of a platform in TOML."""
    path = Path(path)
    content = toml_of(stored_bytes(path, "a platform"), path, "TOML")
    try:
        description = _Description.model_validate(content)
    except ValidationError as error:
        raise HarnessError(f"{path}: {_sentence(error)}") from error
    try:
        servers = read_servers(find_platform(description.table, path.parent)) if description.table else None
    except HarnessError as error:
        raise HarnessError(f"{path}, table = {quoted(description.table)}: {error}") from error
    types = []
    for number, nodes in enumerate(description.nodes, start=1):
        try:
            types.append(_node_type(nodes, servers))
        except HarnessError as error:
            raise HarnessError(f"{path}, nodes {number}: {error}") from error
    platform = Platform(path.stem, tuple(types), description.about, licences=description.licences)
    if description.reservations is None:
        return platform
    return with_windows(platform, read_windows(path.parent / description.reservations))


def _node_type(nodes: _Nodes, servers: Servers | None) -> NodeType:
    """Return the node type of the row that the keys select, or of a number of cores, changed by the other keys."""
    keys = {key: value for key, value in nodes if value is not None}
    facts = {key: keys.pop(key) for key in _Pick.model_fields if key in keys}
    if not facts and nodes.cores is None:
        raise HarnessError(f"expected cores, or {', '.join(_Pick.model_fields)} to select a row of a table")
    if facts and servers is None:
        raise HarnessError(f"{next(iter(facts))} selects a row; expected a table of servers, above the first [[nodes]]")
    base = servers.pick(facts) if facts and servers else NodeType(1, nodes.cores or 1)
    if "memory_gb" in keys:
        keys["memory"] = keys.pop("memory_gb") * 1024**2
    if "curve" in keys:
        keys = {"idle": math.nan, "peak": math.nan} | keys  # replaces those of the row's curve
    for key, state in (("performance", PerformanceState), ("sleep", SleepState)):
        if key in keys:
            keys[key] = tuple(state(**dict(one)) for one in keys[key])
    return replace(base, **keys)


def _sentence(error: ValidationError) -> str:
    """Return a message about one error, an unknown key before a missing one: place, error, and expected input."""
    first = min(error.errors(), key=lambda mistake: mistake["type"] != "extra_forbidden")
    *tables, last = first["loc"]
    # ("nodes", 1, "sleep", 0, "watts") becomes "nodes 2, sleep 1, watts".
    parts = (f" {part + 1}" if isinstance(part, int) else f", {part}" for part in first["loc"])
    where = "".join(parts).removeprefix(", ")
    above = where.removesuffix(f", {last}") if tables else "the file"
    if first["type"] == "extra_forbidden":
        known = _KEYS[next((part for part in reversed(tables) if isinstance(part, str)), "")]
        return f"{above}: there is no key {quoted(last)}; {did_you_mean(str(last), known.model_fields)}"
    if first["type"] == "missing":
        return f"{above}: expected the key {last!r}"
    if first["type"] == "list_type" and last in _KEYS:
        return f"{where}: expected a list of tables, each headed [[…{last}]]"
    return f"{where} = {quoted(first['input'])}: {first['msg'].replace('Input should be', 'expected')}"
