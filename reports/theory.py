"""Makes the table of theory.md: the simulator against closed forms and exact recursions, in seeded runs.

What is exact (the workload recursion, Little's law, conservation of work) must agree to rounding. What is random is
simulated in independent replications whose first jobs are discarded, and the expected value must lie in the t-interval
of their means. Time is in seconds; mean service is one second, but in generated logs.

Every comparison draws from generators seeded by its own name, so that it gives the same numbers whatever else is
compared. The simulator and its start policy are parameters: a broken one must fail.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol

import numpy as np
import pandas as pd
import typer
from scipy import stats
from theory_workloads import (
    BUSY,
    RELEASES,
    SERVICES,
    STREAMS,
    WIDTHS,
    Draw,
    Generator,
    Quantity,
    Service,
    busy_at,
    drawn_widths,
    hpc,
    limited,
    requests_model,
    stream,
)

import harness
from harness import NodeType, Platform, Schedule, Scheduler, Workload, prepare
from harness.cli import main
from harness.present.tables import known_format, render
from harness.theory import (
    InfiniteServer,
    delays_of_arrivals,
    little,
    mg1_mean_wait,
    mmc_mean_wait,
    stability_constant,
)
from harness.theory.infinite_server import Release
from harness.theory.inputs import FloatArray, IntArray, positive
from harness.workload.log import Log

#: Of the intervals: with another seed, one comparison in a thousand would fail by chance.
CONFIDENCE = 0.999

#: Relative error that is put down to rounding where a law holds exactly.
ROUNDING = 1e-9

#: Number of replications of every random quantity, and number of jobs.
REPLICATIONS, JOBS = 20, 50_000

#: The first 1/DISCARDED of the jobs is discarded.
DISCARDED = 10

#: Order and start policies in which Little's law must hold; without a start policy, the one that is compared.
SCHEDULERS = (("fcfs", None), ("fcfs", "greedy"), ("spf", "easy"), ("fcfs", "conservative"), ("lcfs", "preempt"))

HEADERS = ("comparison", "what", "expected", "simulated", "low", "high", "agrees")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def compare(
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Does the simulator agree with the closed forms? Takes about half a minute; exit status 1 if it does not."""
    known_format(format)
    compared = compare_all()
    typer.echo(comparison_table(compared, format))
    if not all(comparison.agrees for comparison in compared):
        raise typer.Exit(1)


@dataclass(frozen=True)
class Comparison:
    """A value that theory gives, and the interval in which the simulator sees it."""

    name: str
    what: str
    expected: float
    simulated: float
    low: float
    high: float

    @property
    def agrees(self) -> bool:
        """Does the simulator agree with theory?"""
        return self.low <= self.expected <= self.high


class Simulate(Protocol):
    """A simulator: `harness.simulate`, or what stands in for it in a test."""

    def __call__(self, workload: Workload, platform: Platform, scheduler: Scheduler, /) -> Schedule: ...


@dataclass(frozen=True)
class Subject:
    """The subject of the comparison: a simulator, and the start policy that should keep strict order."""

    simulate: Simulate = harness.simulate
    start: str = "none"
    scale: float = 1.0  # of the number of jobs

    def __post_init__(self) -> None:
        positive(self.scale, "scale")

    def jobs(self, usual: int = JOBS) -> int:
        """Return how many jobs to simulate where `usual` ones are at scale 1."""
        return max(1_000, round(usual * self.scale))

    def run(self, workload: Workload, procs: int, order: str = "fcfs", start: str | None = None) -> Schedule:
        """Simulate on `procs` processors, strictly first come, first served unless `start` names another policy."""
        machine = Platform(f"{procs} processors", (NodeType(1, procs),))
        return self.simulate(workload, machine, Scheduler(order, start or self.start))


def compare_all(scale: float = 1.0, start: str = "none", simulate: Simulate = harness.simulate) -> list[Comparison]:
    """Make every comparison, in runs of `scale` times their usual length.

    `start` should keep strict order and `simulate` be a simulator: they are what is compared.
    """
    subject = Subject(simulate, start, scale)
    return [compare(subject) for compare in comparisons().values()]


def comparisons() -> dict[str, Callable[[Subject], Comparison]]:
    """List the comparisons by name, each still to be made."""
    return {name: partial(compare, name) for name, compare in _all()}


def comparison_table(compared: Iterable[Comparison], format: str = "table") -> str:
    """Print the comparisons in one of the formats of `harness.present.tables`."""
    rows = [(c.name, c.what, c.expected, c.simulated, c.low, c.high, c.agrees) for c in compared]
    return render(HEADERS, rows, format)


def _all() -> Iterator[tuple[str, Callable[[str, Subject], Comparison]]]:
    for jobs, (procs, make) in STREAMS.items():
        yield f"recursion, {jobs}", partial(recursion, procs=procs, make=make)
    for procs in (1, 4, 16):
        for load in (0.5, 0.8):
            yield f"M/M/{procs} at {100 * load:g} %", partial(mmc_wait, procs=procs, load=load)
    for law, service in SERVICES.items():
        yield f"M/G/1 at 80 %, {law}", partial(mg1_wait, service=service, load=0.8)
    for order, start in SCHEDULERS:
        yield f"Little's law, {order} + {start or 'none'}", partial(littles_law, order=order, start=start)
    yield "work conserved", work_conserved
    yield "no processor idles", no_processor_idles
    for some, widths in WIDTHS.items():
        yield f"saturated, {some}", partial(saturated, widths=widths)
    for load in (0.9, 1.2):
        yield f"growth at {100 * load:g} %", partial(growth, load=load)
    for release in RELEASES:
        for what, quantity in BUSY.items():
            yield f"infinite servers, {release}: {what}", partial(busy_processors, release=release, quantity=quantity)
        yield f"infinite servers, {release}: completion", partial(completion, release=release)


# ---------------------------------------------------------------- exact laws


def recursion(name: str, subject: Subject, *, procs: int, make: Callable[[int, int], Log]) -> Comparison:
    """Compare the delays of first come, first served with the workload recursion, to the last bit."""
    workload = prepare(make(subject.jobs(100_000), _seed(name)))
    submit, work, width = (workload.jobs[column].to_numpy() for column in ("submit", "work", "procs"))
    expected = delays_of_arrivals(submit, work, width, procs)
    error = float(np.abs(_waits(subject.run(workload, procs)) - expected).max())
    return Comparison(name, "largest difference of a delay [s]", 0.0, error, error, error)


def littles_law(name: str, subject: Subject, *, order: str, start: str | None) -> Comparison:
    """Compare the integral of the number of jobs in the system, which the loop adds up, with their responses."""
    schedule = subject.run(prepare(hpc(subject.jobs(10_000), _seed(name))), 256, order, start)
    measures = schedule.measures()
    clock = schedule.outcome.clock
    rate = len(schedule.ran) / float(clock.now - clock.began)
    return _exact(name, "mean number of jobs", little(rate, measures["mean_response"]), measures["mean_jobs"])


def work_conserved(name: str, subject: Subject) -> Comparison:
    """Compare the integral of the number of busy processors with the work that the jobs brought."""
    workload = prepare(hpc(subject.jobs(), _seed(name)))
    work, width = (workload.jobs[column].to_numpy(np.float64) for column in ("work", "procs"))
    busy = subject.run(workload, 256).outcome.sums.busy
    return _exact(name, "busy processors × time [s]", float(work @ width), float(busy))


def no_processor_idles(name: str, subject: Subject) -> Comparison:
    """Count the processors that idle while a job waits, where jobs need one each: none."""
    dice = np.random.default_rng(_seed(name))
    gaps = dice.exponential(1 / 7.5, subject.jobs())
    jobs = stream(gaps, dice.standard_exponential(gaps.size))
    return _exact(name, "idle processors while jobs wait", 0.0, subject.run(jobs, 8).measures()["job_wasting"])


# ---------------------------------------------------------------- textbook queues


def mmc_wait(name: str, subject: Subject, *, procs: int, load: float) -> Comparison:
    """Compare the mean wait in M/M/c with Erlang C."""
    values = _mean_waits(name, subject, load * procs, Generator.standard_exponential, procs)
    return _estimated(name, "mean wait [s], Erlang C", mmc_mean_wait(load * procs, 1.0, procs), values)


def mg1_wait(name: str, subject: Subject, *, service: Service, load: float) -> Comparison:
    """Compare the mean wait in M/G/1 with Pollaczek and Khinchine."""
    values = _mean_waits(name, subject, load, service.draw, 1)
    return _estimated(name, "mean wait [s], Pollaczek–Khinchine", mg1_mean_wait(load, 1.0, service.variance), values)


def _mean_waits(name: str, subject: Subject, rate: float, draw: Draw, procs: int) -> Iterator[float]:
    """Yield the mean wait of each replication, of jobs of one processor that arrive at `rate` [1/s]."""
    for dice in _replications(name):
        gaps = dice.exponential(1 / rate, subject.jobs())
        waits = _waits(subject.run(stream(gaps, draw(dice, gaps.size)), procs))
        yield float(_settled(waits).mean())


# ---------------------------------------------------------------- how much can be served


def saturated(name: str, subject: Subject, *, widths: FloatArray) -> Comparison:
    """Compare the throughput with 1/C, jobs per mean service, where all jobs are there from the beginning."""
    values = (_throughput(subject, dice, widths) for dice in _replications(name))
    return _estimated(name, "throughput [1/s], 1/(C·E[S])", 1 / stability_constant(widths), values)


def _throughput(subject: Subject, dice: Generator, widths: FloatArray) -> float:
    """Count the jobs that end per second, from a tenth of the starts to the last: the queue is not empty then."""
    count = subject.jobs()
    jobs = stream(np.zeros(count), dice.standard_exponential(count), drawn_widths(dice, widths, count))
    frame = subject.run(jobs, widths.size).frame
    start, end = (np.sort(frame[column].to_numpy(np.float64)) for column in ("start", "end"))
    first, last = start[count // DISCARDED], start[-1]
    return float(np.searchsorted(end, last) - np.searchsorted(end, first)) / float(last - first)


def growth(name: str, subject: Subject, *, load: float) -> Comparison:
    """Compare how much longer each job waits than the one before: not at all if the stream is stable, else steadily.

    Jobs arrive at λ and, while the queue does not empty, start at 1/(C·E[S]): each waits C·E[S] − 1/λ longer.
    """
    widths = WIDTHS["powers of two on 64"]
    constant = stability_constant(widths)
    values = (_growth(subject, dice, widths, load / constant) for dice in _replications(name))
    return _estimated(name, "growth of the wait [s per job]", max(0.0, constant - constant / load), values)


def _growth(subject: Subject, dice: Generator, widths: FloatArray, rate: float) -> float:
    count = subject.jobs()
    gaps, service = dice.exponential(1 / rate, count), dice.standard_exponential(count)
    waits = _settled(_waits(subject.run(stream(gaps, service, drawn_widths(dice, widths, count)), widths.size)))
    return float(stats.linregress(np.arange(waits.size), waits).slope)


# ---------------------------------------------------------------- unlimited processors and a time limit


def busy_processors(name: str, subject: Subject, *, release: Release, quantity: Quantity) -> Comparison:
    """Compare the distribution of the busy processors at random instants."""
    model = requests_model(release)
    values = []
    for dice in _replications(name):
        frame = _requests(subject, dice, model)[0]
        begin, end = np.quantile(frame["submit"], (1 / DISCARDED, 1.0))
        values.append(quantity.observed(busy_at(frame, dice.uniform(begin, end, subject.jobs(2_000))), model))
    return _estimated(name, quantity.what, quantity.expected(model), values)


def completion(name: str, subject: Subject, *, release: Release) -> Comparison:
    """Compare the share of the requests that the time limit does not stop."""
    model = requests_model(release)
    values = []
    for dice in _replications(name):
        frame, request = _requests(subject, dice, model)
        stopped = np.bincount(request, weights=frame["status"] == "killed")
        values.append(float(np.mean(stopped == 0)))
    return _estimated(name, "share of requests", model.completion_probability, values)


def _requests(subject: Subject, dice: Generator, model: InfiniteServer) -> tuple[pd.DataFrame, IntArray]:
    """Run the model on more processors than are ever needed; return its jobs, and to which request each belongs.

    A request is one job if its processors are released together, and else as many jobs of one processor each.
    """
    count = subject.jobs(10_000)
    submit = np.cumsum(dice.exponential(1 / model.arrival_rate, count))
    widths = drawn_widths(dice, model.widths, count)
    parts = widths if model.release == "independent" else np.ones_like(widths)
    request = np.repeat(np.arange(count), parts)
    service = dice.exponential(1 / model.service_rate, request.size)
    limit = dice.exponential(1 / model.kill_rate, request.size)
    jobs = limited(submit[request], service, (widths // parts)[request], limit)
    return subject.run(jobs, 10 * model.procs_needed(0.999)).frame, request


# ---------------------------------------------------------------- how it is judged


def _seed(name: str) -> int:
    """Return a seed that is different for every comparison, and the same in every run."""
    return zlib.crc32(name.encode())


def _replications(name: str) -> list[Generator]:
    return np.random.default_rng(_seed(name)).spawn(REPLICATIONS)


def _waits(schedule: Schedule) -> FloatArray:
    return schedule.frame["wait"].to_numpy(np.float64)


def _settled(values: FloatArray) -> FloatArray:
    """Leave out the first jobs, which still see that the system began empty."""
    return values[values.size // DISCARDED :]


def _estimated(name: str, what: str, expected: float, values: Iterable[float]) -> Comparison:
    """Compare the mean of independent values, with its t-interval."""
    sample = np.fromiter(values, np.float64)
    interval = stats.ttest_1samp(sample, expected).confidence_interval(CONFIDENCE)
    return Comparison(name, what, expected, float(sample.mean()), float(interval.low), float(interval.high))


def _exact(name: str, what: str, expected: float, simulated: float) -> Comparison:
    """Compare a value without chance: it may be off by rounding only."""
    slack = ROUNDING * abs(expected)
    return Comparison(name, what, expected, simulated, simulated - slack, simulated + slack)


if __name__ == "__main__":
    main(app)
