"""Statistics of paired runs: the ratio by which two schedulers differ, and whether it may be chance.

Every function takes logarithms of ratios, one row per unit of inference and one column per pair of schedulers. Units
are assumed to be independent and identically distributed; the caller chooses them.

The statistic of a pair is Student's t of its column. Its distribution under chance comes from permutations: if two
schedulers are equally good, a unit might as well have favoured the other. So the signs of whole rows are flipped, in
all ways or in many random ones. The largest t of all pairs is counted. A difference is then found among all pairs where
none exists in at most 5 % of cases (Westfall and Young 1993), for any number of schedulers. Ties and zeros need no
special treatment. `reports/verdicts.md` compares the error rates with those of the tests by Nemenyi, Wilcoxon and
Student.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

#: The level of significance; intervals cover the rest.
ALPHA = 0.05

#: Fewer units can never be significant: 2 of 2⁵ flips are more than 5 %.
FEWEST = 6

#: The largest number of flips; if there are more ways, this many are drawn. Batches of 500 save memory.
RESAMPLES = 4999
_BATCH = 500

#: Sums are rounded to this many decimals, so that rounding errors make no difference.
_DECIMALS = 9

#: A ratio beyond a million counts as a million, so that a wait of 0 has a ratio to other waits.
WIDEST = math.log(1e6)

#: The probability of detecting a difference with the recommended number of units, and the largest number considered.
POWER = 0.8
_MOST = 10_000


@dataclass(frozen=True, eq=False)
class Inference:
    """The results for every pair, in the order of the columns."""

    means: Matrix  # of the logarithms
    spreads: Matrix  # their standard deviations between units
    half: Matrix  # half the width of the 95 % interval of the mean; infinite if there are too few units
    p_values: Matrix  # corrected for the number of pairs
    units: int

    def needed(self, pair: int, effect: float | None = None) -> int | None:
        """Return the number of units needed to detect the difference of a pair, or another `effect`, in 80 % of cases.

        The number follows from Student's t at the present threshold; None if more than 10,000 are needed.
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
    """Return ln(one / other), clipped to ± ln 10⁶; 0 / 0 counts as no difference."""
    size = np.abs(one) + np.abs(other)
    relative = np.divide(one - other, size, out=np.zeros_like(size), where=size > 0)
    with np.errstate(divide="ignore"):
        logarithms: Matrix = np.clip(2 * np.arctanh(relative), -WIDEST, WIDEST)
    return logarithms


def infer(differences: Matrix, seed: int) -> Inference:
    """Test every column of `differences`, with all of them together; `seed` draws the flips if there are too many."""
    units, pairs = differences.shape
    means = differences.mean(axis=0)
    nothing = np.full(pairs, math.nan)
    if units < 2 or not pairs:
        return Inference(means, nothing, np.full(pairs, math.inf), np.ones(pairs), units)
    spreads = differences.std(axis=0, ddof=1)
    chance, drawn = _by_chance(differences, seed)
    seen = np.round(np.abs(_of_length_one(differences).sum(axis=0)), _DECIMALS)
    # The observed signs are one of the ways; if ways were drawn, the observed one is counted in addition.
    reached = len(chance) - np.searchsorted(chance, seen) + drawn
    p_values = reached / (len(chance) + drawn)
    return Inference(means, spreads, _half(spreads, chance, drawn, units), p_values, units)


def _of_length_one(differences: Matrix) -> Matrix:
    """Scale every column to length 1: the sums of such columns have the order of their t, for any signs."""
    length = np.sqrt((differences**2).sum(axis=0))
    scaled: Matrix = np.divide(differences, length, out=np.zeros_like(differences), where=length > 0)
    return scaled


def _by_chance(differences: Matrix, seed: int) -> tuple[Matrix, int]:
    """Return the largest sum of a column for every way to flip rows, sorted; and 1 if the ways were drawn, else 0."""
    from scipy.stats import permutation_test

    columns, units = _of_length_one(differences), len(differences)

    def largest(signs: Matrix, axis: int) -> Any:
        # Not `@`: its threads slow each other down on such small arrays.
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
    """Return half the widths of the intervals: exactly those that exclude zero are significant."""
    allowed = math.floor(ALPHA * (len(chance) + drawn)) - drawn  # the number of ways that may exceed the threshold
    # Slightly above the largest sum that is not significant.
    largest = chance[-1 - allowed] + 10.0**-_DECIMALS if units >= FEWEST else math.inf
    if largest >= math.sqrt(units):
        return np.full(len(spreads), math.inf)
    threshold = largest * math.sqrt((units - 1) / (units - largest**2))  # Student's t of that sum
    return threshold * spreads / math.sqrt(units)


def groups(alike: npt.NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return sets of pairwise `alike` members, such that each alike pair is in a set; in order of their first
    members.
    """
    found: list[tuple[int, ...]] = []
    for row in range(len(alike)):
        for column in range(row, len(alike)):
            if alike[row, column] and not any(row in group and column in group for group in found):
                found.append(_grown(alike, row, column))
    # A scheduler is alike itself, so it is a set of its own unless it is in another set.
    return [group for group in found if not any(set(group) < set(other) for other in found)]


def _grown(alike: npt.NDArray[np.bool_], row: int, column: int) -> tuple[int, ...]:
    members = {row, column}
    for candidate in range(len(alike)):
        if all(alike[candidate, member] for member in members):
            members.add(candidate)
    return tuple(sorted(members))
