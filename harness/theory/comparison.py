"""The simulator held to account: seeded runs, each compared with a closed form or an exact recursion.

What is exact (the workload recursion, Little's law, conservation of work) must agree to rounding. What is random is
simulated in independent replications whose first jobs are discarded, and the expected value must lie in the t-interval
of their means. Time is in seconds; mean service is one second, but in generated logs.

Every comparison draws from generators seeded by its own name, so that it gives the same numbers whatever else is
compared. The simulator and its start policy are parameters: a broken one must fail.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from harness.policy import Scheduler
from harness.run import simulate as simulate_
from harness.theory.classical import little, mg1_mean_wait, mmc_mean_wait
from harness.theory.infinite_server import InfiniteServer, Release
from harness.theory.inputs import FloatArray, IntArray, positive
from harness.theory.kiefer_wolfowitz import delays_of_arrivals
from harness.theory.stability import stability_constant

if TYPE_CHECKING:
    from harness.platform.platform import Platform
    from harness.results.schedule import Schedule
    from harness.workload.log import Log, Workload

Generator = np.random.Generator

#: Of the intervals: with another seed, one comparison in a thousand would fail by chance.
CONFIDENCE = 0.999

#: Relative error that is put down to rounding where a law holds exactly.
ROUNDING = 1e-9

#: Every random quantity is simulated so often, with so many jobs.
REPLICATIONS, JOBS = 20, 50_000

#: One in so many jobs is discarded, the first ones.
DISCARDED = 10

HEADERS = ("comparison", "what", "expected", "simulated", "low", "high", "agrees")


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

    def __call__(self, workload: "Workload", platform: "Platform", scheduler: Scheduler, /) -> "Schedule": ...


@dataclass(frozen=True)
class Subject:
    """What is held to account: a simulator, and the start policy that should keep strict order."""

    simulate: Simulate = simulate_
    start: str = "none"
    scale: float = 1.0  # of the number of jobs

    def __post_init__(self) -> None:
        positive(self.scale, "scale")

    def jobs(self, usual: int = JOBS) -> int:
        """How many jobs to simulate where `usual` ones are at scale 1."""
        return max(1_000, round(usual * self.scale))

    def run(self, workload: "Workload", servers: int, order: str = "fcfs", start: str | None = None) -> "Schedule":
        """Simulate on so many servers; strictly first come, first served unless `start` names another policy."""
        from harness.platform.platform import NodeType, Platform

        machine = Platform(f"{servers} servers", (NodeType(1, servers),))
        return self.simulate(workload, machine, Scheduler(order, start or self.start))


def compare_all(scale: float = 1.0, start: str = "none", simulate: Simulate = simulate_) -> list[Comparison]:
    """Every comparison, in runs of `scale` times their usual length.

    `start` should keep strict order and `simulate` be a simulator: they are what is compared.
    """
    subject = Subject(simulate, start, scale)
    return [compare(subject) for compare in comparisons().values()]


def comparisons() -> dict[str, Callable[[Subject], Comparison]]:
    """The comparisons by name, each still to be made."""
    return {name: partial(compare, name) for name, compare in _all()}


def comparison_table(compared: Iterable[Comparison], format: str = "table") -> str:
    """The comparisons as text, in one of the formats of `harness.report.tables`."""
    from harness.report.tables import render

    rows = [(c.name, c.what, c.expected, c.simulated, c.low, c.high, c.agrees) for c in compared]
    return render(HEADERS, rows, format)


def _all() -> Iterator[tuple[str, Callable[[str, Subject], Comparison]]]:
    for stream, (servers, make) in STREAMS.items():
        yield f"recursion, {stream}", partial(recursion, servers=servers, make=make)
    for servers in (1, 4, 16):
        for load in (0.5, 0.8):
            yield f"M/M/{servers} at {100 * load:g} %", partial(mmc_wait, servers=servers, load=load)
    for law, service in SERVICES.items():
        yield f"M/G/1 at 80 %, {law}", partial(mg1_wait, service=service, load=0.8)
    for order, start in SCHEDULERS:
        yield f"Little's law, {order} + {start or 'none'}", partial(littles_law, order=order, start=start)
    yield "work conserved", work_conserved
    yield "no server idles", no_server_idles
    for some, widths in WIDTHS.items():
        yield f"saturated, {some}", partial(saturated, widths=widths)
    for load in (0.9, 1.2):
        yield f"growth at {100 * load:g} %", partial(growth, load=load)
    for release in RELEASES:
        for what, quantity in BUSY.items():
            yield f"infinite servers, {release}: {what}", partial(busy_servers, release=release, quantity=quantity)
        yield f"infinite servers, {release}: completion", partial(completion, release=release)


# ---------------------------------------------------------------- exact laws


def recursion(name: str, subject: Subject, *, servers: int, make: "Callable[[int, int], Log]") -> Comparison:
    """Delays of first come, first served are those of the workload recursion, to the last bit."""
    from harness.workload.prepare import prepare

    workload = prepare(make(subject.jobs(100_000), _seed(name)))
    submit, work, procs = (workload.jobs[column].to_numpy() for column in ("submit", "work", "procs"))
    expected = delays_of_arrivals(submit, work, procs, servers)
    error = float(np.abs(_waits(subject.run(workload, servers)) - expected).max())
    return Comparison(name, "largest difference of a delay [s]", 0.0, error, error, error)


def littles_law(name: str, subject: Subject, *, order: str, start: str | None) -> Comparison:
    """The integral of the number of jobs in the system, which the loop adds up, is the sum of their responses."""
    from harness.workload.prepare import prepare

    schedule = subject.run(prepare(_hpc(subject.jobs(10_000), _seed(name))), 256, order, start)
    measures = schedule.measures()
    clock = schedule.outcome.clock
    rate = len(schedule.ran) / float(clock.now - clock.began)
    return _exact(name, "mean number of jobs", little(rate, measures["mean_response"]), measures["mean_jobs"])


def work_conserved(name: str, subject: Subject) -> Comparison:
    """The integral of the number of busy servers is the work that the jobs brought."""
    from harness.workload.prepare import prepare

    workload = prepare(_hpc(subject.jobs(), _seed(name)))
    work, procs = (workload.jobs[column].to_numpy(np.float64) for column in ("work", "procs"))
    busy = subject.run(workload, 256).outcome.sums.busy
    return _exact(name, "busy servers × time [s]", float(work @ procs), float(busy))


def no_server_idles(name: str, subject: Subject) -> Comparison:
    """Where jobs need one server each, none is idle while a job waits."""
    dice = np.random.default_rng(_seed(name))
    gaps = dice.exponential(1 / 7.5, subject.jobs())
    stream = _stream(gaps, dice.standard_exponential(gaps.size))
    return _exact(name, "idle servers while jobs wait", 0.0, subject.run(stream, 8).measures()["job_wasting"])


# ---------------------------------------------------------------- textbook queues


def mmc_wait(name: str, subject: Subject, *, servers: int, load: float) -> Comparison:
    """M/M/c: mean wait against Erlang C."""
    values = _mean_waits(name, subject, load * servers, Generator.standard_exponential, servers)
    return _estimated(name, "mean wait [s], Erlang C", mmc_mean_wait(load * servers, 1.0, servers), values)


def mg1_wait(name: str, subject: Subject, *, service: "Service", load: float) -> Comparison:
    """M/G/1: mean wait against Pollaczek and Khinchine."""
    values = _mean_waits(name, subject, load, service.draw, 1)
    return _estimated(name, "mean wait [s], Pollaczek–Khinchine", mg1_mean_wait(load, 1.0, service.variance), values)


def _mean_waits(name: str, subject: Subject, rate: float, draw: "Draw", servers: int) -> Iterator[float]:
    """Of each replication, with jobs of one server that arrive at `rate` [1/s]."""
    for dice in _replications(name):
        gaps = dice.exponential(1 / rate, subject.jobs())
        waits = _waits(subject.run(_stream(gaps, draw(dice, gaps.size)), servers))
        yield float(_settled(waits).mean())


# ---------------------------------------------------------------- how much can be served


def saturated(name: str, subject: Subject, *, widths: FloatArray) -> Comparison:
    """All jobs are there from the beginning: as many are served per mean service as C says, 1/C."""
    values = (_throughput(subject, dice, widths) for dice in _replications(name))
    return _estimated(name, "throughput [1/s], 1/(C·E[S])", 1 / stability_constant(widths), values)


def _throughput(subject: Subject, dice: Generator, widths: FloatArray) -> float:
    """Jobs that end per second, from a tenth of the starts to the last, until when the queue is not empty."""
    jobs = subject.jobs()
    stream = _stream(np.zeros(jobs), dice.standard_exponential(jobs), _widths(dice, widths, jobs))
    frame = subject.run(stream, widths.size).frame
    start, end = (np.sort(frame[column].to_numpy(np.float64)) for column in ("start", "end"))
    first, last = start[jobs // DISCARDED], start[-1]
    return float(np.searchsorted(end, last) - np.searchsorted(end, first)) / float(last - first)


def growth(name: str, subject: Subject, *, load: float) -> Comparison:
    """How much longer each job waits than the one before it: not at all if the stream is stable, else steadily.

    Jobs arrive at λ and, while the queue does not empty, start at 1/(C·E[S]): each waits C·E[S] − 1/λ longer.
    """
    widths = WIDTHS["powers of two on 64"]
    constant = stability_constant(widths)
    values = (_growth(subject, dice, widths, load / constant) for dice in _replications(name))
    return _estimated(name, "growth of the wait [s per job]", max(0.0, constant - constant / load), values)


def _growth(subject: Subject, dice: Generator, widths: FloatArray, rate: float) -> float:
    jobs = subject.jobs()
    stream = _stream(dice.exponential(1 / rate, jobs), dice.standard_exponential(jobs), _widths(dice, widths, jobs))
    waits = _settled(_waits(subject.run(stream, widths.size)))
    return float(stats.linregress(np.arange(waits.size), waits).slope)


# ---------------------------------------------------------------- unlimited servers and a time limit


def busy_servers(name: str, subject: Subject, *, release: Release, quantity: "Quantity") -> Comparison:
    """The distribution of the busy servers at random instants."""
    model = _limited(release)
    values = []
    for dice in _replications(name):
        frame = _requests(subject, dice, model)[0]
        begin, end = np.quantile(frame["submit"], (1 / DISCARDED, 1.0))
        values.append(quantity.observed(_busy(frame, dice.uniform(begin, end, subject.jobs(2_000))), model))
    return _estimated(name, quantity.what, quantity.expected(model), values)


def completion(name: str, subject: Subject, *, release: Release) -> Comparison:
    """The share of the requests that the time limit does not stop."""
    model = _limited(release)
    values = []
    for dice in _replications(name):
        frame, request = _requests(subject, dice, model)
        stopped = np.bincount(request, weights=frame["status"] == "killed")
        values.append(float(np.mean(stopped == 0)))
    return _estimated(name, "share of requests", model.completion_probability, values)


def _limited(release: Release) -> InfiniteServer:
    """Twenty requests a second, for one server half of the time, at most four; limits are twice as long as services."""
    return InfiniteServer(20.0, 1.0, 0.5, np.array([0.5, 0.2, 0.1, 0.2]), release)


def _requests(subject: Subject, dice: Generator, model: InfiniteServer) -> tuple[pd.DataFrame, IntArray]:
    """A run of the model on more servers than are ever needed, and the request to which each of its jobs belongs.

    A request is one job if its servers are released together, and else as many jobs of one server each.
    """
    count = subject.jobs(10_000)
    submit = np.cumsum(dice.exponential(1 / model.arrival_rate, count))
    widths = _widths(dice, model.widths, count)
    parts = widths if model.release == "independent" else np.ones_like(widths)
    request = np.repeat(np.arange(count), parts)
    service = dice.exponential(1 / model.service_rate, request.size)
    limit = dice.exponential(1 / model.kill_rate, request.size)
    stream = _workload(submit[request], service, (widths // parts)[request], limit)
    return subject.run(stream, 10 * model.servers_needed(0.999)).frame, request


def _busy(frame: pd.DataFrame, instants: FloatArray) -> FloatArray:
    """How many servers are busy at these instants."""
    procs = frame["procs"].to_numpy(np.float64)
    busy = np.zeros(instants.size)
    for column, sign in (("start", 1), ("end", -1)):
        times = frame[column].to_numpy(np.float64)
        order = np.argsort(times)
        until = np.concatenate(([0.0], np.cumsum(procs[order])))
        busy += sign * until[np.searchsorted(times[order], instants, side="right")]
    return busy


# ---------------------------------------------------------------- what is simulated


Draw = Callable[[Generator, int], FloatArray]


@dataclass(frozen=True)
class Service:
    """A law of service times with mean 1 s."""

    variance: float  # s²
    draw: Draw


def _hyperexponential(dice: Generator, count: int) -> FloatArray:
    """Nine of ten jobs take 0.5 s in the mean, the tenth 5.5 s."""
    return dice.standard_exponential(count) * np.where(dice.random(count) < 0.9, 0.5, 5.5)


SERVICES = {
    "deterministic": Service(0.0, lambda dice, count: np.ones(count)),
    "uniform": Service(1 / 3, lambda dice, count: dice.uniform(0.0, 2.0, count)),
    "hyperexponential": Service(5.5, _hyperexponential),
}


@dataclass(frozen=True)
class Quantity:
    """Something about the number of busy servers, as the model gives it and as a sample shows it."""

    what: str
    expected: Callable[[InfiniteServer], float]
    observed: Callable[[FloatArray, InfiniteServer], float]


def _up_to(probability: float) -> Quantity:
    """The distribution function at a quantile: how often so many servers are enough."""
    return Quantity(
        "share of instants",
        lambda model: float(model.distribution()[: model.servers_needed(probability) + 1].sum()),
        lambda busy, model: float(np.mean(busy <= model.servers_needed(probability))),
    )


BUSY = {
    "mean": Quantity("busy servers", lambda model: model.mean, lambda busy, _: float(busy.mean())),
    "variance": Quantity(
        "busy servers²", lambda model: model.variance, lambda busy, model: float(np.mean((busy - model.mean) ** 2))
    ),
    "up to median": _up_to(0.5),
    "up to 95 % quantile": _up_to(0.95),
}

RELEASES: tuple[Release, ...] = ("together", "independent")


def _evenly(servers: int, widths: Sequence[int]) -> FloatArray:
    """The distribution in which each of `widths` is as likely as the others."""
    p = np.zeros(servers)
    p[np.array(widths) - 1] = 1 / len(widths)
    return p


#: Probabilities that a job needs 1, 2, … servers, up to all of the machine.
WIDTHS = {
    "1 or 2 on 2": _evenly(2, (1, 2)),
    "uniform on 10": _evenly(10, range(1, 11)),
    "uniform on 100": _evenly(100, range(1, 101)),
    "powers of two on 64": _evenly(64, (1, 2, 4, 8, 16, 32, 64)),
}

#: Order and start policies in which Little's law must hold; without a start policy, the one that is compared.
SCHEDULERS = (("fcfs", None), ("fcfs", "greedy"), ("spf", "easy"), ("fcfs", "conservative"), ("lcfs", "preempt"))


def _hpc(jobs: int, seed: int) -> "Log":
    from harness.workload.synthetic import lublin

    return lublin(jobs, 256, seed, load=0.8)


def _poisson(procs: int, load: float, **options: Any) -> "Callable[[int, int], Log]":
    def make(jobs: int, seed: int) -> "Log":
        from harness.workload.synthetic import poisson

        return poisson(jobs, procs, load, seed=seed, **options)

    return make


#: Servers, and how to make so many jobs from a seed.
STREAMS: "dict[str, tuple[int, Callable[[int, int], Log]]]" = {
    "one server each": (16, _poisson(16, 0.95, width=1)),
    "powers of two": (64, _poisson(64, 0.7, whole=False)),
    "many at one instant": (64, _poisson(64, 0.7, mean_runtime=3)),
    "overloaded": (1024, _poisson(1024, 1.3)),
    "HPC-like": (256, _hpc),
}


def _stream(gaps: FloatArray, service: FloatArray, procs: ArrayLike = 1) -> "Workload":
    """Jobs that arrive with these gaps between them."""
    return _workload(np.cumsum(gaps), service, procs)


def _workload(submit: FloatArray, service: FloatArray, procs: ArrayLike, limit: FloatArray | None = None) -> "Workload":
    """Jobs that are stopped at their limit, if there is one."""
    from harness.workload.frame import log_from_frame
    from harness.workload.prepare import prepare

    columns = {"submit": submit, "run": service, "procs": procs, "estimate": service if limit is None else limit}
    return prepare(log_from_frame(pd.DataFrame(columns), "stream"), overrun="clip")


def _widths(dice: Generator, widths: FloatArray, count: int) -> IntArray:
    return dice.choice(np.arange(1, widths.size + 1), count, p=widths)


# ---------------------------------------------------------------- how it is judged


def _seed(name: str) -> int:
    """Different for every comparison, the same in every run."""
    return zlib.crc32(name.encode())


def _replications(name: str) -> list[Generator]:
    return np.random.default_rng(_seed(name)).spawn(REPLICATIONS)


def _waits(schedule: "Schedule") -> FloatArray:
    return schedule.frame["wait"].to_numpy(np.float64)


def _settled(values: FloatArray) -> FloatArray:
    """Without the first jobs, which still see that the system began empty."""
    return values[values.size // DISCARDED :]


def _estimated(name: str, what: str, expected: float, values: Iterable[float]) -> Comparison:
    """The mean of independent values, with its t-interval."""
    sample = np.fromiter(values, np.float64)
    interval = stats.ttest_1samp(sample, expected).confidence_interval(CONFIDENCE)
    return Comparison(name, what, expected, float(sample.mean()), float(interval.low), float(interval.high))


def _exact(name: str, what: str, expected: float, simulated: float) -> Comparison:
    """A value without chance: it may be off by rounding only."""
    slack = ROUNDING * abs(expected)
    return Comparison(name, what, expected, simulated, simulated - slack, simulated + slack)
