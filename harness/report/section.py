"""The sections of a page; each module declares one section with its charts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.report.page_subject import PageData
from harness.results.charts.figures import Figure

Chart = Callable[[PageData], Iterable[Figure]]
Gather = Callable[[PageData], dict[str, Any] | None]


@dataclass(frozen=True)
class Shown:
    """A section of a page, with its data and charts."""

    name: str
    title: str
    template: str
    data: dict[str, Any]  # for the template
    figures: list[Figure]


@dataclass(frozen=True)
class Section:
    """A section that pages may have. For `runs`, the template is `runs.html.j2`, and `@runs.chart` adds a chart."""

    name: str
    title: str
    gather: Gather  # returns the data of its template, or None to leave it out
    alone: str  # its title for a single scheduler
    charts: list[Chart] = field(default_factory=list)

    def chart(self, draw: Chart) -> Chart:
        """Add a chart: `draw` yields any number of figures."""
        self.charts.append(draw)
        return draw

    def of(self, subject: PageData) -> Shown | None:
        """Return the section about `subject`, or None to leave it out."""
        data = self.gather(subject)
        if data is None:
            return None
        title = self.title if len(subject.schedulers) > 1 else self.alone
        return Shown(
            self.name, title, f"{self.name}.html.j2", data, [figure for draw in self.charts for figure in draw(subject)]
        )


def section(name: str, title: str, alone: str = "") -> Callable[[Gather], Section]:
    """Return a decorator that makes a section of a function that returns the data of a template."""
    return lambda gather: Section(name, title, gather, alone or title)
