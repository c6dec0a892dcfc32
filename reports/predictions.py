"""Makes the tables of predictions.md: what predictors of runtimes do to start policies, on six logs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from harness import Scheduler, Workload, prepare, read_workload, simulate
from harness.cli import main
from harness.present.progress import progress
from harness.present.tables import known_format, prose, render
from harness.present.words import readable, spoken
from harness.ranking.inference import ALPHA, infer, log_ratios

LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "SDSC-DS", "HPC2N", "Sandia-Ross")
STARTS = ("easy", "easy(backfill_order=spf)", "easy(reservations=2)", "conservative")
PREDICTORS = ("requested", "actual", "recent(n=2)", "similar", "online")
CRITERIA = ("mean_bounded_slowdown", "mean_wait")
PREDICTION = ("prediction_error", "share_underpredicted", "corrections")

#: A smaller advantage of a predictor on a log does not count.
NOTICED = 1e-3

CLAIRVOYANT = "actual"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Compared:
    """A predictor compared with requests: the geometric mean over logs of the ratio, its interval, and its p-value."""

    low: float  # the 95 % interval
    ratio: float
    high: float
    better: int  # logs
    p_value: float


@app.command()
def predictions(
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Replay six logs under four start policies and five predictors, and compare each predictor with the request."""
    known_format(format)
    total = len(LOGS) * len(STARTS) * len(PREDICTORS)
    with progress("replaying", "runs") as advance:
        runs = pd.DataFrame(replays(lambda done: advance(done, total)))
    if format in ("csv", "json"):
        typer.echo(runs.to_csv(index=False) if format == "csv" else runs.to_json(orient="records"))
        return
    for start in STARTS:
        typer.echo(f"{table(runs, start, format)}\n\n{prose(conclusion(runs, start), format)}\n")
    typer.echo(by_log(runs, format))


def replays(done: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield the measures of every run."""
    for log in LOGS:
        workload = prepare(read_workload(log))
        for start in STARTS:
            for predict in PREDICTORS:
                yield replay(workload, start, predict) | {"log": log}
                done(1)


def replay(workload: Workload, start: str, predict: str) -> dict[str, Any]:
    """Return the measures of one run that the tables show, with its policies."""
    run = simulate(workload, workload.procs, Scheduler(start=start, predict=predict, energy="none"))
    measures = run.measures()
    shown = {name: measures[name] for name in (*CRITERIA, *PREDICTION)}
    return {"start": start, "predict": predict, **shown, "jobs": len(run.ran)}


def compared(runs: pd.DataFrame, start: str) -> dict[tuple[str, str], Compared]:
    """Compare every predictor with requests by every criterion: logs are the units, all pairs judged at once."""
    values = runs[runs["start"] == start].pivot(index="log", columns="predict")
    columns = list(product(CRITERIA, PREDICTORS[1:]))
    ours, theirs = values[columns].to_numpy(), values[[(name, PREDICTORS[0]) for name, _ in columns]].to_numpy()
    logarithms = log_ratios(ours, theirs)
    found = infer(logarithms, 0)
    ends = (np.exp(found.means + side * found.half) for side in (-1, 0, 1))
    better = (logarithms < -NOTICED).sum(axis=0)
    return {column: Compared(*each) for column, *each in zip(columns, *ends, better, found.p_values, strict=True)}


def table(runs: pd.DataFrame, start: str, format: str) -> str:
    """Return the table of one start policy."""
    heads, units = ["predictor"], [""]
    for criterion in CRITERIA:
        heads += [f"{spoken(criterion)}, ratio", "95 % interval", "logs better"]
        units += ["", "", ""]
    heads += ["error", "under-predicted", "corrections"]
    units += ["min", "%", "per 100 jobs"]
    rows = [row(runs, start, predict) for predict in PREDICTORS]
    return render(heads, rows, format, units=units, caption=f"Start policy {start}", digits=3)


def row(runs: pd.DataFrame, start: str, predict: str) -> list[Any]:
    """Return the row of one predictor: its ratios, and the means over logs of how well it predicts."""
    found = compared(runs, start)
    cells: list[Any] = [predict]
    for criterion in CRITERIA:
        if predict == PREDICTORS[0]:
            cells += [1.0, "", ""]
        else:
            one = found[criterion, predict]
            cells += [one.ratio, f"{readable(one.low, 3)}–{readable(one.high, 3)}", f"{one.better} of {len(LOGS)}"]
    own = runs[(runs["start"] == start) & (runs["predict"] == predict)]
    per_job = own["corrections"] / own["jobs"]
    means = own["prediction_error"].mean() / 60, 100 * own["share_underpredicted"].mean(), 100 * per_job.mean()
    return [*cells, *map(float, means)]


def by_log(runs: pd.DataFrame, format: str) -> str:
    """Return the mean bounded slowdown of every run as a table."""
    found = runs.pivot(index=["log", "start"], columns="predict", values=CRITERIA[0])[list(PREDICTORS)]
    rows = [(*names, *values) for names, values in zip(found.index, found.to_numpy().tolist(), strict=True)]
    heads = ("log", "start policy", *PREDICTORS)
    return render(heads, rows, format, caption=f"{spoken(CRITERIA[0]).capitalize()} of every run", digits=4)


def conclusion(runs: pd.DataFrame, start: str) -> str:
    """Return sentences: significant differences from the request by criterion, and the distance from clairvoyance."""
    found = compared(runs, start)
    verdicts: dict[str, list[str]] = {"better": [], "worse": []}
    for (criterion, predict), one in found.items():
        if one.p_value <= ALPHA:
            verdicts["better" if one.ratio < 1 else "worse"].append(f"{predict} by {spoken(criterion)}")
    words = [
        f"significantly {verdict} than requests: {' and '.join(names)}" for verdict, names in verdicts.items() if names
    ]
    ratios = {predict: found[CRITERIA[0], predict].ratio for predict in PREDICTORS[1:]}
    limit = ratios.pop(CLAIRVOYANT)
    best = min(ratios, key=ratios.__getitem__)
    return (
        f"With {start}, {'; '.join(words) or 'no predictor differs significantly from requests'}. Of the predictors "
        f"without clairvoyance, {best} is first by mean bounded slowdown, with {readable(ratios[best], 3)} times "
        f"that of requests. Clairvoyance has {readable(limit, 3)} times."
    )


if __name__ == "__main__":
    main(app)
