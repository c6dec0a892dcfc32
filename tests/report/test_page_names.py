"""Whatever a name holds, in every section of a page it is text: it adds no element, no attribute and no script."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hostile import HOSTILE, Renamed

import harness
from harness.report.page import SECTIONS, Page, run_page, tournament_page
from harness.report.rendering import render

#: What a template could let out of an attribute, a terminal or a direction of writing.
NAME = f"{HOSTILE}\" onload='hacked=1' \x1b[31m\u202e"


class Seen(HTMLParser):
    """The elements with the names of their attributes, and the texts, of every section."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.section = ""
        self.elements: dict[str, set[tuple[str, ...]]] = {}
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "section":
            self.section = str(values["id"])
        self.elements.setdefault(self.section, set()).add((tag, *sorted(values)))
        self.handle_data(" ".join(str(value) for value in values.values()))

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.section = ""

    def handle_data(self, data: str) -> None:
        self.texts[self.section] = self.texts.get(self.section, "") + data


def run(name: str) -> harness.Schedule:
    """Return a run of a workload of that name."""
    log = harness.lublin(jobs=40, procs=64, seed=1)
    workload = harness.prepare(log)
    schedule = harness.simulate(workload, "synthetic-11", timeline=True)
    return replace(schedule, workload=replace(schedule.workload, name=name))


@pytest.fixture(scope="module")
def pages(store) -> dict[str, tuple[Page, Page]]:
    """Pages whose names are hostile, and the same with harmless names."""
    measures = [harness.Measure(name, name, "less", name, lambda schedule: 1.0) for name in (NAME, "harmless")]
    return {
        "tournament": (tournament_page(Renamed(store)), tournament_page(harness.Results(store))),
        "run": (
            run_page(run(NAME), extra=measures[:1], command=NAME),
            run_page(run("harmless"), extra=measures[1:], command="harmless"),
        ),
    }


@pytest.mark.parametrize("kind", ["tournament", "run"])
def test_names_are_text_in_every_section(pages: dict[str, tuple[Page, Page]], kind: str) -> None:
    texts = [render(page) for page in pages[kind]]
    hostile, without_controls = map(Seen, texts)
    assert hostile.elements == without_controls.elements
    for section in pages[kind][0].sections:
        assert "window.hacked=1" in hostile.texts[section.name]
        assert not hostile.elements[section.name] & {("script",), ("a", "href")}
    assert not set(texts[0]) & set("\x1b\u202e")


def test_a_file_whose_name_no_encoding_knows_has_a_page() -> None:
    assert "log-�" in render(run_page(run("log-\udcff"), command="run log-\udcff"))


def test_every_section_is_tried(pages: dict[str, tuple[Page, Page]]) -> None:
    tried = {section.name for page, _ in pages.values() for section in page.sections}
    assert tried == {section.name for section in SECTIONS}
