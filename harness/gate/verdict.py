"""The result of a check: its outcome and exit status, and its text for a terminal, GitHub and programs."""

import html
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.gate.baseline import starts_path
from harness.gate.comparison import OUTCOMES, ComparedRun, Outcome
from harness.gate.comparison_text import IN_WORDS, as_object, details, largest_change, outcome_text
from harness.present.json_text import to_json
from harness.present.tables import prose, render
from harness.present.words import counted, readable, without_controls

#: The number of runs and of details in a comment on GitHub, which may have at most 65,536 characters.
LISTED, DETAILED = 100, 10


@dataclass(frozen=True)
class Verdict:
    """The result of a check. `str` of it is a summary for readers."""

    baseline: Path
    runs: tuple[ComparedRun, ...]
    stale: tuple[str, ...] = ()  # versions that differ from the baseline's, printed if a result moved
    unmeasured: tuple[str, ...] = ()  # measures without a value in the baseline
    startless: bool = False  # the file of the baseline's starts is missing
    written: int = 0  # the number of runs in the baseline that was written, or 0

    @cached_property
    def counts(self) -> dict[Outcome, int]:
        """The number of runs by outcome, the most severe first."""
        counts = Counter(run.outcome for run in self.runs)
        return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}

    @property
    def outcome(self) -> Outcome:
        """The most severe outcome of a run."""
        return next(iter(self.counts), "same")

    @property
    def changed(self) -> bool:
        """Whether anything that was compared differs, for better or worse."""
        return self.outcome != "same"

    @property
    def notes(self) -> list[str]:
        """The lines below the headline; versions that differ are listed only if a result changed."""
        lacking = ", ".join(self.unmeasured)
        notes = [f"the baseline has no values of: {lacking}"] if lacking else []
        if self.startless:
            missing = starts_path(self.baseline)
            notes.append(f"{missing} is missing: the first job with another start is not known; --update writes it")
        return [*notes, *self.stale] if self.changed else notes

    @property
    def status(self) -> int:
        """The exit status. 0: same or better; 1: worse, or changed and written; 2: something could not be compared."""
        if self.written:
            return int(self.changed)
        return {"not compared": 2, "worse": 1}.get(self.outcome, 0)

    def __str__(self) -> str:
        return as_text(self)


def as_text(verdict: Verdict) -> str:
    """Return the verdict for a terminal."""
    lines = [f"{verdict.baseline}: {headline(verdict)}", *(f"  {note}" for note in verdict.notes)]
    for run in verdict.runs:
        if run.outcome != "same":
            lines += ["", f"{run.where}, {run.scheduler}: {outcome_text(run)}", *details(run, "table")]
    return without_controls("\n".join(lines))


def as_github(verdict: Verdict) -> str:
    """Return the verdict in GitHub's Markdown, for the summary of a job or a comment on a pull request."""
    moved = [run for outcome in OUTCOMES[:-1] for run in verdict.runs if run.outcome == outcome]
    name = prose(verdict.baseline.name, "markdown")
    blocks = [f"### {name}: {prose(headline(verdict), 'markdown')}"]
    if verdict.notes:
        blocks.append("\n".join(f"- {prose(note, 'markdown')}" for note in verdict.notes))
    if moved:
        rows = [(run.where, run.scheduler, outcome_text(run), largest_change(run)) for run in moved[:LISTED]]
        blocks.append(render(("workload", "scheduler", "outcome", "moved most"), rows, "markdown"))
    for run in moved[:DETAILED]:
        if blocks_of_run := [block for block in details(run, "markdown") if block]:
            title = html.escape(readable(f"{run.where}, {run.scheduler}"))
            blocks.append("\n\n".join([f"<details><summary>{title}</summary>", *blocks_of_run, "</details>"]))
    if len(moved) > DETAILED:
        blocks.append(f"`harness check` shows the details of all {len(moved)} runs.")
    return "\n\n".join(blocks).replace("@", "@<!-- -->")  # mentions no user


def as_json(verdict: Verdict) -> str:
    """Return everything that is not the same, for programs."""
    content = {
        "baseline": str(verdict.baseline),
        "status": verdict.status,
        "outcome": verdict.outcome,
        "runs": verdict.counts,
        "stale": verdict.stale,
        "unmeasured": verdict.unmeasured,
        "without_starts": verdict.startless,
        "written": verdict.written,
        "moved": [as_object(run) for run in verdict.runs if run.outcome != "same"],
    }
    return to_json(content)


FORMATS: dict[str, Callable[[Verdict], str]] = {"table": as_text, "github": as_github, "json": as_json}


def headline(verdict: Verdict) -> str:
    """Return a sentence that summarises the check."""
    if not verdict.runs:
        return f"written, with {counted(verdict.written, 'run')}"
    counts = ", ".join(f"{count} {IN_WORDS[outcome]}" for outcome, count in verdict.counts.items())
    words = f"{counted(len(verdict.runs), 'run')}: {counts}"
    return words + (f"; rewritten, with {counted(verdict.written, 'run')}" if verdict.written else "")
