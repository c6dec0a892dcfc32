"""A ranking in words: one sentence of conclusion, and what one must know to believe it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.tournament.pairing import Gap
from harness.tournament.ranking import Ranking, Standing

#: Names listed in a sentence before it says "and 7 others".
_LISTED = 5

#: Up to so many units a bootstrap interval is about the range of what was seen, which is too narrow.
_FEW = 5

#: Wilcoxon's test of fewer pairs cannot reject, whatever they are: 2 / 2⁵ > 0.05.
_PAIRS = 6


def conclusion(ranking: Ranking) -> str:
    """Who is best, by how much, over what, and from whom it cannot be told apart; in one sentence."""
    criterion, where = _spoken(ranking.by), scope(ranking)
    count, best = len(ranking.standings), ranking.standings[0]
    if count == 1:
        return f"There is nothing to compare {best.scheduler} with; its {criterion} over {where} is {best.mean:.4g}."
    if all(ties == ranking.blocks for row in ranking.ties for ties in row):
        return f"All {count} schedulers are equal by {criterion}, over {where}."
    leaders = [standing for standing in ranking.standings if standing.rank == 1]
    others = _alike(ranking, leaders)
    verb = "share the first rank" if len(leaders) > 1 else "ranks first" if others else "is best"
    names = _listed([standing.scheduler for standing in leaders])
    return f"{names} {verb} by {criterion} ({_figures(ranking, leaders)} over {where}){_apart(ranking, others)}."


def notes(ranking: Ranking) -> Iterator[str]:
    """Sentences on what the conclusion speaks about, and what it leaves out."""
    count = len(ranking.standings)
    if count > 1:
        yield from _reach(ranking)
        yield from _power(ranking)
        yield from _elsewhere(ranking)
    front = [standing.scheduler for standing in ranking.standings if standing.on_front]
    if front and count > 1:
        yield f"On the Pareto front of {_spoken(ranking.by)} and energy: {_listed(front)}."
    unmetered = [standing.scheduler for standing in ranking.standings if standing.on_front is None]
    if front and unmetered:
        yield f"Not considered for it, because their energy is not known in every block: {_listed(unmetered)}."
    if any(standing.means.get("preemptions", 0.0) > 0 for standing in ranking.standings):
        yield "Waits end at a job's first start; what preempted jobs wait after that is in the mean response."
    if 0 < ranking.adequacy_blocks < ranking.blocks:
        yield f"Adequacy is over the {ranking.adequacy_blocks} of {ranking.blocks} blocks that replay a log with waits."
    yield from _omissions(ranking)


def scope(ranking: Ranking) -> str:
    """What was compared: 30 variations of 3 workloads on 2 platforms."""
    where = ranking.workloads[0] if len(ranking.workloads) == 1 else f"{len(ranking.workloads)} workloads"
    if ranking.variations > len(ranking.workloads):
        where = f"{ranking.variations} variations of {where}"
    if len(ranking.platforms) > 1:
        where += f" on {len(ranking.platforms)} platforms"
    return where + (f" with {ranking.seeds} seeds" if ranking.seeds > 1 else "")


# ---------------------------------------------------------------- parts of the conclusion


def _alike(ranking: Ranking, leaders: Sequence[Standing]) -> list[str]:
    """Who follows the leaders and cannot be told from them."""
    leading = {standing.scheduler for standing in leaders}
    alike = dict.fromkeys(name for group in ranking.groups if leading & set(group) for name in group)
    return [name for name in alike if name not in leading]


def _figures(ranking: Ranking, leaders: Sequence[Standing]) -> str:
    best = leaders[0]
    text = f"mean rank {best.mean_rank:.1f} of {len(ranking.standings)}"
    low, high = best.interval
    if len(leaders) == 1 and low == low:
        text += f", 95 % interval {low:.1f}–{high:.1f}"
    return text


def _apart(ranking: Ranking, others: Sequence[str]) -> str:
    """Whom the leaders can be told from, who else is not among the `others`."""
    count, test = len(ranking.standings), ranking.test
    if test is None:
        return "; whether that is more than chance, one job stream cannot say"
    evidence = f"({test.name} test, p = {test.p_value:.2g})"
    if not test.rejects:
        whom = "the two cannot be told apart" if count == 2 else f"no two of the {count} can be told apart"
        return f", but {whom} {evidence}"
    if not others:
        return f"; distinguishable from {'the other' if count == 2 else 'all others'} {evidence}"
    if sum(standing.rank > 1 for standing in ranking.standings) == len(others):
        return "; indistinguishable from all others"
    return f"; indistinguishable from {_listed(others)}"


# ---------------------------------------------------------------- notes


def _reach(ranking: Ranking) -> Iterator[str]:
    if ranking.units < 2:
        yield (
            f"This is one job stream, replayed in {_number(ranking.blocks, 'block')}: "
            "variations of the workload, or further workloads, would show how much of it is chance."
        )
    elif ranking.unit == "variation":
        whose = ranking.workloads[0] if len(ranking.workloads) == 1 else "these workloads"
        yield (
            f"Intervals and tests speak of variations of {whose}, not of other workloads, "
            "and grow surer with the number of variations."
        )
    else:
        repeated = ranking.variations > ranking.units
        yield (
            f"Intervals and tests speak of workloads like these {ranking.units}"
            + (", whose variations only repeat them: unit 'variation' asks about these alone." if repeated else ".")
        )


def _power(ranking: Ranking) -> Iterator[str]:
    """Too few units are said to be too few."""
    count, units = len(ranking.standings), _number(ranking.units, ranking.unit)
    if count == 2 and 2 <= ranking.units < _PAIRS:
        yield f"{units} cannot separate two schedulers: Wilcoxon's test needs {_PAIRS}."
    difference, widest = ranking.critical_difference, count - 1
    if len(ranking.groups) > 1 and difference is not None:
        yield f"Mean ranks at least {difference:.2g} apart differ significantly (Nemenyi); who shares a group does not."
    if difference is not None and difference > widest:
        yield (
            f"{units} cannot separate {count} schedulers: critical difference {difference:.1f}, "
            f"and mean ranks differ by {widest} at most."
        )
    elif difference is not None and difference > widest / 2:
        yield (
            f"{units} hardly separate {count} schedulers: critical difference {difference:.1f}, "
            f"where mean ranks differ by {widest} at most."
        )
    if 2 <= ranking.units <= _FEW:
        yield f"With {units} an interval is little more than the range of what was seen, and too narrow."


def _elsewhere(ranking: Ranking) -> Iterator[str]:
    """Workloads on which somebody else comes first."""
    best = ranking.standings[0]
    behind = [
        workload
        for workload in ranking.workloads
        if best.workload_ranks[workload] > min(other.workload_ranks[workload] for other in ranking.standings)
    ]
    if behind:
        yield f"{best.scheduler} does not have the best mean rank on {_listed(behind)}."


def _omissions(ranking: Ranking) -> Iterator[str]:
    """What was left out, because of whom, and why."""
    every = ranking.blocks + ranking.blocks_left_out
    for scheduler in ranking.left_out:
        gaps = [gap for gap in ranking.gaps if gap.scheduler == scheduler]
        yield f"Left out: {scheduler}, with a value in {every - len(gaps)} of {every} blocks only ({_reasons(gaps)})."
    if ranking.blocks_left_out:
        lacking = sorted({gap.scheduler for gap in ranking.gaps} - set(ranking.left_out))
        because = [f"{name} ({_reasons([gap for gap in ranking.gaps if gap.scheduler == name])})" for name in lacking]
        yield f"Left out: {ranking.blocks_left_out} of {every} blocks, because of {_listed(because)}."
    errors = [gap.error for gap in ranking.gaps if gap.error]
    if errors:
        yield f"The first error: {errors[0]}"


def _reasons(gaps: Sequence[Gap]) -> str:
    """2 failed, 1 missing."""
    counts = Counter(gap.reason for gap in gaps)
    return ", ".join(f"{number} {reason}" for reason, number in sorted(counts.items()))


# ---------------------------------------------------------------- words


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > _LISTED + 1:
        return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
