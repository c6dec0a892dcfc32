"""The tables of slurm.md."""

from collections.abc import Callable
from typing import Any

import numpy as np
from slurm_configurations import PAIRS
from slurm_figures import Figures, resampled
from slurm_studied import Floats

from harness.present.tables import render
from harness.present.words import readable

Known = dict[tuple[str, str], Figures]  # by configuration and workload
Table = tuple[str, tuple[str, ...], list[tuple[Any, ...]]]

#: Largest allowed ratio of the P of a replay.
_WORST = 1.25

NEAR = (
    *(
        "configuration",
        "workload",
        "executions",
        "P between them [s]",
        "P of the replay [s]",
        "ratio",
        "with its own delays [s]",
    ),
    *("P between replays [s]", "P of the best policy [s]", "which", "P if nobody waited [s]", "one wait for all [s]"),
)
WAITS = (
    *("configuration", "workload", "mean waits executed [s]", "mean wait replayed [s]", "± [s]", "off [%]"),
    *("in standard errors", "began within an interval, executions [%]", "replays [%]"),
)
CHANGES = (
    *("from", "to", "workload", "mean wait executed, from [s]", "to [s]", "told apart"),
    *("replayed, from [s]", "to [s]", "± [s]", "same sign", "change executed [%]", "replayed [%]"),
)
GROWTH = (
    "workload",
    "jobs",
    "mean wait executed [s]",
    "P between executions [s]",
    "P between replays [s]",
    "P of the replay [s]",
)


def tables(known: Known, grown: list[tuple[str, Figures]], format: str) -> str:
    """Return all tables, each below its name."""
    rows = list(known.values())
    all_tables: tuple[Table, ...] = (
        ("What comes out", ("figure", "reached", "95 % interval", "a perfect model"), summary(known)),
        ("How near", NEAR, [near(one) for one in rows]),
        ("Waits", WAITS, [waits(one) for one in rows]),
        ("Changes", CHANGES, list(changes(known))),
        ("Policies", ("policy", "P, ratio to that between executions", "nearest how often"), policies(rows)),
        ("Load and length", GROWTH, [growth(name, one) for name, one in grown]),
    )
    parts = [
        f"{name}\n\n{render(heads, list(map(shown, cells)), format)}" for name, heads, cells in all_tables if cells
    ]
    return "\n\n".join(parts)


def shown(row: tuple[Any, ...]) -> list[Any]:
    """Return the cells of a row as they are printed."""
    return [readable(cell, 3) if isinstance(cell, float) else cell for cell in row]


def near(one: Figures) -> tuple[Any, ...]:
    """Return how near the executions of a configuration are to each other, and replays to them."""
    return (
        one.configuration, one.workload, len(one.waits), one.between, one.replay, one.ratio, one.own, one.replays,
        one.policies[one.best], one.best, one.nobody, one.same,
    )  # fmt: skip


def waits(one: Figures) -> tuple[Any, ...]:
    """Return how long jobs wait in executions and in replays, and how many begin together."""
    theirs = ", ".join(f"{wait:.0f}" for wait in one.waits)
    return (
        one.configuration, one.workload, theirs, one.replayed, one.half_width, one.off,
        (one.replayed - float(np.mean(one.waits))) / one.error,
        *one.together,
    )  # fmt: skip


def changes(known: Known) -> list[tuple[Any, ...]]:
    """Return what changes of the configuration do with each workload, executed and replayed."""
    workloads = dict.fromkeys(workload for _, workload in known)
    return [
        change(known[before, workload], known[after, workload])
        for before, after in PAIRS
        for workload in workloads
        if (before, workload) in known and (after, workload) in known
    ]


def change(one: Figures, other: Figures) -> tuple[Any, ...]:
    """Return what a change of the configuration does, executed and replayed."""
    apart = max(one.waits) < min(other.waits) or max(other.waits) < min(one.waits)
    means = [float(np.mean(one.waits)), float(np.mean(other.waits)), one.replayed, other.replayed]
    executed, replayed = means[1] - means[0], means[3] - means[2]
    return (
        one.configuration, other.configuration, one.workload, means[0], means[1], "yes" if apart else "no",
        means[2], means[3], float(np.hypot(one.half_width, other.half_width)),
        "yes" if executed * replayed > 0 else "no", 100 * executed / means[0], 100 * replayed / means[2],
    )  # fmt: skip


def growth(name: str, one: Figures) -> tuple[Any, ...]:
    """Return how far executions and replays are apart, by the workload."""
    return name, one.jobs, float(np.mean(one.waits)), one.between, one.replays, one.replay


def policies(rows: list[Figures]) -> list[tuple[Any, ...]]:
    """Return how near every policy that knows nothing of Slurm is over all, the nearest first."""
    found = []
    for name in rows[0].policies if rows else ():
        ratio = float(np.exp(np.mean([np.log(one.policies[name] / one.between) for one in rows])))
        found.append((name, ratio, sum(one.best == name for one in rows)))
    best = float(np.exp(np.mean([np.log(one.policies[one.best] / one.between) for one in rows]))) if rows else np.nan
    replay = float(np.exp(np.mean([np.log(one.ratio) for one in rows]))) if rows else np.nan
    return [("the replay", replay, ""), ("the nearest of each row", best, ""), *sorted(found, key=lambda row: row[1])]


def summary(known: Known) -> list[tuple[Any, ...]]:
    """Return the figures of the goals, over all configurations and workloads."""
    rows = list(known.values())
    if len(rows) < 3:
        return []
    ratios = np.array([one.ratio for one in rows])
    perfect = np.array([one.perfect for one in rows])  # by row and draw
    logs = np.log(np.array([(one.replays, one.between) for one in rows]))
    offs = np.array([one.off for one in rows])
    total = np.array([(one.replayed, sum(one.waits) / len(one.waits)) for one in rows])
    together = np.array([one.together for one in rows])
    long = np.array([one.replay >= one.interval for one in rows])
    rarely = int((ratios[long] > _WORST).sum())
    told = [row for row in changes(known) if row[5] == "yes"]
    same = f"{sum(row[9] == 'yes' for row in told)} of {len(told)}"

    def figure(name: str, sample: Floats, of: Callable[[Floats], Any], perfect: str = "") -> tuple[Any, ...]:
        low, high = resampled(sample, of)
        return name, float(of(sample)), f"{low:.3g} to {high:.3g}", perfect

    def plain(name: str, value: float | str, perfect: str) -> tuple[Any, ...]:
        return name, value, "", perfect

    inside = 100 * float(np.mean([one.inside for one in rows]))
    far = 100 * float(np.mean([abs(one.replayed - np.mean(one.waits)) > 2 * one.error for one in rows]))
    return [
        figure("ratio of P, median", ratios, np.median, _spread(np.median(perfect, axis=0))),
        plain("ratio of P, worst", float(ratios.max()), _spread(perfect.max(axis=0))),
        plain("the same where P of the replay is an interval or more", *_worst(ratios[long], perfect[long])),
        plain(f"of those {long.sum()} rows, ratios above 1.25", rarely, _spread((perfect[long] > _WORST).sum(axis=0))),
        figure("mean wait, off in the mean over rows [%]", offs, np.mean, "0"),
        figure("mean wait of all, off [%]", total, lambda some: 100 * (some[:, 0].sum() / some[:, 1].sum() - 1), "0"),
        plain("mean wait between those of the executions [% of rows]", inside, "75 of three"),
        plain("mean wait more than two standard errors off [% of rows]", far, "about 5"),
        figure("jobs that began within an interval, executions [%]", together[:, 0], np.mean),
        figure("and with replays [%]", together[:, 1], np.mean),
        figure("P between replays over P between executions", logs, lambda some: np.exp(-np.diff(some).mean())),
        figure("correlation of the two, of logarithms", logs, lambda some: np.corrcoef(some.T).ravel()[1]),
        plain("changes told apart by executions, with the sign of replays", same, ""),
    ]


def _worst(ratios: Floats, perfect: Floats) -> tuple[float, str]:
    return float(ratios.max()), _spread(perfect.max(axis=0))


def _spread(draws: Floats) -> str:
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"
