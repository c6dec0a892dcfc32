"""A verdict in words: for a terminal, for a pull request on GitHub, for programs."""

import html
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from harness.report.tables import prose, readable, render
from harness.tournament.difference import Decision, Difference
from harness.tournament.verdict import OUTCOMES, Compared, Move, Outcome, Verdict

#: A pull request shows so many runs, and the details of so many: GitHub refuses comments of more than 65,536 letters.
LISTED, DETAILED = 100, 10

_OUTCOMES: dict[Outcome, str] = {
    "not compared": "could not be compared",
    "worse": "worse",
    "better": "better",
    "changed": "changed, neither better nor worse",
    "same": "the same",
}


def as_text(verdict: Verdict) -> str:
    """For a terminal."""
    lines = [f"{verdict.baseline}: {headline(verdict)}", *(f"  {note}" for note in verdict.stale)]
    for run in verdict.runs:
        if run.outcome != "same":
            lines += ["", f"{run.where}, {run.scheduler}: {_what(run)}", *_details(run, "table")]
    return "\n".join(lines)


def as_github(verdict: Verdict) -> str:
    """GitHub-flavoured markdown, for the summary of a job or a comment on a pull request."""
    moved = [run for outcome in OUTCOMES[:-1] for run in verdict.runs if run.outcome == outcome]
    name = prose(verdict.baseline.name, "markdown")
    blocks = [f"### {name}: {prose(headline(verdict), 'markdown')}"]
    if verdict.stale:
        blocks.append("\n".join(f"- {prose(note, 'markdown')}" for note in verdict.stale))
    if moved:
        rows = [(run.where, run.scheduler, _what(run), _most(run)) for run in moved[:LISTED]]
        blocks.append(render(("workload", "scheduler", "outcome", "moved most"), rows, "markdown"))
    for run in moved[:DETAILED]:
        if details := [block for block in _details(run, "markdown") if block]:
            title = html.escape(readable(f"{run.where}, {run.scheduler}"))
            blocks.append("\n\n".join([f"<details><summary>{title}</summary>", *details, "</details>"]))
    if len(moved) > DETAILED:
        blocks.append(f"`harness check` shows the details of all {len(moved)} runs.")
    return "\n\n".join(blocks).replace("@", "@<!-- -->")  # nobody is called to read it


def as_json(verdict: Verdict) -> str:
    """For programs: everything that is not the same."""
    content = {
        "baseline": str(verdict.baseline),
        "status": verdict.status,
        "outcome": verdict.outcome,
        "runs": verdict.counts,
        "stale": verdict.stale,
        "written": verdict.written,
        "moved": [_object(run) for run in verdict.runs if run.outcome != "same"],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


FORMATS: dict[str, Callable[[Verdict], str]] = {"table": as_text, "github": as_github, "json": as_json}


def headline(verdict: Verdict) -> str:
    """How it went, in a sentence."""
    if not verdict.runs:
        return f"made, of {_number(verdict.written, 'run')}"
    counts = ", ".join(f"{count} {_OUTCOMES[outcome]}" for outcome, count in verdict.counts.items())
    words = f"{_number(len(verdict.runs), 'run')}: {counts}"
    return words + (f"; written anew, of {_number(verdict.written, 'run')}" if verdict.written else "")


# ---------------------------------------------------------------- one run


def _what(run: Compared) -> str:
    if run.problem:
        return f"could not be compared: {run.problem}"
    return _OUTCOMES[run.outcome] + ("" if run.rescheduled else ", with the same starts")


def _most(run: Compared) -> str:
    """The move that matters most: the largest of the gravest."""
    if not run.moves:
        return "no measure"
    gravest = [move for move in run.moves if move.outcome == run.moves[0].outcome]
    move = max(gravest, key=lambda move: math.inf if math.isnan(move.share) else abs(move.share))
    return f"{move.measure.name}: {_change(move)}"


def _details(run: Compared, format: str) -> Iterator[str]:
    if run.moves:
        rows = [
            (move.measure.name, move.before, move.now, move.measure.unit, _change(move), move.outcome)
            for move in run.moves
        ]
        yield render(("measure", "before", "now", "unit", "change", "outcome"), rows, format, digits=8)
    elif run.rescheduled:
        yield prose("No measure moved.", format)
    if run.difference is not None:
        yield ""
        yield prose(_sentence(run.difference), format)
        if run.difference.decision is not None:
            yield from _decision(run.difference.instant, run.difference.decision, format)
    elif run.rescheduled:
        yield prose("The starts were not kept beside the baseline, so the first job that differs is not known.", format)


def _sentence(difference: Difference) -> str:
    return (
        f"The first to differ is job {difference.job} ({_number(difference.procs, 'processor')}, submitted at "
        f"{_seconds(difference.submit)}): it started {_at(difference.before)}, now it starts {_at(difference.now)}."
    )


def _decision(instant: float, decision: Decision, format: str) -> Iterator[str]:
    state = (
        f"At {_seconds(instant)}, {decision.free:,} of {_number(decision.procs, 'processor')} "
        f"{'was' if decision.free == 1 else 'were'} free and {_number(decision.waiting, 'job')} waited"
    )
    whose = ", in both" if decision.common else ", as it now comes to be"
    yield prose(f"{state}{whose}; these among them:", format)
    rows = [(job.job, job.procs, job.estimate, job.waited, _verb(job.before), _verb(job.now)) for job in decision.queue]
    yield render(
        ("job", "processors", "estimate", "waited", "before", "now"), rows, format, units=("", "", "s", "s", "", "")
    )


def _verb(starts: bool) -> str:
    return "starts" if starts else "waits"


def _change(move: Move) -> str:
    if math.isnan(move.share):
        return f"from {readable(move.before)} to {readable(move.now)}"
    return f"{move.share * 100:+.3g} %"


def _at(start: float) -> str:
    return "never" if math.isnan(start) else f"at {_seconds(start)}"


def _seconds(time: float) -> str:
    return f"{readable(time, 12)} s"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _object(run: Compared) -> dict[str, Any]:
    workload, platform, variation, seed, policies = run.key
    difference = None if run.difference is None else asdict(run.difference)
    if difference is not None:
        difference |= {name: _null(difference[name]) for name in ("before", "now")}
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
                "before": _null(move.before),
                "now": _null(move.now),
                "outcome": move.outcome,
            }
            for move in run.moves
        ],
        "first_difference": difference,
    }


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
