"""Makes the tables of forecast.md: errors of forecasts on four logs, and shares of starts within their intervals."""

from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

import harness
from harness import Log, Scheduler
from harness.cli import main
from harness.forecasting.correction import with_intervals
from harness.forecasting.forecast_evaluation import Error, errors, evaluated, instants, ratio
from harness.present.progress import progress
from harness.present.tables import known_format, prose, render
from harness.present.words import readable

LOGS = ("KTH-SP2", "SDSC-SP2", "CTC-SP2", "HPC2N")

#: Logs replayed under the scheduler that forecasts assume; their waits replace the logged ones.
REPLAYED = ("KTH-SP2", "SDSC-SP2")

#: Instants of each log; the first ones, which only calibrate; repetitions; intended share of starts in an interval.
MOMENTS, LEARNING, REPETITIONS, LEVEL = 75, 25, 20, 0.8

#: Largest difference from the intended share that is called close.
NEAR = 0.05

ASSUMED = Scheduler(order="fcfs", start="easy", energy="none")

#: Columns and their headings: the forecast, and two forecasts without simulation.
NAMES = {"forecast": "forecast", "similar": "last similar", "at_once": "at once"}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def forecast(
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
    moments: Annotated[int, typer.Option(help="number of instants of each log", min=LEARNING + 1)] = MOMENTS,
) -> None:
    """Forecast starts at instants of four logs, and compare them with the logged ones and with two simple forecasts."""
    known_format(format)
    total = moments * (len(LOGS) + len(REPLAYED))
    with progress("forecasting", "instants") as advance:
        rows, done = [], 0
        for log, name in cases():
            parts = []
            for part in evaluated(log, instants(log, moments), ASSUMED, repetitions=REPETITIONS, level=LEVEL):
                parts.append(part)
                advance(done := done + 1, total)
            rows.append(with_intervals(pd.concat(parts), LEVEL, LEARNING).assign(log=name))
    found = pd.concat(rows, ignore_index=True)
    if format in ("csv", "json"):
        typer.echo(found.to_csv(index=False) if format == "csv" else found.to_json(orient="records"))
        return
    for name in dict.fromkeys(found["log"]):
        own = found[found["log"] == name]
        typer.echo(f"{table(own, name, format)}\n\n{prose(conclusion(own, name), format)}\n")
    typer.echo(by_forecast(found, format))


def cases() -> list[tuple[Log, str]]:
    """Return the logs, and some of them again with the waits under the assumed scheduler."""
    logs = {name: harness.read_workload(name) for name in LOGS}
    again = [(replayed(logs[name]), f"{name}, replayed") for name in REPLAYED]
    return [*((log, name) for name, log in logs.items()), *again]


def replayed(log: Log) -> Log:
    """Return the log as if its machine had decided as forecasts assume."""
    frame = harness.simulate(log, log.procs, ASSUMED).frame
    ran = frame[frame["wait"].notna()].set_index("job")
    jobs = log.jobs[log.jobs["job"].isin(ran.index)]
    rows = ran.loc[jobs["job"]]
    jobs = jobs.assign(wait=rows["wait"].to_numpy(), run=rows["run"].to_numpy(), status=1)
    return Log(f"{log.name}, replayed", jobs.reset_index(drop=True), log.header, log.source, procs=log.procs)


def table(rows: pd.DataFrame, name: str, format: str) -> str:
    """Return the errors on one log by lead time."""
    heads = ["lead time", "jobs", "instants"]
    heads += [f"{word}, {what}" for what in ("mean", "median") for word in NAMES.values()]
    heads += [f"{what}, {word}" for what in ("held", "width") for word in ("repetitions", "calibrated")]
    units = ["", "", "", *["h"] * 6, "%", "%", "h", "h"]
    lines = [line(*both) for both in zip(errors(rows), errors(calibrated(rows)), strict=True)]
    return render(heads, lines, format, units=units, caption=f"{name}: error by lead time", digits=3)


def calibrated(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with calibrated intervals in the place of those of the repetitions."""
    return rows.assign(low=rows["from"], high=rows["to"])


def line(one: Error, other: Error) -> list[Any]:
    """Return the cells of one range of lead times; `other` is of calibrated intervals."""
    means, medians = ([values[who] / 3600 for who in NAMES] for values in (one.means, one.medians))
    held = [100 * one.covered, 100 * other.covered, one.width / 3600, other.width / 3600]
    return [lead(one.below), one.jobs, one.moments, *means, *medians, *held]


def lead(below: float) -> str:
    """Return a range of lead times in words."""
    if np.isnan(below):
        return "all"
    return "longer" if np.isinf(below) else f"up to {readable(below / 3600)} h"


def conclusion(rows: pd.DataFrame, name: str) -> str:
    """Return sentences that compare the forecast with the simple ones, and its intervals with the intended share."""
    verdicts = []
    for null in ("similar", "at_once"):
        low, middle, high = ratio(rows, null)
        word = "less than" if high < 1 else "more than" if low > 1 else "not significantly different from"
        verdicts.append(f"{word} that of “{NAMES[null]}” ({readable(middle, 3)} times, {span(low, high)})")
    shares = errors(rows)[-1].covered, errors(calibrated(rows))[-1].covered
    kept = [f"{100 * share:.0f} % ({'close' if abs(share - LEVEL) <= NEAR else 'not close'})" for share in shares]
    return (
        f"On {name} the mean error of the forecast is {'. It is '.join(verdicts)}. Intervals for "
        f"{100 * LEVEL:.0f} % of the starts contain {kept[0]}, and calibrated ones {kept[1]}."
    )


def span(low: float, high: float) -> str:
    """Return an interval in words."""
    return f"{readable(low, 3)} to {readable(high, 3)}"


def by_forecast(found: pd.DataFrame, format: str) -> str:
    """Return the errors and shares of starts in the interval, by the lead time of the forecast, which is known."""
    lines: list[list[Any]] = []
    for name in dict.fromkeys(found["log"]):
        rows = found[found["log"] == name]
        both = zip(errors(rows, "forecast"), errors(calibrated(rows), "forecast"), strict=True)
        for one, other in both:
            means = [one.means[who] / 3600 for who in NAMES]
            lines.append([name, lead(one.below), one.jobs, *means, 100 * one.covered, 100 * other.covered])
    heads = ("log", "forecast", "jobs", *(f"{word}, mean" for word in NAMES.values()), "held", "held, calibrated")
    units = ("", "", "", *["h"] * 3, "%", "%")
    return render(heads, lines, format, units=units, caption="Error by the lead time that was forecast", digits=3)


if __name__ == "__main__":
    main(app)
