"""Repeatability: the distance between two repetitions of one experiment, a reference value for the adequacy.

The launch of a job and the clean-up after it take the machine a varying time. A repetition replays every job with work
S_i + a_i + c_i, with random launch and completion overheads a_i and c_i. The processors are held for all of it, and
schedulers do not know the overheads. The processing time of a job includes both, as in the paper. The runtimes of a log
include them too, but only the differences between repetitions count. Requested times that do not cover the overheads
are raised, equally in all repetitions.

With overheads `outside`, the runtime excludes them, as on machines that log the start and end of the job's own program.
The launch then counts as waiting. The completion counts for no job, but the processors are free only after it.

The scheduler may also see a job some time after its submission. If the scheduler runs once a minute, this decides which
run is the first to consider the job.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import parse
from harness.results.adequacy import Adequacy, Growth, Stream, compare, simulated_stream
from harness.workload.log import Step, Workload

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Floats = npt.NDArray[np.float64]

#: Whether the runtime of a job includes its launch and its completion.
Overheads = Literal["inside", "outside"]

#: Distribution → its parameters [s] with defaults, and the function that draws from it. All values are at least 0.
_DISTRIBUTIONS: dict[str, tuple[dict[str, float], Callable[..., Floats]]] = {
    "constant": ({"seconds": 5.0}, lambda draw, size, seconds: np.full(size, seconds)),
    "exponential": ({"mean": 5.0}, lambda draw, size, mean: draw.exponential(mean, size)),
    "uniform": ({"low": 0.0, "high": 10.0}, lambda draw, size, low, high: draw.uniform(low, high, size)),
    "lognormal": (
        {"median": 5.0, "sigma": 0.5},
        lambda draw, size, median, sigma: median * np.exp(sigma * draw.standard_normal(size)),
    ),
}


#: Overheads must be shorter than decades [s]: the squares of longer ones would overflow.
_TOO_LONG = 1e9

#: The share of true repetitions that the verdict should accept.
_LEVEL = 0.95


@dataclass(frozen=True)
class Repeatability:
    """P between pairs of repetitions, called P_ideal, and the growth of their differences."""

    P: float  # mean over the pairs [s]
    low: float  # of the 95 % interval of that mean [s]; not a number for a single pair
    high: float
    pairs: tuple[float, ...]  # P of each pair [s]
    growth: tuple[Growth, ...]
    upper: float  # P of another pair is below this with a probability of at least `level` [s]
    level: float  # 95 %, or less with few pairs

    def verdict(self, model: Adequacy) -> str:
        """Return whether the replay is distinguishable from the machine itself, in a sentence.

        It is not if another pair of repetitions may have such a P. The mean of P is no threshold: a quarter or more of
        true repetitions exceed it.
        """
        P = model.P
        reference = f"the {self.upper:,.1f} s that {self.level:.0%} of pairs of repetitions stay below"
        if self.upper >= P:
            return f"P = {P:,.1f} s, not above {reference}: the replay is indistinguishable from the machine."
        times = f"{P / self.P:,.1f} times P_ideal and " if self.P > 0 else ""
        return f"P = {P:,.1f} s, {times}above {reference}: the replay is distinguishable from the machine."


def upper_quantile(values: Sequence[float]) -> tuple[float, float]:
    """Return an upper bound for another value like these, and its probability: 95 %, or less if there are few values.

    Of n + 1 values in random order, the last is not above the k-th smallest of the others with probability k / (n + 1).
    """
    count = len(values)
    k = min(count, math.ceil(_LEVEL * (count + 1)))
    return sorted(values)[k - 1], k / (count + 1)


def repeatability(
    workload: Workload,
    replay: "Callable[[Workload], Schedule]",
    *,
    launch: str = "exponential(mean=5)",
    completion: str = "exponential(mean=5)",
    overheads: Overheads = "inside",
    submission: str = "constant(seconds=0)",
    pairs: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Repeatability:
    """Replay `workload` twice with random overheads, `pairs` times, and return the distance between the two.

    `replay` simulates a workload with the scheduler, platform and seed in question. The interval of the mean is
    bootstrapped, because single pairs may differ much. `progress(done, all)` is called after every replay.
    """
    if overheads not in get_args(Overheads):
        raise HarnessError(f"overheads={overheads!r}: {did_you_mean(str(overheads), get_args(Overheads))}")
    if pairs < 1:
        raise HarnessError(f"pairs={pairs}: expected at least one pair of repetitions")
    draw = np.random.default_rng(seed)
    runs = np.isinf(workload.jobs["cancel"].to_numpy())  # jobs that leave the queue have no launch and no completion
    size = (2 * pairs, len(workload))
    before, after = runs * draw_overheads(launch, draw, size), runs * draw_overheads(completion, draw, size)
    late, taken = draw_overheads(submission, draw, size), before + after
    longest = taken.max(axis=0)

    def repeat(k: int) -> Stream:
        identity = f"{workload.digest} {launch} {completion} {submission} {seed} {k} of {len(taken)}"
        held = _repetition(workload, late[k], taken[k], longest, identity)
        apart = (overheads == "outside") * np.stack([before[k], after[k]])
        stream = _as_logged(simulated_stream(replay(held)), held, workload, *apart)
        if progress is not None:
            progress(k + 1, len(taken))
        return stream

    found = [compare(repeat(k), repeat(k + 1)) for k in range(0, len(taken), 2)]
    P = np.array([pair.P for pair in found])
    growth = tuple(_mean(rows) for rows in zip(*(pair.growth for pair in found), strict=True))
    return Repeatability(float(P.mean()), *_interval(P), tuple(P.tolist()), growth, *upper_quantile(P.tolist()))


def _interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of `values`; not a number for a single one."""
    from scipy.stats import bootstrap

    if len(values) == 1:
        return math.nan, math.nan
    found = bootstrap((values,), np.mean, confidence_level=0.95, method="percentile", random_state=0)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def draw_overheads(spec: str, draw: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Draw overheads from the distribution that `spec` names: `exponential(mean=5)`, `uniform(low=0, high=10)`, …"""
    name, given = parse(spec)
    if name not in _DISTRIBUTIONS:
        raise HarnessError(f"there is no distribution {name!r}; {did_you_mean(name, _DISTRIBUTIONS)}")
    values, drawn = _DISTRIBUTIONS[name]
    for parameter, value in given.items():
        if parameter not in values:
            raise HarnessError(f"{name!r} has no parameter {parameter!r}; {did_you_mean(parameter, values)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise HarnessError(f"{spec}: expected {parameter}, a number of at least 0")
    values = values | given
    if values.get("low", 0.0) > values.get("high", math.inf):
        raise HarnessError(f"{spec}: expected low to be at most high")
    with np.errstate(over="ignore", invalid="ignore"):  # overflows are refused below
        overheads = drawn(draw, size, **values)
    longest = overheads.max(initial=0.0)
    if not longest < _TOO_LONG:
        what = "not a number" if np.isnan(longest) else f"an overhead of {longest:.3g} s"
        raise HarnessError(f"{spec}: draws {what}; expected all to be below {_TOO_LONG:.0g} s")
    return overheads


def _repetition(workload: Workload, late: Floats, taken: Floats, longest: Floats, identity: str) -> Workload:
    """Add the overheads `taken` to a workload; requested times cover the `longest` of all repetitions."""
    jobs = workload.jobs
    work, seen = jobs["work"].to_numpy(), jobs["submit"] + late
    covered = np.maximum(jobs["estimate"].to_numpy(), work + longest)
    detail = "launch and completion added to the runtime, requested times that do not cover it raised"
    steps = [Step("overheads", int((taken > 0).sum()), detail)]
    if late.any():
        steps.append(Step("submission", int((late > 0).sum()), "seen by the scheduler some time after it"))
    return replace(
        workload,
        jobs=jobs.assign(submit=seen, cancel=np.maximum(jobs["cancel"], seen), work=work + taken, estimate=covered),
        digest=hashlib.sha256(identity.encode()).hexdigest(),
        preparation=(*workload.preparation, *steps),
    )


def _as_logged(stream: Stream, held: Workload, workload: Workload, before: Floats, after: Floats) -> Stream:
    """Return a repetition by its true submissions, with launches `before` as waiting, and completions `after` excluded.

    Both are a share of the time in which the job held its processors, which is longer on slow processors.
    """
    seen, order = (np.argsort(of.jobs["submit"].to_numpy(), kind="stable") for of in (held, workload))
    place = np.empty_like(seen)
    place[seen] = np.arange(len(seen))
    columns = {name: values[place[order]] for name, values in vars(stream).items() if name != "name"}
    submit, work = (of.jobs[name].to_numpy()[order] for of, name in ((workload, "submit"), (held, "work")))
    late, service = columns["submit"] - submit, columns["residence"] - columns["wait"]
    pace = np.divide(service, work, out=np.zeros(len(work)), where=work > 0)
    columns["wait"] = columns["wait"] + late + pace * before[order]
    columns["residence"] = columns["residence"] + late - pace * after[order]
    return replace(stream, **columns | {"submit": submit})


def _mean(rows: tuple[Growth, ...]) -> Growth:
    P, E, different = np.mean([(row.P, row.E, row.different) for row in rows], axis=0).tolist()
    return Growth(rows[0].jobs, P, E, different)
