"""What a check found as a whole: its outcome and exit status, and its words for a terminal, GitHub and programs."""

import html
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.gate.baseline import starts_path
from harness.gate.comparison import OUTCOMES, Compared, Outcome
from harness.gate.comparison_text import IN_WORDS, as_object, details, most, what
from harness.present.json_text import to_json
from harness.present.tables import prose, render
from harness.present.words import counted, harmless, readable

#: A pull request shows so many runs, and the details of so many: GitHub refuses comments of more than 65,536 letters.
LISTED, DETAILED = 100, 10


@dataclass(frozen=True)
class Verdict:
    """A check as a whole. `str` of it is a summary for people."""

    baseline: Path
    runs: tuple[Compared, ...]
    stale: tuple[str, ...] = ()  # versions that differ from the baseline's, printed if a result moved
    unmeasured: tuple[str, ...] = ()  # measures of which the baseline has no value
    startless: bool = False  # the file of the baseline's starts is missing
    written: int = 0  # runs in the baseline that was written, if one was

    @cached_property
    def counts(self) -> dict[Outcome, int]:
        """How many runs came out how, the gravest first."""
        counts = Counter(run.outcome for run in self.runs)
        return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}

    @property
    def outcome(self) -> Outcome:
        """The outcome of the gravest run."""
        return next(iter(self.counts), "same")

    @property
    def changed(self) -> bool:
        """Whether anything that was compared differs, for better or worse."""
        return self.outcome != "same"

    @property
    def notes(self) -> list[str]:
        """What is printed below the headline: versions that differ are of interest only if a result moved."""
        lacking = ", ".join(self.unmeasured)
        notes = [f"the baseline has nothing to compare with: {lacking}"] if lacking else []
        if self.startless:
            missing = starts_path(self.baseline)
            notes.append(f"{missing} is missing: the first job that starts otherwise is not known; --update writes it")
        return [*notes, *self.stale] if self.changed else notes

    @property
    def status(self) -> int:
        """0: the same or better; 1: worse, or changed and written down anew; 2: something could not be compared."""
        if self.written:
            return int(self.changed)
        return {"not compared": 2, "worse": 1}.get(self.outcome, 0)

    def __str__(self) -> str:
        return as_text(self)


def as_text(verdict: Verdict) -> str:
    """Write it for a terminal."""
    lines = [f"{verdict.baseline}: {headline(verdict)}", *(f"  {note}" for note in verdict.notes)]
    for run in verdict.runs:
        if run.outcome != "same":
            lines += ["", f"{run.where}, {run.scheduler}: {what(run)}", *details(run, "table")]
    return harmless("\n".join(lines))


def as_github(verdict: Verdict) -> str:
    """Write GitHub-flavoured markdown, for the summary of a job or a comment on a pull request."""
    moved = [run for outcome in OUTCOMES[:-1] for run in verdict.runs if run.outcome == outcome]
    name = prose(verdict.baseline.name, "markdown")
    blocks = [f"### {name}: {prose(headline(verdict), 'markdown')}"]
    if verdict.notes:
        blocks.append("\n".join(f"- {prose(note, 'markdown')}" for note in verdict.notes))
    if moved:
        rows = [(run.where, run.scheduler, what(run), most(run)) for run in moved[:LISTED]]
        blocks.append(render(("workload", "scheduler", "outcome", "moved most"), rows, "markdown"))
    for run in moved[:DETAILED]:
        if blocks_of_run := [block for block in details(run, "markdown") if block]:
            title = html.escape(readable(f"{run.where}, {run.scheduler}"))
            blocks.append("\n\n".join([f"<details><summary>{title}</summary>", *blocks_of_run, "</details>"]))
    if len(moved) > DETAILED:
        blocks.append(f"`harness check` shows the details of all {len(moved)} runs.")
    return "\n\n".join(blocks).replace("@", "@<!-- -->")  # nobody is called to read it


def as_json(verdict: Verdict) -> str:
    """Write everything that is not the same, for programs."""
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
    """Say how it went, in a sentence."""
    if not verdict.runs:
        return f"made, of {counted(verdict.written, 'run')}"
    counts = ", ".join(f"{count} {IN_WORDS[outcome]}" for outcome, count in verdict.counts.items())
    words = f"{counted(len(verdict.runs), 'run')}: {counts}"
    return words + (f"; written anew, of {counted(verdict.written, 'run')}" if verdict.written else "")
