"""A scale for the adequacy P: the P of simple null models, and the influence of a few jobs.

P in seconds alone is hard to judge: it may be large because a log's waits are long. Three null models put it on a
scale. In each, every job runs as long as in the log, without any scheduling:

- no job waits;
- every job waits for the log's mean wait;
- every job waits for the log's mean wait of its class of width and requested time (powers of two).

The last two use means of the log itself; in a small class the mean is nearly the answer. The skill of a replay is 1 − P
/ P_null, by default with the P_null of the constant wait: 1 is the log itself, 0 is no better than one wait for all,
and it can be negative. Weather forecasts are compared with the climate in the same way. The skill against the other two
models is given as well. A replay that is further from the log than the mean waits by class has missed a rule by which
the site treats jobs of some widths and requested times.

P is a mean of squares, so a few jobs may cause most of it. Robust figures are therefore given too.
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

#: The share of the jobs, those that differ most, that `P_without_worst` leaves out.
WORST = 0.01


@dataclass(frozen=True)
class Scale:
    """Figures that help to judge P."""

    nobody_waits: float  # P of the null models [s]
    mean_wait: float
    mean_wait_by_class: float
    skill: float  # 1 − P / P of the mean wait; not a number if that P is 0
    skill_nobody_waits: float  # the same against the other two
    skill_by_class: float
    bias: float  # mean of V − v [s]
    rank_correlation: float  # of the waits (Spearman); not a number if all are equal
    P_without_worst: float  # without the 1 % of the jobs that differ most [s]
    worst_share: float  # of the squared error, caused by these jobs; not a number if there is no error


def scaled(model: "Stream", real: "Stream") -> Scale:
    """Return the scale for the difference of two streams of the same jobs."""
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
    """Return Spearman's rank correlation by pandas: the import of scipy would take a third of a second."""
    return float(pd.DataFrame({"one": one, "other": other}).corr("spearman").to_numpy()[0, 1])


def skill(model: "Stream", real: "Stream") -> float:
    """Return 1 − P / P_null with one wait for all jobs; not a number if P_null is 0."""
    return _skill(root_mean_square(model.residence - real.residence), constant_wait(real))


def constant_wait(real: "Stream") -> float:
    """Return P of the null model in which all jobs have the mean wait."""
    return root_mean_square(real.wait - real.wait.mean())


def null_models(real: "Stream") -> tuple[float, float, float]:
    """Return P of the null models: no waits, a constant wait, a constant wait by class of width and requested time."""
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
