"""Makes the tables of verdicts.md: error rates, power, and coverage of intervals.

Tournaments that never took place: every scheduler has the cost exp(effect + how busy the workload is + noise) on every
workload, so what is true is known.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from scipy.stats import friedmanchisquare, rankdata, studentized_range, ttest_1samp, wilcoxon

from harness.cli import main
from harness.present.progress import progress
from harness.present.tables import known_format, render
from harness.ranking.inference import ALPHA, infer, log_ratios

Costs = npt.NDArray[np.float64]
Seen = npt.NDArray[np.bool_]

#: Of costs: their logarithms scatter that much, so the ratio of two by 10 % or so, as EASY's do on generated logs.
SPREAD = 0.1 / math.sqrt(2)

NOISE: dict[str, Callable[[np.random.Generator, tuple[int, int]], Costs]] = {
    "normal": lambda dice, shape: dice.normal(0.0, 1.0, shape),
    "heavy": lambda dice, shape: dice.standard_t(3, shape) / math.sqrt(3),  # now and then a workload apart
    "skewed": lambda dice, shape: dice.exponential(1.0, shape) - 1,
}

#: The truth: all are equal, the first is better by 10 %, or each is worse than the one before it and less steady.
TRUTHS = ("equal", "first 10 % better", "all differ")

#: Tournaments of two take little time; factor by which more of them are drawn.
_OF_TWO = 5

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Case:
    """Tournaments of one kind."""

    schedulers: int
    workloads: int
    noise: str
    truth: str

    @property
    def effects(self) -> Costs:
        """The logarithms of the true costs."""
        number: Costs = np.arange(self.schedulers, dtype=np.float64)
        share = {TRUTHS[0]: 0 * number, TRUTHS[1]: np.minimum(number, 1), TRUTHS[2]: number}
        return share[self.truth] * math.log(1.1)

    def drawn(self, dice: np.random.Generator) -> Costs:
        """Draw one tournament: the logarithms of costs, a row per workload."""
        shape = self.workloads, self.schedulers
        steady = np.geomspace(1 / 3, 3, self.schedulers) if self.truth == TRUTHS[2] else 1.0
        busy = dice.normal(0.0, 1.0, (self.workloads, 1))
        return self.effects + busy + NOISE[self.noise](dice, shape) * SPREAD * steady


@app.command()
def verdicts(
    repetitions: Annotated[
        int, typer.Option(help="tournaments for each line, of two schedulers five times as many", min=1)
    ] = 200,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Measure the rates of false and true differences, and the coverage of intervals."""
    known_format(format)
    with progress("drawing tournaments", "lines") as advance:
        lines = []
        for number, case in enumerate(cases()):
            lines.append(line(case, repetitions * (_OF_TWO if case.schedulers == 2 else 1)))
            advance(number + 1, len(list(cases())))
    heads = ("schedulers", "workloads", "noise", "truth", *TESTS, "interval covers", "half width")
    units = ("", "", "", "", *["%"] * (len(TESTS) + 2))
    typer.echo(render(heads, lines, format, units=units, digits=3))


def cases() -> Iterator[Case]:
    """Yield what is drawn."""
    for schedulers in (2, 6, 30):  # two, as in `harness compare`
        for workloads in (3, 6, 12, 30):
            for truth in TRUTHS:
                for noise in NOISE:
                    yield Case(schedulers, workloads, noise, truth)


def line(case: Case, repetitions: int) -> tuple[Any, ...]:
    """Draw a case again and again: in how many % what was seen, and the interval held what is true.

    Where schedulers are equal, seen is any difference; else the difference of the first from each other, on average.
    """
    dice = np.random.default_rng([repetitions, case.schedulers, case.workloads, *map(ord, case.noise + case.truth)])
    first, second = np.triu_indices(case.schedulers, 1)
    true = case.effects[first] - case.effects[second]
    asked = true == 0 if case.truth == TRUTHS[0] else first == 0
    seen, covered, widths = np.zeros(len(TESTS)), [], []
    for number in range(repetitions):
        costs = case.drawn(dice)
        differences = log_ratios(np.exp(costs[:, first]), np.exp(costs[:, second]))
        found = infer(differences, number)
        of_the_first = _pairs_of_the_first(costs, first, second)
        half = found.half[of_the_first]
        if np.isfinite(half).all():
            covered.append(np.mean(np.abs(found.means - true)[of_the_first] <= half))
            widths.append(np.median(half))
        for place, test in enumerate(TESTS.values()):
            told = (found.p_values <= ALPHA if test is None else test(costs, differences))[asked]
            seen[place] += told.any() if case.truth == TRUTHS[0] else told.mean()
    shares = 100 * seen / repetitions
    printed = len(covered) > repetitions / 2
    interval = (100 * np.mean(covered), 100 * np.expm1(np.median(widths))) if printed else (None, None)
    return (case.schedulers, case.workloads, case.noise, case.truth, *shares, *interval)


def _pairs_of_the_first(costs: Costs, first: Any, second: Any) -> Seen:
    """Return the pairs with printed intervals: those with the scheduler that ranks first."""
    leader = int(np.argmin(rankdata(costs, axis=1).mean(axis=0)))
    pairs: Seen = (first == leader) | (second == leader)
    return pairs


# ---------------------------------------------------------------- the other tests


def nemenyi(costs: Costs, differences: Costs) -> Seen:
    """Tell schedulers apart as Demšar (2006) does: by the difference of mean ranks, if Friedman's test rejects."""
    workloads, count = costs.shape
    ranks = rankdata(costs, axis=1)
    apart = count > 2 and friedmanchisquare(*ranks.T).pvalue < ALPHA
    quantile = studentized_range.ppf(1 - ALPHA, count, math.inf) / math.sqrt(2)
    critical = quantile * math.sqrt(count * (count + 1) / (6 * workloads))
    means = ranks.mean(axis=0)
    first, second = np.triu_indices(count, 1)
    told: Seen = (np.abs(means[first] - means[second]) >= critical) & (apart or count == 2)
    return told


def wilcoxon_holm(costs: Costs, differences: Costs) -> Seen:
    """Do Wilcoxon's test of every pair, exactly; corrected by Holm's rule."""
    return holm(np.asarray(wilcoxon(differences, axis=0, method="exact").pvalue))


def student_holm(costs: Costs, differences: Costs) -> Seen:
    """Do Student's test of the logarithms of every pair; corrected by Holm's rule."""
    return holm(np.asarray(ttest_1samp(differences, 0.0, axis=0).pvalue))


def holm(p_values: Costs) -> Seen:
    """Reject the smallest, the next, … as long as each is small for the number that is left."""
    order = np.argsort(p_values)
    small = p_values[order] <= ALPHA / np.arange(len(p_values), 0, -1)
    told = np.zeros(len(p_values), dtype=np.bool_)
    told[order] = np.logical_and.accumulate(small)
    return told


#: By name. Ours is first, and uses the inference of the ranking.
TESTS: dict[str, Callable[[Costs, Costs], Seen] | None] = {
    "ours": None,
    "Wilcoxon, Holm": wilcoxon_holm,
    "Student, Holm": student_holm,
    "Nemenyi": nemenyi,
}


if __name__ == "__main__":
    main(app)
