"""A scale for the adequacy P: what replays that know nothing of queues would have, and what a few jobs do to it.

P in seconds says little by itself: it may be large because a log's waits are. Three null models stand beside it, each
a machine that runs every job as long as the log says and knows no scheduling: nobody waits; everybody waits as long as
the log's mean; jobs of a class of width and requested time (powers of two) wait as long as the log's mean of the class.
The last two are told the log's own means, and of a small class that is nearly the answer. The skill of a replay is
1 − P / P_null, where P_null is that of the constant wait if nothing else is said, as forecasts are held against the
climate: 1 is the log itself, 0 is no better than one number for all, and it may be below. It is given against the
other two as well: a replay that is further from the log than the mean waits by class has missed a rule by which the
site treats jobs of some widths and requested times.

P is a mean of squares, so a few jobs may hold most of it: companions that they do not move are given too.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from harness.results.adequacy import Stream

Floats = npt.NDArray[np.float64]

#: The share of the jobs that P is given without, those that differ most.
WORST = 0.01


@dataclass(frozen=True)
class Scale:
    """What P has to be seen beside."""

    nobody_waits: float  # P of the null models [s]
    mean_wait: float
    mean_wait_by_class: float
    skill: float  # 1 − P / P of the mean wait; not a number where that is not off at all
    skill_nobody_waits: float  # the same against the other two
    skill_by_class: float
    bias: float  # mean of V − v [s]
    rank_correlation: float  # of the waits (Spearman); not a number where all are equal
    P_without_worst: float  # without the 1 % of the jobs that differ most [s]
    worst_share: float  # of the squared error, that these jobs hold; not a number where there is none


def scaled(model: "Stream", real: "Stream") -> Scale:
    """Put the difference of two streams of the same jobs on a scale."""
    off = model.residence - real.residence
    squares = np.sort(off**2)
    few = max(1, math.ceil(WORST * len(off))) if len(off) > 1 else 0
    varied = np.ptp(model.wait) > 0 and np.ptp(real.wait) > 0
    total = float(squares.sum())
    nobody, constant, classes = null_models(real)
    P = root_mean_square(off)
    return Scale(
        nobody,
        constant,
        classes,
        skill=_skill(P, constant),
        skill_nobody_waits=_skill(P, nobody),
        skill_by_class=_skill(P, classes),
        bias=float(off.mean()),
        rank_correlation=_rank_correlation(model.wait, real.wait) if varied else math.nan,
        P_without_worst=float(np.sqrt(squares[: len(squares) - few].mean())),
        worst_share=float(squares[len(squares) - few :].sum()) / total if total > 0 else math.nan,
    )


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's, as pandas has it: scipy's would take a third of a second to import for one number."""
    return float(pd.DataFrame({"one": one, "other": other}).corr("spearman").to_numpy()[0, 1])


def skill(model: "Stream", real: "Stream") -> float:
    """Return 1 − P / P_null, P_null of one wait for all; not a number where that is not off at all."""
    return _skill(root_mean_square(model.residence - real.residence), constant_wait(real))


def constant_wait(real: "Stream") -> float:
    """Return P of the null model in which all jobs wait as long as they did on average."""
    return root_mean_square(real.wait - real.wait.mean())


def null_models(real: "Stream") -> tuple[float, float, float]:
    """Return P of the null models: nobody waits, a constant wait, a constant wait by class of width and request."""
    wait = real.wait
    _, group = np.unique(
        np.stack([np.ceil(np.log2(np.maximum(values, 1.0))) for values in (real.procs, real.estimate)]),
        axis=1,
        return_inverse=True,
    )
    means = np.bincount(group.ravel(), wait) / np.bincount(group.ravel())
    return root_mean_square(wait), constant_wait(real), root_mean_square(wait - means[group.ravel()])


def root_mean_square(values: Floats) -> float:
    """Return the root of the mean of the squares."""
    with np.errstate(over="ignore"):  # times near the largest float
        return float(np.sqrt(np.mean(values**2)))


def _skill(P: float, null: float) -> float:  # noqa: N803 - the paper's name
    return 1.0 - P / null if null > 0 else math.nan
