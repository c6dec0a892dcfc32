"""Read a workload by name: the first plugin that recognises it reads it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.disk.data_search import data_folders, find_below, is_file_name
from harness.errors import HarnessError
from harness.policy.registry import plugins as load_plugins
from harness.policy.registry import read_by_plugins

if TYPE_CHECKING:
    from harness.workload.log import Log


def read_workload(source: str | Path, *, lenient: bool = False, plugins: Iterable[str | Path] = ()) -> "Log":
    """Read a log by path or short name, or generate one: `KTH-SP2`, `my.swf.gz`, `lublin(jobs=1000)`, …"""
    from harness.workload.log import Log

    ask = load_plugins(*map(str, plugins)).manager.hook.read_workload
    log = read_by_plugins(ask, Log, str(source), source=locate(str(source)), lenient=lenient)
    if log is None:
        raise HarnessError(f"{source}: no plugin reads such a workload")
    return log


def locate(source: str) -> str:
    """Return the path of a file found below a folder of `HARNESS_DATA`, unless it is here; else `source`."""
    if not is_file_name(source) or os.path.isabs(source) or os.path.exists(source):
        return source
    return str(find_below(data_folders(), source) or source)
