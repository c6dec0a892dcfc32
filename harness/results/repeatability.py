"""Repeatability: how far two repetitions of one experiment are apart, the reference value of the adequacy.

To launch a job and to clear up after it takes the machine some time, and never the same. A repetition replays
every job with work S_i + a_i + c_i, launch and completion overheads a_i and c_i drawn anew: the processors are held
meanwhile, and schedulers do not know. The processing time of a job includes both, as in the paper; the runtimes of
a log do too, but only the differences between repetitions count. Requested times cover the overheads: those that
do not are raised, in all repetitions alike.

Or the overheads lie `outside` the runtime, as where the machine notes when the job's own program began and ended: then
the launch is the end of its wait, and the completion is nobody's time, but that the processors are free only after it.

A job may also be seen some time after its submission. Where the scheduler looks at its queue once a minute, that
decides which look is the first to find it there.
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
from harness.results.adequacy import Adequacy, Growth, Stream, compare, simulated
from harness.workload.log import Step, Workload

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Floats = npt.NDArray[np.float64]

#: Whether the runtime of a job holds what its launch and its completion take.
Overheads = Literal["inside", "outside"]

#: Distribution → its parameters [s] and defaults, and how so many are drawn. All are at least 0.
_DISTRIBUTIONS: dict[str, tuple[dict[str, float], Callable[..., Floats]]] = {
    "constant": ({"seconds": 5.0}, lambda draw, size, seconds: np.full(size, seconds)),
    "exponential": ({"mean": 5.0}, lambda draw, size, mean: draw.exponential(mean, size)),
    "uniform": ({"low": 0.0, "high": 10.0}, lambda draw, size, low, high: draw.uniform(low, high, size)),
    "lognormal": (
        {"median": 5.0, "sigma": 0.5},
        lambda draw, size, median, sigma: median * np.exp(sigma * draw.standard_normal(size)),
    ),
}


#: No overhead is as long as decades [s]; the squares of such would be no numbers any more.
_TOO_LONG = 1e9

#: How many of true repetitions the verdict is to let pass.
_LEVEL = 0.95


@dataclass(frozen=True)
class Repeatability:
    """P between pairs of repetitions, called P_ideal; the means of what two repetitions differ by."""

    P: float  # mean over the pairs [s]
    low: float  # of the 95 % interval of that mean [s]; not a number for a single pair
    high: float
    pairs: tuple[float, ...]  # P of each pair [s]
    growth: tuple[Growth, ...]
    upper: float  # what P of another pair exceeds with probability 1 − `level` at most [s]
    level: float  # 95 %, if there are pairs enough

    def verdict(self, model: Adequacy) -> str:
        """Say whether a model that is so far from the log can be told from the machine itself.

        It cannot if another pair of repetitions may well be so far apart: their mean is no threshold, a quarter or
        more of true repetitions exceed it.
        """
        P = model.P
        reference = f"the {self.upper:,.1f} s that {self.level:.0%} of pairs of repetitions stay below"
        if self.upper >= P:
            return f"P = {P:,.1f} s, not above {reference}: the replay cannot be told from the machine."
        times = f"{P / self.P:,.1f} times P_ideal and " if self.P > 0 else ""
        return f"P = {P:,.1f} s, {times}above {reference}: the replay can be told from the machine."


def upper_quantile(values: Sequence[float]) -> tuple[float, float]:
    """Return what another value like these stays below with a probability, and that: 95 %, or what so few can tell.

    Of n + 1 values in random order the last is not above the k-th smallest of the others with probability k / (n + 1).
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
    """Replay `workload` twice with random overheads, `pairs` times, and see how far the two are apart.

    `replay` simulates a workload with the scheduler, platform and seed in question. The interval of the mean is
    bootstrapped, because single pairs may be far off. `progress(done, all)` is called after every replay.
    """
    if overheads not in get_args(Overheads):
        raise HarnessError(f"overheads={overheads!r}: {did_you_mean(str(overheads), get_args(Overheads))}")
    if pairs < 1:
        raise HarnessError(f"pairs={pairs}: expected at least one pair of repetitions")
    draw = np.random.default_rng(seed)
    runs = np.isinf(workload.jobs["cancel"].to_numpy())  # who leaves the queue is neither launched nor completed
    size = (2 * pairs, len(workload))
    before, after = runs * seconds(launch, draw, size), runs * seconds(completion, draw, size)
    late, taken = seconds(submission, draw, size), before + after
    longest = taken.max(axis=0)

    def repeat(k: int) -> Stream:
        identity = f"{workload.digest} {launch} {completion} {submission} {seed} {k} of {len(taken)}"
        held = _repetition(workload, late[k], taken[k], longest, identity)
        apart = (overheads == "outside") * np.stack([before[k], after[k]])
        stream = _noted(simulated(replay(held)), held, workload, *apart)
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


def seconds(spec: str, draw: np.random.Generator, size: tuple[int, ...]) -> Floats:
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
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        overheads = drawn(draw, size, **values)
    longest = overheads.max(initial=0.0)
    if not longest < _TOO_LONG:
        what = "what is no number" if np.isnan(longest) else f"an overhead of {longest:.3g} s"
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


def _noted(stream: Stream, held: Workload, workload: Workload, before: Floats, after: Floats) -> Stream:
    """Return a repetition as it is noted: by the true submissions, launches `before` as waiting, `after` not at all.

    These take their share of the time in which the job held its processors, which is longer where they are slow.
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
    """Return the means of what pairs differ by in their first so many jobs."""
    P, E, different = np.mean([(row.P, row.E, row.different) for row in rows], axis=0).tolist()
    return Growth(rows[0].jobs, P, E, different)
