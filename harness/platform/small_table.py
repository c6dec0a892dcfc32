"""The small table of the PEAS paper: one row per server, with speed and power at full load only."""

import math
from collections.abc import Mapping

from harness.errors import HarnessError, did_you_mean, shown_name
from harness.platform.machine import MOST_CORES, NodeType
from harness.platform.rows import Table, number
from harness.platform.servers import Server, Servers

COLUMNS = ("Vendor", "Processor", "#Chips", "#Cores/Chip", "RAM (GB)", "OPS@100%Load", "Watts@100%Load")


def small_table_servers(table: Table, *, whole_watts: bool = False, whole_ops: bool = False) -> Servers:
    """Read the servers of the table. The watts or operations per second of a core may be rounded down.

    Only this rounding gives the printed figures of the PEAS paper, so its authors probably divided integers.
    """
    for column in table.header:
        if column not in COLUMNS:
            raise HarnessError(f"{table.path}: unknown column {shown_name(column)}; {did_you_mean(column, COLUMNS)}")
    for column in COLUMNS:
        if column not in table.header:
            raise HarnessError(f"{table.path}: expected a column {column!r}")
    servers = Servers(table.path, {}, {})
    for row, fields in table.rows():
        try:
            node = _node(fields, whole_watts, whole_ops)
        except ValueError as error:
            raise HarnessError(f"{table.path}, row {row}: {error}") from error
        servers.types[Server(row, vendor=fields["Vendor"], processor=fields["Processor"])] = node
    return servers


def _node(fields: Mapping[str, str], whole_watts: bool, whole_ops: bool) -> NodeType:
    chips, per_chip, memory, ops, watts = (_above_zero(fields, column) for column in COLUMNS[2:])
    cores = chips * per_chip
    if chips % 1 or per_chip % 1 or cores > MOST_CORES:
        raise ValueError(
            f"{chips:g} chips of {per_chip:g} cores; expected whole numbers, and at most {MOST_CORES:,} cores"
        )
    peak = math.floor(watts / cores) * cores if whole_watts else watts
    ops = math.floor(ops / cores) * cores if whole_ops else ops
    return NodeType(1, int(cores), ops=ops, memory=memory * 1024**2, peak=peak, name=fields["Processor"])


def _above_zero(fields: Mapping[str, str], column: str) -> float:
    try:
        value = number(fields.get(column, ""))
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from error
    if value <= 0:
        raise ValueError(f"{column}: {value:g}, expected above 0")
    return value
