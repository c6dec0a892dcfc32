"""Makes the tables of grand.md of the results of the field grand: by log, by family, fronts, where the ranking turns.

`python reports/grand.py --store tournaments/grand` takes the frame out of the store first, into grand.parquet and
grand-logs.csv in this folder; without it the page is made of these two files alone.
"""

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import grand_pictures
import numpy as np
import pandas as pd
import typer

from harness import Results, rank
from harness.cli import main
from harness.experiment.field_reading import field_from_store, read_field
from harness.experiment.run_matrix import RunMaker
from harness.present.tables import render
from harness.workload.wall_clock import WallClock

_HERE = Path(__file__).parent
FRAME, LOGS = _HERE / "grand.parquet", _HERE / "grand-logs.csv"
HEAT, ENERGY = _HERE / "grand-heat.svg", _HERE / "grand-energy.svg"

BY = "mean_bounded_slowdown"
MEASURES = (
    *("mean_wait", "median_wait", "p95_wait", "max_wait", "mean_response", BY, "area_weighted_response"),
    *("makespan", "utilisation", "offered_load", "energy", "adequacy", "skill"),
)
KEYS = ("workload", "platform", "seed", "scheduler", "order", "start", "rate", "sleep", "predict", "status")

#: Whom all are compared with.
REFERENCE = "fcfs + easy"

#: The machine with rates and sleep.
RATES = "spec-2017-assumed-states"

#: Families of logs, by a figure of theirs and where it parts them.
FAMILIES = {
    "load": ("offered load", (0.6, 0.9)),
    "width": ("spread of widths: standard deviation / mean", (1.5, 3.0)),
    "estimates": ("quality of estimates: median of runtime / request", (0.2, 0.9)),
    "year": ("first year; 0 is not known, or generated", (1000.0, 2000.0, 2008.0)),
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def grand(
    store: Annotated[Path | None, typer.Option(help="the folder of the tournament, to take the frame from")] = None,
    part: Annotated[
        str, typer.Option(help="print one part only: " + "took, logs, families, fronts, turns, order")
    ] = "",
    other: Annotated[Path | None, typer.Option(help="print only how many runs are the same in another store")] = None,
) -> None:
    """Print the tables of the page in Markdown; with a store, keep its frame before, and draw the picture."""
    if other is not None and store is not None:
        typer.echo(same(store, other))
        return
    if store is not None:
        keep(store)
    frame, logs = pd.read_parquet(FRAME), pd.read_csv(LOGS, index_col="workload")
    for name, tables in PARTS.items():
        if part in ("", name):
            typer.echo("\n\n".join(tables(frame, logs)) + "\n")


# ---------------------------------------------------------------- what is kept


def keep(store: Path) -> None:
    """Write the frame of a store as a small file, and the figures of its logs as another."""
    results = Results(store)
    frame = results.frame()
    frame = frame[frame["status"] == "done"].copy()
    frame["scheduler"] = [_short(row) for row in frame[["order", "start", "rate", "sleep", "predict"]].itertuples()]
    small = frame[[*KEYS, "jobs", "seconds", *MEASURES]].copy()
    for name in small:
        small[name] = small[name].astype("category" if name in KEYS and name != "seed" else "float32")
    small.to_parquet(FRAME, index=False, compression="zstd")
    runs = RunMaker(field_from_store(results.about["field"]))
    workloads = [runs.workload(number) for number in range(len(runs.field.workloads))]
    facts = {workload.name: _facts(workload.jobs, workload.header, workload.procs or 1) for workload in workloads}
    logs = pd.DataFrame(facts).T.rename_axis("workload")
    logs.to_csv(LOGS, float_format="%.6g")
    ratios = _ratios(small)
    by_load = logs.sort_values("load").index.intersection(ratios.index, sort=False)
    HEAT.write_text(grand_pictures.heat(ratios.loc[by_load]), encoding="utf-8")
    measured = _against_energy(_shared(small[_kind_of(small) == RATES]))
    ENERGY.write_text(grand_pictures.energy(*measured, _front(*measured), REFERENCE), encoding="utf-8")


def _short(row: Any) -> str:
    usual = {"rate": "full", "sleep": "never", "predict": "requested"}
    more = [getattr(row, part) for part, word in usual.items() if getattr(row, part) != word]
    return " + ".join([row.order, row.start, *more])


def _facts(jobs: pd.DataFrame, header: tuple[str, ...], procs: int) -> dict[str, float]:
    """Return the figures of a log by which families are formed."""
    start = WallClock.of(header).start
    span = float(jobs["submit"].max() - jobs["submit"].min())
    quality = float((jobs["work"] / jobs["estimate"].clip(lower=1)).median())
    return {
        "jobs": len(jobs),
        "procs": procs,
        "load": float((jobs["procs"] * jobs["work"]).sum() / (procs * span)),
        "width": float(jobs["procs"].std() / jobs["procs"].mean()),
        "estimates": quality,
        "year": pd.Timestamp(start, unit="s").year if start else 0,
    }


def same(store: Path, other: Path) -> str:
    """Return a sentence: the number of runs of two stores with equal values of every measure."""
    keys = ["workload", "platform", "variation", "seed", "scheduler"]
    one, two = (Results(folder).frame().set_index(keys) for folder in (store, other))
    common = one.index.intersection(two.index)
    measured = [name for name in MEASURES if name in one and name in two]
    ours, theirs = one.loc[common, measured], two.loc[common, measured]
    equal = ((ours == theirs) | (ours.isna() & theirs.isna())).all(axis=1)
    return f"{int(equal.sum()):,} of {len(common):,} runs have the same measures"


# ---------------------------------------------------------------- tables


def took(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield the table of simulation times by log with the slowest run of each, and the time on many cores."""
    seconds, every = frame["seconds"].astype(float), sum(1 for _ in read_field("grand").combinations())
    all_jobs = int(frame["jobs"].astype(float).sum())
    rows = []
    for log, part in frame.groupby("workload", observed=True):
        at = int(part["seconds"].to_numpy().argmax())
        slowest, machine = part.iloc[at], _kind_of(part).iloc[at]
        jobs, spent = float(part["jobs"].astype(float).sum()), float(seconds[part.index].sum())
        name = f"{slowest['scheduler']}, {machine}"
        rows.append((log, len(part), int(jobs), spent, name, float(slowest["seconds"])))
    rows.sort(key=lambda row: -row[3])
    yield "### Simulation alone, by log"
    heads = ("log", "runs", "jobs", "simulation [s]", "its slowest run", "took [s]")
    yield render(heads, rows, "markdown", digits=3)
    longest = sorted(seconds, reverse=True)
    yield (
        f"{len(frame):,} of {every:,} runs, {all_jobs:,} jobs, {sum(longest):,.0f} s of simulation, the longest "
        f"{longest[0]:,.0f} s; on 64 cores, longest first, {_makespan(longest, 64):,.0f} s at best."
    )


def _makespan(longest_first: list[float], cores: int) -> float:
    """Return when the last run ends if each, in this order, takes the first free core."""
    free = [0.0] * cores
    for seconds in longest_first:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def by_log(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield the table of logs: the best scheduler, its advantage, and the scheduler nearest to the real machine."""
    rows = []
    for workload, part in _complete(_as_logged(frame)).groupby("workload", observed=True):
        facts = {name: logs[name].to_dict()[workload] for name in ("jobs", "procs", "load")}
        rows.append((workload, int(facts["jobs"]), int(facts["procs"]), facts["load"], *_of_one_log(part)))
    heads = ["log", "jobs", "procs", "load", f"bounded slowdown, {REFERENCE}", "best (its ratio)"]
    heads += ["its longest wait, ratio", "best without suspending", "worst", "nearest to the log (its skill)"]
    yield "### By log, as logged"
    yield render(heads, sorted(rows, key=lambda row: row[3]), "markdown", digits=3)


def _of_one_log(part: pd.DataFrame) -> list[Any]:
    part = part.set_index("scheduler")
    ratio = part[BY].astype(float) / part[BY][REFERENCE]
    longest = part["max_wait"].astype(float)
    near = part["skill"].astype(float).dropna()
    best, nearest = str(ratio.idxmin()), f"{near.idxmax()} ({near.max():.2g})" if len(near) else ""
    if ratio.min() > 0.995:  # hardly any job waits
        return [part[BY][REFERENCE], "none", float("nan"), "", f"{ratio.idxmax()} ({ratio.max():.3g})", nearest]
    rewarded = longest[best] / longest[REFERENCE] if longest[REFERENCE] else float("nan")
    worst = f"{ratio.idxmax()} ({ratio.max():.3g})"
    return [part[BY][REFERENCE], f"{best} ({ratio[best]:.3g})", rewarded, _unpreempted(ratio), worst, nearest]


def _unpreempted(ratio: "pd.Series[float]") -> str:
    kept = ratio[~ratio.index.astype(str).str.contains("preempt")]
    return f"{kept.idxmin()} ({kept.min():.3g})"


def by_family(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield the rankings within families of logs, with intervals if there are enough logs."""
    yield "### By family of logs, as logged"
    rows: list[tuple[Any, ...]] = []
    done = _complete(_as_logged(frame))
    done = done[~done["start"].astype(str).str.startswith("preempt")]
    for figure, (words, bounds) in {"all": ("all logs", ()), **FAMILIES}.items():
        place = np.searchsorted(bounds, logs[figure], "right") if bounds else np.zeros(len(logs), int)
        for family in sorted(set(place.tolist())):
            part = done[done["workload"].isin(logs.index[place == family])]
            if len(part):
                rows += _ranked(f"{words}{_range(bounds, family)}", part["workload"].nunique(), part)
    heads = ("family", "logs", "place", "scheduler", "mean rank", f"ratio to {REFERENCE}", "95 % interval", "p")
    yield render(heads, rows, "markdown", digits=3)


def _range(bounds: tuple[float, ...], family: int) -> str:
    if not bounds:
        return ""
    low = f"from {bounds[family - 1]:g}" if family else ""
    high = f"below {bounds[family]:g}" if family < len(bounds) else ""
    return ", " + " ".join(filter(None, (low, high)))


def _ranked(family: str, count: int, part: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the first four and the reference, with ratios and p-values of pairs with the reference."""
    from harness.ranking.inference import infer, log_ratios

    table = part.pivot_table(index="workload", columns="scheduler", values=BY, observed=True).dropna(axis=1)
    ranks = table.rank(axis=1).mean().sort_values()
    others = [name for name in table if name != REFERENCE]
    sides = [table[name].to_numpy(dtype=float)[:, None] for name in others]
    reference = table[REFERENCE].to_numpy(dtype=float)[:, None]
    judged = infer(log_ratios(np.hstack(sides), np.repeat(reference, len(others), axis=1)), 0)
    at = {name: place for place, name in enumerate(others)}
    first = [str(name) for name in ranks.index[:4]]
    for name in dict.fromkeys([*first, REFERENCE]):
        place = list(ranks.index).index(name) + 1
        if name == REFERENCE:
            yield family, count, place, name, ranks[name], 1.0, "", float("nan")
            continue
        mean, half = judged.means[at[name]], judged.half[at[name]]
        interval = f"{np.exp(mean - half):.3g}–{np.exp(mean + half):.3g}" if np.isfinite(half) else ""
        yield family, count, place, name, ranks[name], np.exp(mean), interval, judged.p_values[at[name]]


def fronts(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield for each machine with power the Pareto front of slowdown and energy, as ratios to the reference."""
    metered = frame[frame["energy"].notna()]
    for platform, each in metered.groupby(_kind_of(metered), observed=True):
        part = _shared(each)
        slower, dearer = _against_energy(part)
        rows = [
            (name, slower[name], dearer[name], f"{100 * (1 - dearer[name]):+.2g} %") for name in _front(slower, dearer)
        ]
        count = f"{part['scheduler'].nunique()} schedulers on {part['workload'].nunique()} logs"
        yield f"### Slowdown against energy: {platform}, {count}"
        heads = ("on the front", f"slowdown, ratio to {REFERENCE}", "energy, ratio", "energy saved")
        yield render(heads, rows, "markdown", digits=4)


def _against_energy(part: pd.DataFrame) -> "tuple[pd.Series[float], pd.Series[float]]":
    """Return slowdown and energy of every scheduler as ratios to the reference, geometric means over the logs."""
    sides = []
    for name in (BY, "energy"):
        table = part.pivot_table(index="workload", columns="scheduler", values=name, observed=True)
        # Differences by rounding alone do not count.
        sides.append(table.div(table[REFERENCE], axis=0).apply(np.log).mean().apply(np.exp).round(6))
    return sides[0], sides[1]


def _front(slower: "pd.Series[float]", dearer: "pd.Series[float]") -> list[str]:
    """Return the Pareto front of both, the fastest first."""
    found = []
    for name in slower.sort_values().index:
        as_good = (slower <= slower[name]) & (dearer <= dearer[name])
        if not (as_good & ((slower < slower[name]) | (dearer < dearer[name]))).any():
            found.append(str(name))
    return found


def _kind_of(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["platform"].astype(str).str.replace(r"[(,] ?procs=\d+\)?", "", regex=True)


def turns(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield the schedulers that are better on some logs and worse on others, with correlations to figures of logs."""
    table = _ratios(frame)
    rows: list[Any] = []
    for name in table.columns:
        values = table[name].dropna()
        if name == REFERENCE or len(values) < 10:
            continue
        facts = logs.loc[values.index]
        along = {f: float(values.corr(facts[f], method="spearman")) for f in ("load", "width", "estimates")}
        strongest = max(along, key=lambda figure: abs(along[figure]))
        better, worse = int((values < np.log(0.99)).sum()), int((values > np.log(1.01)).sum())
        rows.append((name, better, worse, *along.values(), strongest, float(np.exp(values.median()))))
    rows.sort(key=lambda row: -min(row[1], row[2]))
    heads = ["scheduler", f"logs where it beats {REFERENCE}", "where it loses", "rank correlation with load"]
    heads += ["with spread of widths", "with quality of estimates", "strongest", "median ratio"]
    yield "### Where the ranking turns over"
    yield render(heads, rows[:20], "markdown", digits=3)


def order(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Yield the ranking of all schedulers as logged: mean rank, ratio to the first, and its test."""
    done = _complete(_as_logged(frame)).assign(variation=0, energy_policy="none", error="")
    found = rank(done.drop(columns=["energy"]), BY)
    (reference,) = [s.ratio for s in found.standings if s.scheduler == REFERENCE]
    rows = [
        (
            *(s.rank, s.scheduler, s.mean_rank, s.ratio, _interval(s.interval), s.p_value, s.ratio / reference),
            s.means["max_wait"] / 86_400,
        )
        for s in found.standings
    ]
    yield f"### All schedulers, as logged, over {found.units} logs"
    heads = ["rank", "scheduler", "mean rank", "ratio to the first", "95 % interval", "p", f"ratio to {REFERENCE}"]
    heads.append("longest wait, mean [d]")
    yield render(heads, rows, "markdown", digits=3)


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g}–{ends[1]:.3g}" if np.isfinite(ends[0]) else ""


def _as_logged(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on as many processors as the log names, of all that are done."""
    plain = frame["energy"].isna() & (frame["status"] == "done")
    return frame[plain].copy()


def _complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on workloads that every scheduler among them was done on."""
    counts = frame.groupby("workload", observed=True)["scheduler"].nunique()
    whole = counts.index[counts == frame["scheduler"].nunique()]
    return frame[frame["workload"].isin(whole)]


def _shared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of those schedulers that were done on every workload where most schedulers were."""
    counts = frame.groupby("workload", observed=True)["scheduler"].nunique()
    part = frame[frame["workload"].isin(counts.index[counts > frame["scheduler"].nunique() / 2])]
    on = part.groupby("scheduler", observed=True)["workload"].nunique()
    return part[part["scheduler"].isin(on.index[on == part["workload"].nunique()])]


def _ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of the ratio to the reference, by log and scheduler."""
    done = _complete(_as_logged(frame))
    table = done.pivot_table(index="workload", columns="scheduler", values=BY, observed=True)
    return table.div(table[REFERENCE], axis=0).apply(np.log)


PARTS = {"took": took, "logs": by_log, "families": by_family, "fronts": fronts, "turns": turns, "order": order}

if __name__ == "__main__":
    main(app)
