"""The comparison of a run with its baseline in words, as a table, and as an object for programs."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from harness.gate.comparison import ComparedRun, MeasureChange, Outcome
from harness.gate.difference import Decision, Difference
from harness.present.tables import prose, render
from harness.present.words import counted, readable, spoken

#: The number of measures listed as better and as worse if there are both.
_NAMED = 3

IN_WORDS: dict[Outcome, str] = {
    "not compared": "could not be compared",
    "worse": "worse",
    "better": "better",
    "changed": "changed, neither better nor worse",
    "same": "the same",
}


def outcome_text(run: ComparedRun) -> str:
    """Return the outcome in words."""
    if run.problem:
        return f"could not be compared: {run.problem}"
    sides = {side: [move for move in run.moves if move.outcome == side] for side in ("better", "worse")}
    if all(sides.values()):
        return " and ".join(f"{side} by {', '.join(map(_briefly, moved[:_NAMED]))}" for side, moved in sides.items())
    if run.outcome == "changed" and run.within and not run.moves:
        return "changed, within tolerance"
    return IN_WORDS[run.outcome] + ("" if run.rescheduled else ", with the same starts")


def _briefly(move: MeasureChange) -> str:
    return f"{spoken(move.measure.name)} ({_change(move)})"


def largest_change(run: ComparedRun) -> str:
    """Return the largest change among those with the most severe outcome."""
    if not run.moves:
        return "within tolerance" if run.within else "no measure"
    gravest = [move for move in run.moves if move.outcome == run.moves[0].outcome]
    move = max(gravest, key=_size)
    return f"{move.measure.name}: {_change(move)}"


def _size(move: MeasureChange) -> float:
    return math.inf if math.isnan(move.share) else abs(move.share)


def details(run: ComparedRun, format: str) -> Iterator[str]:
    """Yield the changed measures and the first job with another start, as blocks of text."""
    if run.moves:
        rows = [
            (move.measure.name, move.before, move.now, move.measure.unit, _change(move), move.outcome)
            for move in run.moves
        ]
        yield render(("measure", "before", "now", "unit", "change", "outcome"), rows, format, digits=8)
    elif run.rescheduled:
        yield prose(_within(run.within) if run.within else "No measure moved.", format)
    if run.difference is not None:
        yield ""
        yield prose(_sentence(run.difference), format)
        if run.difference.decision is not None:
            yield from _decision(run.difference.instant, run.difference.decision, format)
    elif run.rescheduled:
        yield prose("The baseline has no file of starts, so the first job that differs is not known.", format)


def _within(moves: tuple[MeasureChange, ...]) -> str:
    largest = sorted(moves, key=_size, reverse=True)[:_NAMED]
    named = ", ".join(f"{_briefly(move)[:-1]}, of {move.tolerance * 100:.3g} %)" for move in largest)
    rest = len(moves) - len(largest)
    return f"Every measure is within tolerance: {named}{f', and {rest} more' if rest else ''}."


def _sentence(difference: Difference) -> str:
    before, now = _began(difference.before, "started"), _began(difference.now, "starts")
    return (
        f"The first to differ is job {difference.job} ({counted(difference.procs, 'processor')}, submitted at "
        f"{_seconds(difference.submit)}): it {before}, now it {now}."
    )


def _decision(instant: float, decision: Decision, format: str) -> Iterator[str]:
    state = (
        f"At {_seconds(instant)}, {decision.free:,} of {counted(decision.procs, 'processor')} "
        f"{'was' if decision.free == 1 else 'were'} free and {counted(decision.waiting, 'job')} waited"
    )
    whose = ", in both" if decision.common else ", in the new schedule"
    yield prose(f"{state}{whose}; among them:", format)
    rows = [(job.job, job.procs, job.estimate, job.waited, _verb(job.before), _verb(job.now)) for job in decision.queue]
    yield render(
        ("job", "processors", "estimate", "waited", "before", "now"), rows, format, units=("", "", "s", "s", "", "")
    )


def _verb(starts: bool) -> str:
    return "starts" if starts else "waits"


def _change(move: MeasureChange) -> str:
    if math.isnan(move.share):
        return f"from {readable(move.before)} to {readable(move.now)}"
    return f"{move.share * 100:+.3g} %"


def _began(start: float, verb: str) -> str:
    return f"never {verb}" if math.isnan(start) else f"{verb} at {_seconds(start)}"


def _seconds(time: float) -> str:
    return f"{readable(time, 12)} s"


def as_object(run: ComparedRun) -> dict[str, Any]:
    """Return the whole comparison for JSON."""
    workload, platform, variation, seed, policies = run.key
    difference = None if run.difference is None else asdict(run.difference)
    return {
        "workload": workload,
        "platform": platform,
        "variation": variation,
        "seed": seed,
        "scheduler": run.scheduler,
        "policies": dict(policies),
        "outcome": run.outcome,
        "problem": run.problem or None,
        "schedule_changed": run.rescheduled,
        "moves": [
            {
                "measure": move.measure.name,
                "unit": move.measure.unit,
                "before": move.before,
                "now": move.now,
                "outcome": move.outcome,
            }
            for move in run.moves
        ],
        "first_difference": difference,
    }
