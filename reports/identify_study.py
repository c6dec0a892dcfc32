"""Makes the table of identify-study.md: logs of known policies, disturbed as real ones are, and the verdicts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd
import typer

import harness
from harness.cli import main
from harness.experiment.identity_verdict import identity_verdict
from harness.present.tables import render
from harness.results.export import simulated_log

PROCS = 128

#: Who wrote the logs: order and start policy. The last two are in no field that we search.
TRUTHS = (
    ("fcfs", "easy"),
    ("spf", "easy"),
    ("fcfs", "conservative"),
    ("wfp3", "easy"),
    ("unicef", "greedy"),
)
OUTSIDERS = (("lottery", "greedy"), ("widest-user", "easy"))

ORDERS = (
    *("fcfs", "lcfs", "spf", "lpf", "saf", "laf", "f1", "f2", "f3", "f4"),
    *("sjf-width", "ljf-width", "wfp3", "unicef", "expansion"),
)
STARTS = ("none", "greedy", "easy", "conservative", "easy(backfill_order=spf)")

HEADERS = (
    *("disturbance", "ORDER", "START", "rank by P", "tied with the nearest", "ties by P"),
    *("decisions", "first by decisions", "ties", "typical", "attainable", "verdict"),
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def lottery(job: "harness.Job", clock: "harness.Clock") -> float:
    """Order at random by the job's number: a rule that no policy of the field has."""
    return (job.number * 2654435761.0) % 1009.0


def widest_user(job: "harness.Job", clock: "harness.Clock") -> float:
    """Prefer users by their number, then wide jobs: a rule that depends on the user."""
    return (job.user % 7) * 1e6 - job.procs


class Outsiders:
    """Orders that no field has."""

    @harness.hookimpl
    def order_queue(self) -> list[harness.Order]:
        return [harness.Order("lottery", lottery), harness.Order("widest-user", widest_user)]


def workload(seed: int, jobs: int) -> harness.Workload:
    """Return jobs of the Lublin–Feitelson model, with requested times of up to five times the runtime."""
    log = harness.lublin(jobs=jobs, procs=PROCS, seed=seed, load=0.9)
    draw = np.random.default_rng(seed)
    asked = np.ceil(log.jobs["run"] * draw.uniform(1, 5, jobs) / 60) * 60
    users = draw.integers(1, 30, jobs)
    return harness.prepare(
        replace(log, jobs=log.jobs.assign(estimate=asked, user=users), digest=f"{log.digest} {seed}")
    )


def written(jobs: harness.Workload, order: str, start: str, launch: float = 0, completion: float = 0,
            events: harness.Events | None = None) -> harness.Log:  # fmt: skip
    """Return the log of a machine that launches and clears up in exponential times of these means [s]."""
    draw = np.random.default_rng(1)
    before, after = (
        draw.exponential(mean, len(jobs)) if mean else np.zeros(len(jobs)) for mean in (launch, completion)
    )
    work = jobs.jobs["work"] + before + after
    held = jobs.jobs.assign(work=work, estimate=np.maximum(jobs.jobs["estimate"], work))
    machine = replace(jobs, jobs=held, digest=f"{jobs.digest} {launch} {completion}")
    schedule = harness.simulate(machine, PROCS, harness.Scheduler(order, start, energy="none"), events=events)
    log = simulated_log(schedule)
    place = pd.Series(np.arange(len(jobs)), index=jobs.jobs["job"]).reindex(log.jobs["job"]).to_numpy()
    wait = log.jobs["wait"] + before[place]
    ran = jobs.jobs[["work", "estimate"]].to_numpy()[place]
    return replace(log, jobs=log.jobs.assign(wait=wait, run=ran[:, 0], estimate=ran[:, 1]))


def six_outages(jobs: harness.Workload) -> harness.Events:
    """Take half of the machine away for half a day, six times."""
    submit = jobs.jobs["submit"]
    begins = np.linspace(submit.min(), submit.max(), 8)[1:-1]
    rows = [
        (round(begin + late), event, node)
        for begin in begins
        for late, event in ((0, "node-down"), (43200, "node-up"))
        for node in range(PROCS // 2)
    ]
    return harness.Events(pd.DataFrame(rows, columns=["time", "event", "subject"]), "requeue")


def hidden(log: harness.Log) -> harness.Log:
    """Forget the requested times, as many logs do."""
    return replace(log, jobs=log.jobs.assign(estimate=-1))


@dataclass(frozen=True)
class Disturbance:
    """A disturbance of a log, and the facts about it that `identify` can use."""

    log: Callable[[harness.Workload, str, str], harness.Log]
    overhead: tuple[float, float] = (5, 5)  # means that are told [s]
    outages: bool = False


DISTURBANCES = {
    "none": Disturbance(written),
    "overheads of 5 s": Disturbance(lambda jobs, order, start: written(jobs, order, start, 5, 5)),
    "overheads of 60 and 120 s": Disturbance(lambda jobs, order, start: written(jobs, order, start, 60, 120)),
    "the same, told": Disturbance(lambda jobs, order, start: written(jobs, order, start, 60, 120), (60, 120)),
    "estimates hidden": Disturbance(lambda jobs, order, start: hidden(written(jobs, order, start))),
    "six outages": Disturbance(lambda jobs, order, start: written(jobs, order, start, events=six_outages(jobs))),
    "six outages, told": Disturbance(
        lambda jobs, order, start: written(jobs, order, start, events=six_outages(jobs)), outages=True
    ),
}


def rows(jobs: int, states: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Yield for each log the policies that `identify` finds."""
    source = workload(seed, jobs)
    for name, disturbance in DISTURBANCES.items():
        for order, start in (*TRUTHS, *OUTSIDERS):
            yield (name, order, start, *identified(source, disturbance, order, start, states))


def identified(
    source: harness.Workload, disturbance: Disturbance, order: str, start: str, states: int
) -> tuple[object, ...]:
    """Identify one log, and return the place of its true policy."""
    log = harness.prepare(disturbance.log(source, order, start))
    events = six_outages(source) if disturbance.outages else None
    found = harness.identify(log, PROCS, orders=ORDERS, starts=STARTS, states=states, events=events)

    def replay(jobs: harness.Workload, one: harness.Likeness) -> harness.Schedule:
        return harness.simulate(jobs, PROCS, harness.Scheduler(one.order, one.start, energy="none"))

    launch, completion = (f"exponential(mean={mean})" for mean in disturbance.overhead)
    verdict = identity_verdict(log, PROCS, found, replay, states=states, launch=launch, completion=completion)
    assert verdict is not None
    truth = next((k for k, one in enumerate(found) if (one.order, one.start) == (order, start)), None)
    its = None if truth is None else found[truth]
    first = [verdict.nearest, *verdict.alike]
    return (
        None if truth is None else truth + 1,
        None if its is None else "yes" if its.tied else "no",
        sum(one.tied for one in found),
        None if its is None else round(its.one_step, 3),
        None if its is None else "yes" if its in first else "no",
        len(first),
        round(verdict.nearest.typical, 3),
        round(verdict.attainable, 3),
        f"{verdict.nearest.order} + {verdict.nearest.start}" if verdict.named else "none of these",
    )


@app.command()
def study(
    jobs: Annotated[int, typer.Option(help="jobs of each log")] = 2000,
    states: Annotated[int, typer.Option(help="logged states in which each policy decides")] = 150,
    seed: Annotated[int, typer.Option(help="of the jobs")] = 1,
    format: Annotated[str, typer.Option(help="table, markdown, csv, …")] = "table",
) -> None:
    """Identify the policy of logs with a known policy, with and without disturbances."""
    harness.register(Outsiders())
    typer.echo(render(HEADERS, list(rows(jobs, states, seed)), format))


if __name__ == "__main__":
    main(app)
