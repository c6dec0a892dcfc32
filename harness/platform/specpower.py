"""SPECpower_ssj2008 results in SPEC's own export: servers measured at eleven loads."""

import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import HarnessError
from harness.platform.machine import NodeType
from harness.platform.rows import Table, number, read_rows
from harness.platform.servers import Server, Servers
from harness.platform.validation import LOADS

_WATTS = ("average watts active idle", *(f"average watts {load} of target load" for load in LOADS[1:]))
_OPS = "ssj ops 100 of target load"
_NUMBERS = ("nodes", "result", "cores", "chips", "cores per chip", "memory gb", _OPS, *_WATTS)
_FACTS = ("hardware vendor", "system", "processor")

_RESULT = re.compile(r"power_ssj2008-\d{8}-\d+")


def read_spec(path: str | Path) -> Servers:
    """Read SPEC's export. Every row becomes a node type, or is refused with a reason.

    A result for several nodes becomes a node type with one node's share of cores, memory, operations and watts,
    including those of the common chassis. Its name contains the number of nodes.
    """
    return spec_servers(read_rows(path))


def is_spec(table: Table) -> bool:
    """Return whether the header is that of SPEC's export."""
    return _WATTS[0] in map(_plain, table.header)


def spec_servers(table: Table) -> Servers:
    """Return the servers of a table with SPEC's header."""
    # SPEC writes 90 names over 88 fields. The surplus names are at the end, behind all columns used here.
    table = Table(table.path, tuple(map(_plain, table.header)), table.records)
    for column in (*_FACTS, *_NUMBERS):
        if column not in table.header:
            raise HarnessError(f"{table.path}: expected SPEC's export of power_ssj2008, but no column is {column!r}")
    servers = Servers(table.path, {}, {})
    results: dict[str, int] = {}
    for row, fields in table.rows():
        result = _RESULT.search(" ".join(fields.values()))
        key = result.group().removeprefix("power_ssj2008-") if result else ""
        vendor, system, processor = (fields.get(fact, "") for fact in _FACTS)
        server = Server(row, vendor, system, processor, key, fields.get("nodes", ""))
        try:
            if key and results.setdefault(key, row) != row:
                raise ValueError(f"it repeats the result of row {results[key]}")
            servers.types[server] = _node(fields)
        except (ValueError, HarnessError) as error:
            servers.refused[server] = str(error)
    return servers


def _plain(name: str) -> str:
    """Return a column name in lower case with single blanks, since spellings differ between exports."""
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()


def _node(fields: Mapping[str, str]) -> NodeType:
    known = {column: _number(fields, column) for column in _NUMBERS}
    nodes, cores, chips, per_chip = (known[column] for column in ("nodes", "cores", "chips", "cores per chip"))
    if known["result"] == 0:
        raise ValueError("SPEC found the result non-compliant (result 0)")
    for column in ("nodes", "cores", "memory gb", _OPS, *_WATTS):
        if known[column] <= 0:
            raise ValueError(f"{column}: {fields[column]}, expected above 0")
    if cores != chips * per_chip:
        raise ValueError(f"it contradicts itself: {cores:g} cores on {chips:g} chips of {per_chip:g} cores")
    if nodes % 1 or cores % nodes:
        raise ValueError(f"{cores:g} cores cannot be divided among {nodes:g} nodes")
    return NodeType(
        count=1,
        cores=int(cores / nodes),
        ops=known[_OPS] / nodes,
        memory=known["memory gb"] / nodes * 1024**2,
        curve=tuple(known[column] / nodes for column in _WATTS),
        name=fields["system"] + (f" (1 of {nodes:g} nodes)" if nodes > 1 else ""),
    )


def _number(fields: Mapping[str, str], column: str) -> float:
    if column not in fields:
        raise ValueError(f"the row ends before {column}")
    try:
        return number(fields[column])
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from error
