"""What paired runs say beyond themselves: by which ratio any two schedulers differ, and whether that is chance.

Every function takes logarithms of ratios, one row per unit of inference and one column per pair of schedulers. Units
count as independent of each other and alike; whoever calls decides what they are.

A pair is judged by Student's t of its column, and what t would be by chance is found by permutation: if two schedulers
are equally good, a unit might as well have favoured the other, so the signs of whole rows are flipped, in all ways or
in many. What counts is the largest t of all pairs, so that among all pairs together a difference is seen where there
is none in one case of twenty (Westfall and Young 1993), however many schedulers there are and however alike. Ties and
zeros need no care. `reports/verdicts.md` says how often it is wrong, beside Nemenyi's, Wilcoxon's and Student's tests.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

#: What counts as significant; intervals cover the rest.
ALPHA = 0.05

#: Fewer units cannot show anything, whatever they are: 2 of 2⁵ flips are more than one in twenty.
FEWEST = 6

#: Flips drawn where there are more ways than that, five hundred at a time to save memory.
RESAMPLES = 4999
_BATCH = 500

#: Sums of flipped numbers that differ by no more than rounding errors are equal.
_DECIMALS = 9

#: A ratio beyond a million counts as a million: so who waits for nothing has a ratio to who waits.
WIDEST = math.log(1e6)

#: In how many of the cases a difference shall be seen, where a number of units is recommended; the most looked at.
POWER = 0.8
_MOST = 10_000


@dataclass(frozen=True, eq=False)
class Inference:
    """What is known of every pair, in the order of the columns."""

    means: Matrix  # of the logarithms
    spreads: Matrix  # their standard deviations between units
    half: Matrix  # half the width of the 95 % interval of the mean; infinite where there are too few units
    p_values: Matrix  # corrected for the number of pairs
    units: int

    def needed(self, pair: int, effect: float | None = None) -> int | None:
        """Return how many units it takes to see in 80 % of cases what a pair differs by, or another `effect`.

        The number follows from Student's t at the threshold that holds here; None is more than 10,000, or no end.
        """
        from scipy.stats import t

        effect, spread = abs(self.means[pair] if effect is None else effect), self.spreads[pair]
        if not effect:
            return None
        threshold = self.half[pair] * math.sqrt(self.units) / spread if spread else 0.0
        share = ALPHA / len(self.means) / 2 if not math.isfinite(threshold) else t.sf(threshold, self.units - 1)
        units = np.arange(FEWEST, _MOST + 1)
        wanted = (t.isf(share, units - 1) + t.isf(1 - POWER, units - 1)) * spread / np.sqrt(units)
        enough = np.flatnonzero(wanted <= effect)
        return int(units[enough[0]]) if len(enough) else None


def log_ratios(one: Matrix, other: Matrix) -> Matrix:
    """Return ln(one / other), within ± ln 10⁶; nothing divided by nothing is no difference."""
    size = np.abs(one) + np.abs(other)
    relative = np.divide(one - other, size, out=np.zeros_like(size), where=size > 0)
    with np.errstate(divide="ignore"):
        logarithms: Matrix = np.clip(2 * np.arctanh(relative), -WIDEST, WIDEST)
    return logarithms


def infer(differences: Matrix, seed: int) -> Inference:
    """Judge every column of `differences`, and all of them together; `seed` is of the flips, where they are drawn."""
    units, pairs = differences.shape
    means = differences.mean(axis=0)
    nothing = np.full(pairs, math.nan)
    if units < 2 or not pairs:
        return Inference(means, nothing, np.full(pairs, math.inf), np.ones(pairs), units)
    spreads = differences.std(axis=0, ddof=1)
    chance, drawn = _by_chance(differences, seed)
    seen = np.round(np.abs(_of_length_one(differences).sum(axis=0)), _DECIMALS)
    # What was seen is one of the ways; among those drawn it is counted besides.
    reached = len(chance) - np.searchsorted(chance, seen) + drawn
    p_values = reached / (len(chance) + drawn)
    return Inference(means, spreads, _half(spreads, chance, drawn, units), p_values, units)


def _of_length_one(differences: Matrix) -> Matrix:
    """Scale every column: the sums of such columns are in the order of their t, however signs are flipped."""
    length = np.sqrt((differences**2).sum(axis=0))
    scaled: Matrix = np.divide(differences, length, out=np.zeros_like(differences), where=length > 0)
    return scaled


def _by_chance(differences: Matrix, seed: int) -> tuple[Matrix, int]:
    """Return the largest sum of a column for every way to flip rows, sorted; and 1 if the ways were drawn, else 0."""
    from scipy.stats import permutation_test

    columns, units = _of_length_one(differences), len(differences)

    def largest(signs: Matrix, axis: int) -> Any:
        # Not `@`, whose threads get in each other's way over so little.
        return np.abs(np.einsum("...u,up->...p", np.moveaxis(signs, axis, -1), columns)).max(axis=-1)

    found = permutation_test(
        (np.ones(units),),
        largest,
        permutation_type="samples",  # of one sample: its signs are flipped
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        random_state=np.random.default_rng(seed),
    )
    return np.sort(np.round(found.null_distribution, _DECIMALS)), int(2**units > RESAMPLES)


def _half(spreads: Matrix, chance: Matrix, drawn: int, units: int) -> Matrix:
    """Return half the widths of the intervals: exactly those that leave zero out are significant."""
    allowed = math.floor(ALPHA * (len(chance) + drawn)) - drawn  # so many ways may reach what is significant
    # Above the largest sum that is not significant, and be it by a rounding error.
    largest = chance[-1 - allowed] + 10.0**-_DECIMALS if units >= FEWEST else math.inf
    if largest >= math.sqrt(units):
        return np.full(len(spreads), math.inf)
    threshold = largest * math.sqrt((units - 1) / (units - largest**2))  # Student's t of that sum
    return threshold * spreads / math.sqrt(units)


def groups(alike: npt.NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Find sets in which all are `alike` in pairs, so that each such pair is in one; the first begin the first."""
    found: list[tuple[int, ...]] = []
    for row in range(len(alike)):
        for column in range(row, len(alike)):
            if alike[row, column] and not any(row in group and column in group for group in found):
                found.append(_grown(alike, row, column))
    # A scheduler is alike itself, and so begins a set of its own only if it is in no other.
    return [group for group in found if not any(set(group) < set(other) for other in found)]


def _grown(alike: npt.NDArray[np.bool_], row: int, column: int) -> tuple[int, ...]:
    members = {row, column}
    for candidate in range(len(alike)):
        if all(alike[candidate, member] for member in members):
            members.add(candidate)
    return tuple(sorted(members))
