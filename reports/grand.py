"""Makes the tables of grand.md of the results of the field grand: by log, by family, fronts, where the ranking turns.

`python reports/grand.py --store tournaments/grand` takes the frame out of the store first, into grand.parquet and
grand-logs.csv beside this script; without it the page is made of these two files alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from harness import Results, rank
from harness.cli import main
from harness.experiment.field_reading import field_again
from harness.experiment.plan import RunsOf
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
    part: Annotated[str, typer.Option(help="print one part only: " + "logs, families, fronts, turns, order")] = "",
) -> None:
    """Print the tables of the page in Markdown; with a store, keep its frame before, and draw the picture."""
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
    frame["scheduler"] = [_short(row) for row in frame[["order", "start", "rate", "sleep", "predict"]].itertuples()]
    small = frame[[*KEYS, "jobs", "seconds", *MEASURES]].copy()
    for name in small:
        small[name] = small[name].astype("category" if name in KEYS and name != "seed" else "float32")
    small.to_parquet(FRAME, index=False, compression="zstd")
    runs = RunsOf(field_again(results.about["field"]))
    workloads = [runs.workload(number) for number in range(len(runs.field.workloads))]
    facts = {workload.name: _facts(workload.jobs, workload.header, workload.procs or 1) for workload in workloads}
    logs = pd.DataFrame(facts).T.rename_axis("workload")
    logs.to_csv(LOGS, float_format="%.4g")
    HEAT.write_text(heat(small, logs), encoding="utf-8")
    ENERGY.write_text(energy(small), encoding="utf-8")


def _short(row: Any) -> str:
    usual = {"rate": "full", "sleep": "never", "predict": "requested"}
    more = [getattr(row, part) for part, word in usual.items() if getattr(row, part) != word]
    return " + ".join([row.order, row.start, *more])


def _facts(jobs: pd.DataFrame, header: tuple[str, ...], procs: int) -> dict[str, float]:
    """Return what families of logs are told apart by."""
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


# ---------------------------------------------------------------- what is told


def by_log(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Tell of each log who is best, by how much, and whom the real machine resembles most."""
    rows = []
    for workload, part in _as_logged(frame).groupby("workload", observed=True):
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
    best, told = str(ratio.idxmin()), f"{near.idxmax()} ({near.max():.2g})" if len(near) else ""
    if ratio.min() > 0.995:  # nobody waits to speak of
        return [part[BY][REFERENCE], "nobody", float("nan"), "", f"{ratio.idxmax()} ({ratio.max():.3g})", told]
    rewarded = longest[best] / longest[REFERENCE] if longest[REFERENCE] else float("nan")
    worst = f"{ratio.idxmax()} ({ratio.max():.3g})"
    return [part[BY][REFERENCE], f"{best} ({ratio[best]:.3g})", rewarded, _unpreempted(ratio), worst, told]


def _unpreempted(ratio: "pd.Series[float]") -> str:
    kept = ratio[~ratio.index.astype(str).str.contains("preempt")]
    return f"{kept.idxmin()} ({kept.min():.3g})"


def by_family(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Rank within families of logs, against the reference, with intervals where there are enough."""
    yield "### By family of logs, as logged"
    rows: list[tuple[Any, ...]] = []
    done = _as_logged(frame)
    done = done[~done["start"].astype(str).str.startswith("preempt")]
    for figure, (words, bounds) in {"all": ("all logs", ()), **FAMILIES}.items():
        place = np.searchsorted(bounds, logs[figure], "right") if bounds else np.zeros(len(logs), int)
        for family in sorted(set(place.tolist())):
            names = logs.index[place == family]
            part = done[done["workload"].isin(names)]
            rows += _ranked(f"{words}{_range(bounds, family)}", len(names), part)
    heads = ("family", "logs", "place", "scheduler", "mean rank", f"ratio to {REFERENCE}", "95 % interval", "p")
    yield render(heads, rows, "markdown", digits=3)


def _range(bounds: tuple[float, ...], family: int) -> str:
    if not bounds:
        return ""
    low = f"from {bounds[family - 1]:g}" if family else ""
    high = f"below {bounds[family]:g}" if family < len(bounds) else ""
    return ", " + " ".join(filter(None, (low, high)))


def _ranked(family: str, count: int, part: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the first four and where the reference stands; ratios and p-values are those of pairs with it."""
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
    """Tell on each energy machine who is beaten by nobody in both slowdown and energy, as ratios to the reference."""
    metered = frame[frame["energy"].notna()]
    for platform, part in metered.groupby(_kind_of(metered), observed=True):
        slower, dearer = _against_energy(part)
        rows = [
            (name, slower[name], dearer[name], f"{100 * (1 - dearer[name]):+.2g} %") for name in _front(slower, dearer)
        ]
        yield f"### Slowdown against energy: {platform}, {part['workload'].nunique()} logs"
        heads = ("on the front", f"slowdown, ratio to {REFERENCE}", "energy, ratio", "energy saved")
        yield render(heads, rows, "markdown", digits=4)


def _against_energy(part: pd.DataFrame) -> "tuple[pd.Series[float], pd.Series[float]]":
    """Return slowdown and energy of every scheduler as ratios to the reference, geometric means over the logs."""
    sides = []
    for name in (BY, "energy"):
        table = part.pivot_table(index="workload", columns="scheduler", values=name, observed=True)
        # What differs by rounding alone is no progress.
        sides.append(table.div(table[REFERENCE], axis=0).apply(np.log).mean().apply(np.exp).round(6))
    return sides[0], sides[1]


def _front(slower: "pd.Series[float]", dearer: "pd.Series[float]") -> list[str]:
    """Return who is beaten by nobody in both, the fastest first."""
    found = []
    for name in slower.sort_values().index:
        as_good = (slower <= slower[name]) & (dearer <= dearer[name])
        if not (as_good & ((slower < slower[name]) | (dearer < dearer[name]))).any():
            found.append(str(name))
    return found


def _kind_of(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["platform"].astype(str).str.replace(r"[(,] ?procs=\d+\)?", "", regex=True)


def turns(frame: pd.DataFrame, logs: pd.DataFrame) -> Iterator[str]:
    """Tell which schedulers change sides from log to log, and which figure of the logs goes along with that."""
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
    """Tell the order of all schedulers as logged: by mean rank, with the ratio and its tests against the first."""
    done = _as_logged(frame).assign(variation=0, energy_policy="none", error="")
    found = rank(done.drop(columns=["energy"]), BY)
    rows = [
        (s.rank, s.scheduler, s.mean_rank, s.ratio, _interval(s.interval), s.p_value, s.means["max_wait"] / 86_400)
        for s in found.standings
    ]
    yield f"### All schedulers, as logged, over {found.units} logs"
    heads = ("rank", "scheduler", "mean rank", "ratio to the first", "95 % interval", "p", "longest wait, mean [d]")
    yield render(heads, rows, "markdown", digits=3)


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g}–{ends[1]:.3g}" if np.isfinite(ends[0]) else ""


def _as_logged(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on as many processors as the log names, of all that are done."""
    plain = frame["energy"].isna() & (frame["status"] == "done")
    return frame[plain].copy()


def _ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of the ratio to the reference, by log and scheduler."""
    table = _as_logged(frame).pivot_table(index="workload", columns="scheduler", values=BY, observed=True)
    return table.div(table[REFERENCE], axis=0).apply(np.log)


def heat(frame: pd.DataFrame, logs: pd.DataFrame) -> str:
    """Draw the ratio of every scheduler to the reference on every log: blue is better, red is worse."""
    table = (_ratios(frame) / np.log(2)).reindex(logs.sort_values("load").index)
    table = table[table.median().sort_values().index]
    wide, tall, left, top = 13, 10, 190, 110
    parts = []
    for row, name in enumerate(table.columns):
        parts.append(f'<text x="{left - 4}" y="{top + tall * row + 8}" text-anchor="end">{name}</text>')
        for column, value in enumerate(table[name]):
            strength = min(abs(value) / 4, 1.0) if value == value else 0.0
            colour = "#1c7ed6" if value < 0 else "#d9480f"
            place = f'x="{left + wide * column}" y="{top + tall * row}" width="{wide - 1}" height="{tall - 1}"'
            parts.append(f'<rect {place} fill="{colour}" fill-opacity="{strength:.2f}"/>')
    for column, name in enumerate(table.index):
        x = left + wide * column + 9
        parts.append(f'<text transform="translate({x},{top - 5}) rotate(-60)">{name}</text>')
    size = f'width="{left + wide * len(table) + 60}" height="{top + tall * len(table.columns) + 10}"'
    style = "<style>text{font:8px sans-serif;fill:#222}</style>"
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{paper}{"".join(parts)}</svg>\n'


def energy(frame: pd.DataFrame) -> str:
    """Draw slowdown against energy on the machine with rates and sleep, from zero; the front in blue."""
    slower, dearer = _against_energy(frame[_kind_of(frame) == "spec-2017-assumed-states"])
    front = _front(slower, dearer)
    saving = sorted((name for name in front if dearer[name] < 0.95), key=lambda name: float(dearer[name]))
    left, right, top, bottom = 60, 700, 20, 330
    most = float(dearer.max()) * 1.02
    low, high = np.log(float(slower.min()) / 1.2), np.log(float(slower.max()) * 1.2)
    parts = [f'<path d="M{left},{top}V{bottom}H{right}" fill="none" stroke="#888"/>']
    ticks = [(tick, left + (right - left) * tick / most) for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    parts += [f'<text x="{x:.0f}" y="{bottom + 14}">{tick:g}</text>' for tick, x in ticks]
    for ratio in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        if low < np.log(ratio) < high:
            y = bottom - (bottom - top) * (np.log(ratio) - low) / (high - low)
            parts.append(f'<text x="{left - 30}" y="{y:.0f}">{ratio:g}</text>')
    for name in slower.index:
        x = left + (right - left) * float(dearer[name]) / most
        y = bottom - (bottom - top) * (np.log(float(slower[name])) - low) / (high - low)
        colour = "#1c7ed6" if name in front else "#bbb"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{name}</title></circle>')
        if name in saving:
            parts.append(f'<text x="{x - 3:.1f}" y="{y - 6:.1f}">{saving.index(name) + 1}</text>')
    for number, name in enumerate(saving, 1):
        parts.append(f'<text x="{left + 20}" y="{top + 20 + 15 * number}">{number}: {name}</text>')
    parts.append(f'<text x="{left}" y="{bottom + 32}">energy, ratio to {REFERENCE}</text>')
    parts.append(f'<text x="8" y="{top - 6}">bounded slowdown, ratio to {REFERENCE}</text>')
    style = "<style>text{font:10px sans-serif;fill:#222}</style>"
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="740" height="370">{style}{paper}{"".join(parts)}</svg>\n'


PARTS = {"logs": by_log, "families": by_family, "fronts": fronts, "turns": turns, "order": order}

if __name__ == "__main__":
    main(app)
