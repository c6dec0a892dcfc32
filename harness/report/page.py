"""One self-contained HTML page about a tournament or a run. It opens offline, and runs no script but its own."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from harness.disk.atomic import replacing
from harness.present.words import counted
from harness.report.adequacy_section import adequacy
from harness.report.behaviour_section import behaviour
from harness.report.energy_section import energy
from harness.report.page_subject import PageData, run_subject, tournament_subject
from harness.report.provenance_section import provenance
from harness.report.replays import Watch
from harness.report.runs_section import runs
from harness.report.section import Shown
from harness.report.summary_section import summary
from harness.report.winners_section import winners
from harness.results.charts.figures import Figure
from harness.results.measures import Measure

if TYPE_CHECKING:
    from harness.experiment.stored_results import Results
    from harness.results.schedule import Schedule

#: The sections of every page, in their order; sections without content are left out.
SECTIONS = (winners, summary, energy, behaviour, runs, adequacy, provenance)


@dataclass(frozen=True)
class Page:
    """A page before it is written."""

    title: str
    about: str
    sections: list[Shown]
    warnings: list[str] = field(default_factory=list)  # about missing runs and jobs

    @property
    def figures(self) -> list[Figure]:
        """All charts, in order."""
        return [figure for section in self.sections for figure in section.figures]

    @property
    def shown_first(self) -> list[Figure]:
        """The charts that the page shows before the reader chooses."""
        return [figure for s in self.sections for figure in s.figures if figure.when == s.figures[0].when]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page as one HTML file."""
        from harness.report.rendering import render

        text = render(self)
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def tournament_page(
    results: "Results",
    by: str = "mean_bounded_slowdown",
    *,
    extra: Iterable[Measure] = (),
    plugins: tuple[str, ...] = (),
    watch: Watch = lambda done, total: None,
    look: Sequence[str] = (),
    unit: str | None = None,
) -> Page:
    """Return the page of the results of a tournament, finished or not, ranked by a measure.

    `extra` are measures of plugins. Some runs are repeated to show them in detail: those of the best schedulers and the
    last, or of those to `look` at. `watch(done, all)` is called meanwhile. `unit` is the unit of inference, as for
    `rank`.
    """
    subject = tournament_subject(results, by, extra, plugins, watch, look, unit)
    field = results.about["field"]
    warnings = _missing(results, subject.frame) + [
        f"{notice[0].upper()}{notice[1:]}." for notice in results.about["notices"]
    ]
    return Page(f"Tournament {field['name']}", field["about"], _sections(subject), warnings)


def run_page(
    schedule: "Schedule", *, extra: Iterable[Measure] = (), command: str = "", plugins: tuple[str, ...] = ()
) -> Page:
    """Return the page of one run, made with `simulate(…, timeline=True)`; `command` reproduces it."""
    subject = run_subject(schedule, extra, command, plugins)
    title = f"{schedule.workload.name}: {subject.schedulers[0]}"
    about = f"{counted(len(schedule.workload), 'job')} on {schedule.platform.name}."
    return Page(title, about, _sections(subject), _left_out(subject.frame))


def _sections(subject: PageData) -> list[Shown]:
    return [shown for section in SECTIONS if (shown := section.of(subject)) is not None]


def _missing(results: "Results", frame: pd.DataFrame) -> list[str]:
    failed = int((frame["status"] == "failed").sum())
    done = len(frame) - failed
    if done == results.planned:
        return _left_out(frame)
    found = [f"{done:,} of {counted(results.planned, 'run')} are done: this tournament is not complete."]
    if failed:
        found.append(f"{counted(failed, 'run')} failed, listed with the errors at the end of this page.")
    if untried := results.planned - len(frame):
        verb = "was" if untried == 1 else "were"
        found.append(f"{counted(untried, 'run')} {verb} not tried yet; the same command continues from there.")
    return found + _left_out(frame)


def _left_out(frame: pd.DataFrame) -> list[str]:
    """Return warnings about jobs that no average includes: a scheduler must not look better without them."""
    why = {
        "unaccepted": "the platform is too small for them or they were rejected",
        "stranded": "nodes that they need stayed down, or a hold never released them",
    }
    done = frame[frame["status"] == "done"]
    found = []
    for name, reason in why.items():
        if (worst := done[done[name] > 0].sort_values(name, kind="stable").tail(1)).size:
            run = worst.iloc[0]
            many = f"{run[name]:,.0f} of {run['jobs']:,.0f} jobs of {run['workload']} on {run['platform']}"
            elsewhere = ", the most of any run" if len(done) > 1 else ""
            found.append(f"Jobs were left out of every average, because {reason}: {many}{elsewhere}.")
    return found
