"""A ranking in words: a sentence of conclusion, and notes on its evidence."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.present.words import counted, lasting, readable, share, spoken
from harness.ranking.inference import ALPHA, FEWEST
from harness.ranking.pairing import Gap
from harness.ranking.ranking import Ranking, Standing

#: The first scheduler's wait or response is noted if it is more than this many times the shortest.
_STARVING = 3.0

#: The number of names listed in a sentence before "and 7 others".
_LISTED = 5


def conclusion(ranking: Ranking) -> str:
    """Return a sentence with the best scheduler, its lead, the scope, and the schedulers that it is not distinguishable
    from.
    """
    criterion, where = spoken(ranking.by), scope(ranking)
    count, best = len(ranking.standings), ranking.standings[0]
    if count == 1:
        return f"Only {best.scheduler} was ranked; its {criterion} over {where} is {best.mean:.4g}."
    if all(ties == ranking.blocks for row in ranking.ties for ties in row):
        return f"All {count} schedulers are equal by {criterion}, over {where}."
    leaders = [standing for standing in ranking.standings if standing.rank == 1]
    behind = [standing for standing in ranking.standings if _behind(ranking, standing)]
    others = len(ranking.standings) - len(leaders)
    verb = "share the first rank" if len(leaders) > 1 else "is best" if len(behind) == others else "ranks first"
    names = _listed([standing.scheduler for standing in leaders])
    figures = f"mean rank {readable(best.mean_rank, 3)} of {count}"
    return f"{names} {verb} by {criterion} ({figures} over {where}){_significance(ranking, leaders, behind)}."


def notes(ranking: Ranking) -> Iterator[str]:
    """Yield sentences about the scope of the conclusion, and about omissions."""
    count = len(ranking.standings)
    if count > 1:
        yield from _reach(ranking)
        yield from _power(ranking)
        yield from _other_winners(ranking)
        yield from _contradicting_ratios(ranking)
    for group in ranking.identical:
        yield f"The schedules of {_listed(group)} are identical in all blocks."
    front = [standing.scheduler for standing in ranking.standings if standing.on_front]
    if front and count > 1:
        yield f"On the Pareto front of {spoken(ranking.by)} and energy: {_listed(front)}."
    unmetered = [standing.scheduler for standing in ranking.standings if standing.on_front is None]
    if front and unmetered:
        yield f"Not considered for the front, as their energy is not known in every block: {_listed(unmetered)}."
    yield from _starving(ranking)
    yield from _overloaded(ranking)
    if preempts(ranking):
        yield "Waits end at a job's first start; the mean response includes later waits of preempted jobs."
    yield from _without_adequacy(ranking)
    yield from _omissions(ranking)


def preempts(ranking: Ranking) -> bool:
    """Return whether any scheduler suspended jobs."""
    return any(standing.means.get("preemptions", 0.0) > 0 for standing in ranking.standings)


def scope(ranking: Ranking) -> str:
    """Return the compared workloads and platforms in words: 30 variations of 3 workloads on 2 platforms."""
    where = ranking.workloads[0] if len(ranking.workloads) == 1 else f"{len(ranking.workloads)} workloads"
    if ranking.variations > len(ranking.workloads):
        where = f"{ranking.variations} variations of {where}"
    if len(ranking.platforms) > 1:
        where += f" on {len(ranking.platforms)} platforms"
    return where + (f" with {ranking.seeds} seeds" if ranking.seeds > 1 else "")


# ---------------------------------------------------------------- parts of the conclusion


def _behind(ranking: Ranking, other: Standing) -> bool:
    """Return whether the first is significantly different from `other`, and better by their ratio."""
    return other.p_value <= ALPHA and (other.ratio > 1) == (ranking.better == "less")


def _significance(ranking: Ranking, leaders: Sequence[Standing], behind: Sequence[Standing]) -> str:
    """Return from which schedulers the leaders are distinguishable, and by how much the next of the others differs."""
    if ranking.units < FEWEST:
        units = "one job stream" if ranking.units < 2 else counted(ranking.units, ranking.unit)
        more = "" if ranking.units < 2 else f": at least {FEWEST} are needed"
        return f"; {units} cannot show whether that is more than chance{more}"
    rest = [standing for standing in ranking.standings if standing not in leaders]
    alike = [standing for standing in rest if standing not in behind]
    if not rest:
        return f", and {'the two are' if len(leaders) == 2 else 'they are'} not distinguishable"
    if not behind:
        smallest = min(standing.p_value for standing in rest)
        least = f"p = {smallest:.2g}{'' if len(rest) == 1 else ' at least'}"
        return f", but is not significantly better than any other ({least}){_by_how_much(ranking, rest[0])}"
    whom = ("the other" if len(rest) == 1 else "all others") if not alike else f"{len(behind)} of {len(rest)} others"
    evidence = f"p = {max(standing.p_value for standing in behind):.2g}{'' if len(behind) == 1 else ' at most'}"
    words = f"; significantly better than {whom} ({evidence})"
    if alike:
        words += f", not significantly better than {_listed([standing.scheduler for standing in alike])}"
    return words + _by_how_much(ranking, rest[0])


def _by_how_much(ranking: Ranking, other: Standing) -> str:
    low, high = other.interval
    sure = f", 95 % interval {readable(low, 3)}–{readable(high, 3)}" if low == low else ""
    return f"; {other.scheduler} has {readable(other.ratio, 3)} times its {spoken(ranking.by)}{sure}"


# ---------------------------------------------------------------- notes


def _reach(ranking: Ranking) -> Iterator[str]:
    if ranking.units < 2:
        yield (
            f"This is one job stream, replayed in {counted(ranking.blocks, 'block')}: "
            "variations of the workload, or further workloads, would show the role of chance."
        )
    elif ranking.unit == "variation":
        whose = ranking.workloads[0] if len(ranking.workloads) == 1 else "these workloads"
        yield (
            f"Intervals and tests hold for variations of {whose}, not for other workloads, "
            "and become more certain with more variations."
        )
    else:
        repeated = ranking.variations > ranking.units
        yield (
            f"Intervals and tests hold for workloads like these {ranking.units}"
            + (", whose variations only repeat them: --unit variation tests these alone." if repeated else ".")
        )


def _power(ranking: Ranking) -> Iterator[str]:
    """Yield how the tests were made, and the number of units needed for more certainty."""
    if ranking.units < 2:
        return
    count = len(ranking.standings)
    if ranking.units >= FEWEST:
        pairs = f", corrected for {count * (count - 1) // 2:,} pairs" if count > 2 else ""
        letters = "; schedulers that share a letter do not differ significantly" if len(ranking.groups) > 1 else ""
        yield (
            f"Differences are tested by permutations of the ratios at {100 * ALPHA:.0f} %{pairs}{letters}. "
            "Intervals cover 95 % if ratios scatter evenly to both sides."
        )
    needed = []
    if ranking.units_for_next is not None:
        needed.append(
            "between the first and the next that does not differ from it significantly, if their ratio stays as it is, "
            + _about(ranking, ranking.units_for_next)
        )
    if ranking.units_for_tenth is not None:
        needed.append(f"between two schedulers that differ by 10 %, {_about(ranking, ranking.units_for_tenth)}")
    if needed:
        yield f"Needed to detect a difference in four of five cases: {'; '.join(needed)}."


def _about(ranking: Ranking, units: int) -> str:
    return f"about {counted(units, ranking.unit)}"


def _contradicting_ratios(ranking: Ranking) -> Iterator[str]:
    """Yield the schedulers that are significantly better by their ratio than one with a better mean rank.

    This is possible because ranks ignore the size of differences.
    """
    sign = 1 if ranking.better == "less" else -1
    found = [
        f"{later.scheduler} than {earlier.scheduler}"
        for row, earlier in enumerate(ranking.standings)
        for column, later in enumerate(ranking.standings)
        if row < column and ranking.p_values[row][column] <= ALPHA and sign * (ranking.ratios[row][column] - 1) > 0
    ]
    if found:
        yield f"Significantly better by their ratios, despite a worse mean rank: {_listed(found)}."


def _other_winners(ranking: Ranking) -> Iterator[str]:
    """Yield the workloads on which another scheduler is best."""
    best = ranking.standings[0]
    behind = [
        workload
        for workload in ranking.workloads
        if best.workload_ranks[workload] > min(other.workload_ranks[workload] for other in ranking.standings)
    ]
    if behind:
        yield f"{best.scheduler} does not have the best mean rank on {_listed(behind)}."


def _starving(ranking: Ranking) -> Iterator[str]:
    """Yield a warning if the first has a much longer maximum wait or mean response than another."""
    best = ranking.standings[0]
    for name, words in (("max_wait", "its longest wait"), ("mean_response", "its mean response")):
        known = [(s.means[name], s.scheduler) for s in ranking.standings if math.isfinite(s.means.get(name, math.nan))]
        own = best.means.get(name, math.nan)
        if name == ranking.by or not known or not own > _STARVING * min(known)[0]:
            continue
        least, whose = min(known)
        yield f"{best.scheduler} has a disadvantage: {words} is {lasting(own)}, that of {whose} is {lasting(least)}."


def _overloaded(ranking: Ranking) -> Iterator[str]:
    """Yield a warning if more work was submitted than the machine can do: waits then depend on the length of the
    log.
    """
    loads = {name: load for name, load in ranking.loads.items() if load >= 1}
    if loads:
        varied = ranking.variations > len(ranking.workloads)
        words = "{} or a variation of it (up to {})" if varied else "{} ({})"
        shares = [words.format(name, share(load)) for name, load in loads.items()]
        yield (
            f"More work is submitted than the machine can do on {_listed(shares)}: queues then keep growing, and waits "
            "depend on the length of the log as much as on the scheduler."
        )


def covered(ranking: Ranking) -> str:
    """Return how many of the logs a measure against the log covers: 2 of 3 logs."""
    known = len(ranking.with_adequacy)
    return f"{known} of {counted(known + len(ranking.without_adequacy), 'log')}"


def _without_adequacy(ranking: Ranking) -> Iterator[str]:
    if ranking.with_adequacy and ranking.without_adequacy:
        yield (
            f"Adequacy covers {covered(ranking)}: it is undefined for {_listed(ranking.without_adequacy)}, because the "
            "logs have no waits or ran on another or an unnamed machine."
        )


def _omissions(ranking: Ranking) -> Iterator[str]:
    """Yield what was left out, by scheduler and reason."""
    every = ranking.blocks + ranking.blocks_left_out
    alike: dict[tuple[int, str], list[str]] = {}
    for scheduler in ranking.left_out:
        gaps = [gap for gap in ranking.gaps if gap.scheduler == scheduler]
        alike.setdefault((every - len(gaps), _reasons(gaps)), []).append(scheduler)
    for (known, reasons), schedulers in alike.items():
        yield f"Left out: {_listed(schedulers)}, with a value in {known} of {every} blocks only ({reasons})."
    if ranking.blocks_left_out:
        lacking = sorted({gap.scheduler for gap in ranking.gaps} - set(ranking.left_out))
        because = [f"{name} ({_reasons([gap for gap in ranking.gaps if gap.scheduler == name])})" for name in lacking]
        yield f"Left out: {ranking.blocks_left_out} of {every} blocks, because of {_listed(because)}."
    errors = [gap.error for gap in ranking.gaps if gap.error]
    if errors:
        yield f"The first error: {errors[0]}"


def _reasons(gaps: Sequence[Gap]) -> str:
    """Return the number of gaps for each reason: 2 failed, 1 missing."""
    counts = Counter(gap.reason for gap in gaps)
    return ", ".join(f"{number} {reason}" for reason, number in sorted(counts.items()))


# ---------------------------------------------------------------- words


def _listed(names: Sequence[str]) -> str:
    if len(names) > _LISTED + 1:
        return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
