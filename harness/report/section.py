"""The sections of a page, each declared once beside the charts in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.report.page_subject import Subject
from harness.results.charts.figures import Figure

Chart = Callable[[Subject], Iterable[Figure]]
Gather = Callable[[Subject], dict[str, Any] | None]


@dataclass(frozen=True)
class Shown:
    """A section as it stands on a page."""

    name: str
    title: str
    template: str
    data: dict[str, Any]  # for the template
    figures: list[Figure]


@dataclass(frozen=True)
class Section:
    """A section that pages may have, `runs` say: `runs.html.j2` is its template, `@runs.chart` adds a chart to it."""

    name: str
    title: str
    gather: Gather  # the data of its template, or None where the subject has nothing to say to it
    alone: str  # its title where there is one scheduler only
    charts: list[Chart] = field(default_factory=list)

    def chart(self, draw: Chart) -> Chart:
        """Add a chart: `draw` yields it as often as the subject has something to draw."""
        self.charts.append(draw)
        return draw

    def of(self, subject: Subject) -> Shown | None:
        """Return the section about `subject`, or None where there is nothing to say."""
        data = self.gather(subject)
        if data is None:
            return None
        title = self.title if len(subject.schedulers) > 1 else self.alone
        return Shown(
            self.name, title, f"{self.name}.html.j2", data, [figure for draw in self.charts for figure in draw(subject)]
        )


def section(name: str, title: str, alone: str = "") -> Callable[[Gather], Section]:
    """Make the function below, which gathers the data of a template, a section."""
    return lambda gather: Section(name, title, gather, alone or title)
