"""One self-contained page: a tournament's, or one run's. It opens offline, and runs no script but its own."""

import base64
import hashlib
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.errors import HarnessError
from harness.files import replacing
from harness.policy import Scheduler
from harness.report.adequacies import adequacies
from harness.report.behaviour import behaviour
from harness.report.details import Detail, detail
from harness.report.energies import energies
from harness.report.figures import Figure, Section
from harness.report.provenance import of_run, of_tournament
from harness.report.ranks import Diagram
from harness.report.replays import PAIRS, RECTANGLES, Watch, replays
from harness.report.runs import runs
from harness.report.tables import measures_table, readable
from harness.report.winners import column, ranked, winners
from harness.results.metrics import MEASURES, Measure

if TYPE_CHECKING:
    from jinja2 import Environment

    from harness.results.schedule import Schedule
    from harness.tournament.results import Results
    from harness.workload.log import Workload

#: What Plotly may do to a picture that a reader does not want.
_CONFIG = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


@dataclass(frozen=True)
class Page:
    """A page before it is written."""

    title: str
    about: str
    sections: list[Section]
    warnings: list[str] = field(default_factory=list)  # what is missing

    @property
    def figures(self) -> list[Figure]:
        """All pictures, in order."""
        return [figure for section in self.sections for figure in section.figures]

    @property
    def shown_first(self) -> list[Figure]:
        """The pictures that a reader sees who chooses nothing."""
        return [figure for s in self.sections for figure in s.figures if figure.when == s.figures[0].when]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page as one HTML file."""
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
) -> Page:
    """The page of what is in a tournament's store, finished or not, ranked by a measure.

    `extra` are measures of plugins, and `watch(done, all)` is called as the runs are repeated that it looks at closely.
    """
    extra = list(extra)
    frame = results.frame()
    ranking, why_not = ranked(frame, by, extra)
    schedulers = [standing.scheduler for standing in ranking.standings] if ranking else []
    details, remarks = replays(results, frame, schedulers, plugins, watch)
    procs = {str(machine["name"]): int(machine["procs"]) for machine in results.about["platforms"]}
    sections = [winners(frame, ranking, why_not, extra)]
    if ranking is not None:
        known = MEASURES | {measure.name: measure for measure in extra}
        sections += [
            energies(frame, schedulers, by, known),
            behaviour(details, frame, schedulers, procs, remarks),
            *_closer(details),
        ]
    sections.append(of_tournament(results, frame, plugins))
    about = results.about["field"]
    return Page(f"Tournament {about['name']}", about["about"], sections, _missing(results, frame))


def run_page(
    schedule: "Schedule", *, extra: Iterable[Measure] = (), command: str = "", plugins: tuple[str, ...] = ()
) -> Page:
    """The page of one run, made with `simulate(…, timeline=True)`; `command` is what reproduces it."""
    from harness.run import simulate

    extra = list(extra)
    known = MEASURES | {measure.name: measure for measure in extra}
    scheduler = " + ".join(schedule.scheduler[part] for part in ("order", "start"))

    def replay(workload: "Workload", **kept: Any) -> "Schedule":
        policies = Scheduler(**schedule.scheduler)
        return simulate(
            workload, schedule.platform, policies, seed=schedule.seed, plugins=plugins, events=schedule.events, **kept
        )

    name = schedule.workload.name
    shown = detail(schedule, replay, name, scheduler, 0, RECTANGLES, PAIRS)
    measures = schedule.measures(extra)
    rows = [
        (column(name, known), readable(value), unit)
        for name, value, unit in measures_table(measures, extra)
        if value == value
    ]
    frame = pd.DataFrame(
        [{"workload": name, "platform": schedule.platform.name, "scheduler": scheduler, "status": "done", **measures}]
    )
    summary = {"rows": rows, "scheduler": schedule.scheduler, "seed": schedule.seed, "jobs": len(schedule.workload)}
    sections = [
        Section("summary", "How did it go?", "summary.html.j2", summary),
        behaviour([shown], frame, [scheduler], {schedule.platform.name: schedule.platform.cores}, []),
        *_closer([shown]),
        of_run(schedule, command, plugins),
    ]
    about = f"{len(schedule.workload):,} jobs on {schedule.platform.name}."
    return Page(f"{name}: {scheduler}", about, sections, _left_out(frame))


def _closer(details: list[Detail]) -> list[Section]:
    return [runs(details), adequacies(details)] if details else []


def _missing(results: "Results", frame: pd.DataFrame) -> list[str]:
    """What a reader would otherwise take for all there is."""
    failed = int((frame["status"] == "failed").sum())
    done = len(frame) - failed
    if done == results.planned:
        return _left_out(frame)
    said = [f"{done:,} of {results.planned:,} runs are done: this tournament is not complete."]
    if failed:
        said.append(f"{failed:,} runs failed; they are listed, with their errors, at the end of this page.")
    if len(frame) < results.planned:
        said.append(f"{results.planned - len(frame):,} runs were not tried yet; the same command goes on with them.")
    return said + _left_out(frame)


def _left_out(frame: pd.DataFrame) -> list[str]:
    """Jobs that no average knows of: a scheduler must not look better for them."""
    why = {"unaccepted": "the platform is too small for them", "stranded": "nodes that they need stayed down"}
    done = frame[frame["status"] == "done"]
    said = []
    for name, reason in why.items():
        if (worst := done[done[name] > 0].sort_values(name, kind="stable").tail(1)).size:
            run = worst.iloc[0]
            many = f"{run[name]:,.0f} of {run['jobs']:,.0f} jobs of {run['workload']} on {run['platform']}"
            elsewhere = ", the most of any run" if len(done) > 1 else ""
            said.append(f"Jobs were left out of every average, because {reason}: {many}{elsewhere}.")
    return said


# ---------------------------------------------------------------- HTML


def require(*, images: bool = False) -> None:
    """Refuse what would fail at the end: the libraries that a page needs, and its images."""
    needed = {"jinja2": "report", "plotly": "report"} | ({"kaleido": "images"} if images else {})
    for name, extra in needed.items():
        if find_spec(name) is None:
            raise HarnessError(f"a report needs {name}, which is not installed: pip install 'sched-harness[{extra}]'")


def render(page: Page) -> str:
    """The page as one HTML file."""
    require()
    from plotly.offline import get_plotlyjs

    scripts = [get_plotlyjs(), _asset("report.js"), _asset("gantt.js")]
    numbered = {id(figure): f"figure-{number}" for number, figure in enumerate(page.figures)}
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            page=page,
            numbered=lambda figure: numbered[id(figure)],
            drawings={
                numbered[id(figure)]: {"data": figure.data, "layout": figure.layout | {"height": figure.height}}
                for figure in page.figures
            },
            config=_CONFIG,
            style=_asset("report.css"),
            scripts=scripts,
            # The browser runs these scripts and no others, whatever a name from a file tries to smuggle in.
            policy="; ".join(
                [
                    "default-src 'none'",
                    f"script-src {' '.join(_hash(script) for script in scripts)}",
                    "style-src 'unsafe-inline'",
                    "img-src data: blob:",
                ]
            ),
        )
    )


def drawing(diagram: Diagram) -> str:
    """A critical-difference diagram as SVG of its own."""
    return _templates().get_template("diagram.svg.j2").render(diagram=diagram)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"embedded": embedded, "readable": readable}
    return environment


def embedded(value: Any) -> Any:
    """A value as JSON that may stand in a <script>: nothing in it can end the element."""
    from markupsafe import Markup

    text = json.dumps(_finite(value), separators=(",", ":"))  # ASCII: no line separators of JavaScript's either
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _finite(value: Any) -> Any:
    """JSON knows no infinity and nothing that is not a number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("harness.report") / "templates" / name).read_text(encoding="utf-8")
