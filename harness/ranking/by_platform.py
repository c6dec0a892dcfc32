"""Divide the results of a field if some schedulers cannot run on some platforms: by platform, and on those that all
share.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from harness.present.tables import render
from harness.present.words import listed


@dataclass(frozen=True, eq=False)
class Part:
    """Runs of a field that are ranked together."""

    where: str  # empty: all of the field
    frame: pd.DataFrame


def parts(frame: pd.DataFrame) -> list[Part]:
    """Return the runs that are ranked together: all of them, if every scheduler ran on every platform.

    Otherwise the first part has the platforms that all schedulers share, and each further part has one platform.
    Platforms on which the same schedulers ran different workloads count as one, such as `log`, which has another size
    for every log.
    """
    everyone = set(frame["scheduler"])
    groups: list[tuple[list[str], set[str], set[str]]] = []  # platforms, schedulers, workloads
    for platform, runs in frame.groupby("platform", sort=False):
        schedulers, workloads = set(runs["scheduler"]), set(runs["workload"])
        for names, theirs, replayed in groups:
            if theirs == schedulers and not replayed & workloads:
                names.append(str(platform))
                replayed |= workloads
                break
        else:
            groups.append(([str(platform)], schedulers, workloads))
    if all(schedulers == everyone for _, schedulers, _ in groups):
        return [Part("", frame)]
    shared = [name for names, schedulers, _ in groups if schedulers == everyone for name in names]
    found = [(f"the platforms that all schedulers share ({listed(shared)})", shared)] if shared else []
    found += [(listed(names), names) for names, _, _ in groups if names != shared]
    return [Part(where, frame[frame["platform"].isin(names)]) for where, names in found]


def refused_table(refused: pd.DataFrame, format: str) -> str:
    """Return a table of the combinations that cannot run, one row for each reason; empty if there are none."""
    if refused.empty:
        return ""
    headers = ("combinations", "schedulers", "platforms", "workloads", "reason")
    return render(headers, refused_rows(refused), format, caption="Combinations that cannot run and are not ranked")


def refused_rows(refused: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the rows of that table."""
    for reason, rows in refused.groupby("reason", sort=False):
        names = (listed(list(map(str, rows[name].unique()))) for name in ("scheduler", "platform", "workload"))
        yield f"{len(rows):,}", *names, str(reason)
