"""Read a platform by name: the first plugin that recognises it reads it."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError, did_you_mean
from harness.platform.finding import bundled_platforms
from harness.platform.sizing import size_apart, sized
from harness.policy.registry import plugins as load_plugins
from harness.policy.registry import read_by_plugins

if TYPE_CHECKING:
    from harness.platform.machine import Platform


def read_platform(source: str | Path, *, plugins: Iterable[str | Path] = ()) -> "Platform":
    """Read a platform by path or bundled name: `peas-table2`, `my-cluster.toml`, or a number of processors.

    `NAME(procs=256)` has as many of its nodes as 256 processors need, in the platform's own proportions.
    """
    source, procs = size_apart(str(source))
    from harness.platform.machine import Platform

    ask = load_plugins(*map(str, plugins)).manager.hook.read_platform
    platform = read_by_plugins(ask, Platform, source, source=_spelled_out(source))
    if platform is None:
        raise HarnessError(
            f"{source[:80]}: no plugin reads such a platform; {did_you_mean(source, bundled_platforms())}"
        )
    return platform if procs is None else sized(platform, procs)


def _spelled_out(source: str) -> str:
    """Return the source with the path of a bundled platform instead of its name; parameters stay."""
    name, parenthesis, parameters = source.partition("(")
    known = bundled_platforms()
    return f"{known[name]}{parenthesis}{parameters}" if name in known else source
