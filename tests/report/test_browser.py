"""The page in a real browser: it draws, sorts, filters and selects, and asks nobody for anything.

Needs playwright and a Chromium, `apt-get install chromium`, say; HARNESS_CHROMIUM names another. Skipped without.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.present.drawing import write_page
from harness.results.charts.figures import Figure, axis, for_a_notebook

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: make test-all installs it")

_QUIET = [f"--disable-{what}" for what in ("quic", "background-networking", "component-update", "sync")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("HARNESS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or name one in HARNESS_CHROMIUM")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--no-first-run", *_QUIET])
        yield browser
        browser.close()


class Opened:
    """A page, and what it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, scheme: str = "light", mouse: bool = True) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, is_mobile=not mouse, has_touch=not mouse
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message) or dialog.dismiss())
        self.context.route("**/*", self.answer)
        self.page.goto(path.as_uri())

    def answer(self, route: Any) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            self.asked.append(route.request.url)
            route.abort()

    def draw(self, selector: str = ".plot") -> None:
        """Bring every picture of a kind into sight that is not hidden."""
        for plot in self.page.query_selector_all(selector):
            if plot.is_visible():
                plot.scroll_into_view_if_needed()
                self.page.wait_for_function("plot => plot.querySelector('.main-svg')", arg=plot)


@pytest.fixture
def opened(browser: Any, page: Path) -> Iterator[Opened]:
    opened = Opened(browser, page)
    yield opened
    opened.context.close()
    assert opened.said == []
    assert opened.asked == []


def test_every_picture_is_drawn_and_no_name_does_anything(opened: Opened) -> None:
    for select in opened.page.query_selector_all(".choice select"):
        for option in select.query_selector_all("option"):
            select.select_option(option.inner_text())
            opened.draw()
    assert opened.page.evaluate("window.hacked") is None
    assert opened.page.query_selector("a[href^=javascript]") is None
    assert opened.page.query_selector("svg a") is None  # nor did Plotly make a link of it


def test_names_read_as_they_were_written(opened: Opened) -> None:
    from hostile import HOSTILE

    names = [button.text_content() for button in opened.page.query_selector_all(".policy")]
    assert HOSTILE in names


def test_sorting(opened: Opened) -> None:
    page = opened.page
    head = page.query_selector("#measures thead th:has-text('mean wait') button")
    column = head.evaluate("button => button.closest('th').cellIndex")
    values = f"[...document.querySelectorAll('#measures tbody tr')].map(row => +row.cells[{column}].dataset.value)"
    head.click()
    assert head.evaluate("button => button.closest('th').getAttribute('aria-sort')") == "ascending"
    rising = page.evaluate(values)
    assert rising == sorted(rising)
    assert len(set(rising)) > 2
    head.click()
    assert page.evaluate(values) == sorted(rising, reverse=True)


def test_filtering(opened: Opened) -> None:
    page = opened.page
    shown = "[...document.querySelectorAll('#measures tbody tr')].filter(row => !row.hidden).length"
    assert page.evaluate(shown) == 3
    page.select_option("[name=workload]", "*")
    assert page.evaluate(shown) == 6
    page.fill("[name=words]", "lpf")
    assert page.evaluate(shown) == 2
    assert page.inner_text(".count") == "2 rows"
    page.fill("[name=words]", "no such scheduler")
    assert page.evaluate(shown) == 0


def test_measures_are_explained_to_mouse_and_keyboard(opened: Opened) -> None:
    page = opened.page
    head = page.query_selector(".leaderboard .measure")
    head.hover()
    assert "Less is better" in page.inner_text("#tip")
    page.mouse.move(0, 0)
    assert not page.is_visible("#tip")
    head.focus()
    assert "Less is better" in page.inner_text("#tip")


def test_selecting_a_scheduler_shows_it_everywhere(opened: Opened) -> None:
    page = opened.page
    opened.draw("#energy .plot, #behaviour .plot")
    page.click(".leaderboard .policy >> nth=1")
    assert page.is_visible("#selection")
    assert page.evaluate("document.querySelectorAll('tr.selected').length") >= 3
    faint = "plot => plot.data.filter(trace => trace.opacity === 0.18).length"
    plots = [plot for plot in page.query_selector_all("#energy .plot") if plot.is_visible()]
    page.wait_for_function(f"plot => ({faint})(plot) === 2", arg=plots[0])
    page.click("#selection button")
    assert not page.is_visible("#selection")
    assert plots[0].evaluate(faint) == 0


def test_a_click_on_a_point_selects_and_hovering_names_it(opened: Opened) -> None:
    page = opened.page
    opened.draw("#energy .plot")
    plot = next(plot for plot in page.query_selector_all("#energy .plot") if plot.is_visible())
    point = plot.query_selector_all(".scatterlayer .trace .point")[1]
    box = point.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.wait_for_function("plot => plot.querySelector('.hovertext')", arg=plot)
    assert "kWh" in plot.query_selector(".hovertext").text_content()
    page.mouse.click(*middle)
    page.wait_for_selector("#selection:not([hidden])")


def test_choosing_a_window_of_a_chart(opened: Opened) -> None:
    page = opened.page
    chart = page.query_selector(".gantt:not([hidden]) .chart")
    chart.scroll_into_view_if_needed()
    length = "gantts.find(gantt => !gantt.figure.hidden)"
    span = f"{length}.window[1] - {length}.window[0]"
    opens_on = page.evaluate(span)
    chart.focus()
    page.keyboard.press("Home")
    whole = page.evaluate(span)
    assert opens_on <= whole
    box = chart.bounding_box()
    left, right = page.evaluate("[LEFT, RIGHT]")
    begin, wide, y = box["x"] + left, box["width"] - left - right, box["y"] + 100
    page.mouse.move(begin + 0.25 * wide, y)
    page.mouse.down()
    page.mouse.move(begin + 0.75 * wide, y, steps=4)
    page.mouse.up()
    assert page.evaluate(span) == pytest.approx(whole / 2, rel=0.02)
    chart.focus()
    page.keyboard.press("+")
    assert page.evaluate(span) == pytest.approx(whole / 2 * 0.75, rel=0.02)
    page.keyboard.press("Home")
    assert page.evaluate(span) == whole
    page.click(".gantt:not([hidden]) summary")
    page.wait_for_selector(".gantt:not([hidden]) details tbody tr")
    inked = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte)"
    assert chart.evaluate(inked)


def test_names_and_numbers_keep_to_their_places_on_a_telephone(browser: Any, page: Path) -> None:
    opened = Opened(browser, page, 400)
    opened.draw()
    over = "name => name.getBoundingClientRect().right - name.closest('th').getBoundingClientRect().right"
    names = opened.page.query_selector_all("th .policy")
    assert len(names) > 6
    assert max(name.evaluate(over) for name in names) <= 0
    bars = next(plot for plot in opened.page.query_selector_all("#behaviour .plot") if plot.is_visible())
    assert [tick.text_content() for tick in bars.query_selector_all(".ytick text")] == ["1.", "2.", "3."]
    opened.context.close()


def test_what_is_written_on_tiles_can_be_read(opened: Opened) -> None:
    """Contrast of 4.5 between the ink and both ends of the scale, as the accessibility guidelines ask of text."""
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)
        ink = luminance(opened.page.evaluate("colour('--ink')"))
        for _, paper in opened.page.evaluate(f"SCALES.{scheme}"):
            low, high = sorted((ink, luminance(paper)))
            assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_wide_and_narrow_bright_and_dark(browser: Any, page: Path, width: int, scheme: str) -> None:
    opened = Opened(browser, page, width, scheme)
    opened.draw()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    ink, paper = (
        opened.page.evaluate(f"getComputedStyle(document.body).{name}.match(/\\d+/g).reduce((a, b) => a + +b, 0)")
        for name in ("color", "backgroundColor")
    )
    assert (ink > paper) == (scheme == "dark")
    drawn = opened.page.evaluate("document.querySelector('.plot .xtick text').style.fill.match(/\\d+/g)[0]")
    assert (int(drawn) > 128) == (scheme == "dark")
    assert opened.said == opened.asked == []
    opened.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_legend_covers_a_title(browser: Any, tmp_path: Path, width: int) -> None:
    """Of a chart that stands alone: six names, which take six lines on a telephone."""
    names = [f"a scheduler of a long name, which is number {place}" for place in range(6)]
    data = [{"type": "scatter", "x": [1, 2], "y": [1, place], "name": name} for place, name in enumerate(names)]
    layout = {"xaxis": axis("time"), "yaxis": axis("jobs")}
    write_page(for_a_notebook(Figure("one", "How it was", "", data, layout)), tmp_path / "one.html")
    opened = Opened(browser, tmp_path / "one.html", width)
    opened.draw(".plotly-graph-div")
    title, legend, under = (
        opened.page.wait_for_selector(one).bounding_box() for one in (".g-gtitle", ".legend", ".g-xtitle")
    )
    assert title["y"] + title["height"] <= legend["y"]
    assert under["y"] + under["height"] <= legend["y"] + 1
    assert opened.page.query_selector("meta[name=viewport]") is not None
    opened.context.close()


@pytest.mark.parametrize("mouse", [True, False])
@pytest.mark.parametrize("alone", [True, False])
def test_the_toolbar_is_hidden_where_there_is_no_mouse(
    browser: Any, page: Path, tmp_path: Path, mouse: bool, alone: bool
) -> None:
    """Of the report, and of a chart that stands alone. With a mouse it is there."""
    if alone:
        data = [{"type": "scatter", "x": [1, 2], "y": [1, 2], "name": name} for name in ("one", "two")]
        page = tmp_path / "one.html"
        write_page(for_a_notebook(Figure("one", "How it was", "", data, {"xaxis": axis("time")})), page)
    opened = Opened(browser, page, 800, mouse=mouse)
    selector = ".plotly-graph-div" if alone else ".plot"
    opened.draw(selector)
    [*plots] = [plot for plot in opened.page.query_selector_all(selector) if plot.is_visible()]
    plots[0].scroll_into_view_if_needed()
    (plots[0].hover if mouse else plots[0].tap)()
    bars = [bar for plot in plots for bar in plot.query_selector_all(".modebar")]
    assert bars
    assert all(bar.is_visible() == mouse for bar in bars)
    opened.context.close()


def test_a_copied_block_contains_its_commands_alone(browser: Any, tmp_path: Path) -> None:
    """The site's own style, and a block as MkDocs writes it while a copy button reads its text."""
    pygments = pytest.importorskip("pygments")
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    style = Path(__file__).resolve().parents[2] / ".docs/style.css"
    if not style.exists():
        pytest.skip("the site is not made here")
    session = "$ harness run x\nanswer: 1\n\nmore $ of it\n$ harness list orders  # all\n"
    block = pygments.highlight(session, get_lexer_by_name("console"), HtmlFormatter(linespans="__span"))
    (tmp_path / "page.html").write_text(f"<style>{style.read_text(encoding='utf-8')}</style>{block}")
    opened = Opened(browser, tmp_path / "page.html")
    text = "pre => { pre.setAttribute('data-md-copying', ''); return pre.innerText; }"
    copied = opened.page.query_selector("pre").evaluate(text)
    assert [line for line in copied.splitlines() if line] == ["harness run x", "harness list orders  # all"]
    opened.context.close()
