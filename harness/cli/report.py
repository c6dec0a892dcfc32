"""`harness report`: a tournament as one page that opens offline."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.report.page import Page
    from harness.results.schedule import Schedule


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder of a tournament's results")],
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="the page (DIR/report.html)")] = None,
    by: Annotated[str, typer.Option(metavar="MEASURE", help="what decides")] = "mean_bounded_slowdown",
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="also its first pictures, as SVG and PNG")] = None,
    plugins: Annotated[list[str] | None, typer.Option(help="a plugin file or folder; may be repeated")] = None,
) -> None:
    """Show what is in a tournament's folder, finished or not, as one self-contained HTML page."""
    from harness.report.page import require, tournament_page
    from harness.results.metrics import MEASURES
    from harness.run import extra_measures
    from harness.tournament.results import Results

    require(images=images is not None)
    folders = tuple(plugins or ())
    extra = extra_measures(folders)
    measures = [*MEASURES, *(measure.name for measure in extra)]
    if by not in measures:
        raise HarnessError(f"there is no measure {by!r}; {did_you_mean(by, measures)}")
    with _progress() as watch:
        page = tournament_page(Results(folder), by, extra=extra, plugins=folders, watch=watch)
    write(page, out or folder / "report.html", images)


def ready_for(path: Path | None) -> None:
    """Refuse a page, if one is wanted, that could not be made in the end."""
    if path is not None:
        from harness.report.page import require

        require()


def write_run(schedule: "Schedule", path: Path | None, plugins: tuple[str, ...]) -> None:
    """Write the page of one run that was made by this command line, if one is wanted."""
    if path is None:
        return
    from harness.report.page import run_page
    from harness.run import extra_measures

    command = shlex.join(["harness", *sys.argv[1:]])
    write(run_page(schedule, extra=extra_measures(plugins), command=command, plugins=plugins), path)


def write(page: "Page", path: Path, images: Path | None = None) -> None:
    """Write a page, and its pictures if they are wanted, and say where."""
    page.write(path)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser", file=sys.stderr)
    if images is not None:
        from harness.report.images import draw

        for name in draw(page, images):
            print(name, file=sys.stderr)


@contextmanager
def _progress() -> "Iterator[Any]":
    """A bar with the time left, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("looking closely at single runs", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
