"""The small SPEC table of the PEAS paper: one row per server, its speed and power at full load only."""

import math
from pathlib import Path
from typing import Any

import pandas as pd

from harness.errors import HarnessError, did_you_mean
from harness.platform.platform import NodeType, Platform

COLUMNS = ("Vendor", "Processor", "#Chips", "#Cores/Chip", "RAM (GB)", "OPS@100%Load", "Watts@100%Load")


def read_small_table(path: str | Path, *, whole_watts: bool = False) -> Platform:
    """Read the table. With `whole_watts`, the watts of one core are rounded down to a whole number.

    The printed energies of the PEAS paper come out only so: its authors evidently divided whole numbers.
    """
    try:
        table = pd.read_csv(path, skipinitialspace=True)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise HarnessError(f"{path}: cannot be read as a table of servers: {error}") from error
    for column in table.columns:
        if column not in COLUMNS:
            raise HarnessError(f"{path}: unknown column {column!r}; {did_you_mean(column, COLUMNS)}")
    missing = [column for column in COLUMNS if column not in table.columns]
    if missing:
        raise HarnessError(f"{path}: expected a column {missing[0]!r}")
    servers = []
    for line, row in enumerate(table.to_dict("records"), start=2):
        try:
            servers.append(_server(row, whole_watts))
        except (ValueError, TypeError, OverflowError, HarnessError) as error:
            raise HarnessError(f"{path}, line {line}: {error}; expected positive numbers after the names") from error
    return Platform(Path(path).stem + ("(whole_watts=true)" if whole_watts else ""), tuple(servers))


def _server(row: dict[Any, Any], whole_watts: bool) -> NodeType:
    chips, cores, memory, ops, watts = (float(str(row[column])) for column in COLUMNS[2:])
    if not all(value > 0 for value in (chips, cores, memory, ops, watts)):
        raise ValueError("a number is missing or not above 0")
    cores = int(chips) * int(cores)
    peak = math.floor(watts / cores) * cores if whole_watts else watts
    return NodeType(1, cores, ops=ops, memory=memory * 1024 * 1024, peak=float(peak))
