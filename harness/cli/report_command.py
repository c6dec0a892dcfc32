"""`harness report`: a tournament as one HTML page that opens offline."""

import os
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli.console import echo
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    from harness.report.page import Page
    from harness.results.schedule import Schedule

#: The name of the page in a folder of results, if --out does not name another.
PAGE = "report.html"


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder of a tournament's results")],
    out: Annotated[Path | None, options.output(metavar="FILE.html", help="the page (DIR/report.html)")] = None,
    by: options.By = "mean_bounded_slowdown",
    unit: options.InferenceUnit = None,
    look: Annotated[
        list[str] | None, typer.Option(metavar="SCHEDULER", help="show this scheduler in detail; repeatable")
    ] = None,
    images: Annotated[
        Path | None, options.output(metavar="DIR", help="also write its first pictures as SVG and PNG")
    ] = None,
    session: Annotated[
        int | None, typer.Option(metavar="N", help="the session to show, if several ran in the folder (the last)")
    ] = None,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
) -> None:
    """Write the results of a tournament, finished or not, as one self-contained HTML page."""
    from harness.experiment.stored_results import Results
    from harness.present.progress import progress
    from harness.report.page import tournament_page
    from harness.report.rendering import require
    from harness.results.measures import extra_measures, known_measures

    known_page(out)
    require(images=images is not None)
    folders = tuple(plugins or ())
    extra = extra_measures(folders)
    if out is None and os.path.isdir(folder):
        _refuse_another_place(folder)
    if by not in (measures := known_measures(extra)):
        raise HarnessError(f"there is no measure {by!r}; {did_you_mean(by, measures)}")
    results = Results(folder, session)
    for other in results.sessions.values():
        if session is None and other.session != results.session:
            command = f"harness report {shlex.quote(str(folder))} --session {other.session}"
            echo(f"{folder} also has results of the field {other.about.field.name}: {command}", file=sys.stderr)
    with progress("examining single runs", "runs") as watch:
        page = tournament_page(results, by, extra=extra, plugins=folders, watch=watch, look=look or (), unit=unit)
    write(page, out or folder / PAGE, images)


def _refuse_another_place(folder: Path) -> None:
    """Refuse to write through a link: a folder from another person must not choose where the page is written."""
    from harness.disk.own_folder import OwnFolder

    with closing(OwnFolder(folder)) as own:
        own.size(PAGE)


def known_page(path: Path | None) -> None:
    """Refuse a page name with the suffix of another format."""
    if path is not None and path.suffix.lower() not in ("", ".html", ".htm"):
        raise HarnessError(
            f"{path}: is written as a page: expected a name that ends in .html, which a browser can print"
        )


def ready_for(path: Path | None) -> None:
    """Refuse a --report that could not be written after the run."""
    known_page(path)
    if path is not None:
        from harness.report.rendering import require

        require()


def write_run(schedule: "Schedule", path: Path | None, plugins: tuple[str, ...]) -> None:
    """Write the page of the run that this command line made, if --report is given."""
    if path is None:
        return
    from harness.report.page import run_page
    from harness.results.measures import extra_measures

    command = shlex.join(["harness", *sys.argv[1:]])
    write(run_page(schedule, extra=extra_measures(plugins), command=command, plugins=plugins), path)


def write(page: "Page", path: Path, images: Path | None = None) -> None:
    """Write a page and its images, and print where they are."""
    page.write(path)
    echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser", file=sys.stderr)
    if images is not None:
        from harness.report.images import draw

        for name in draw(page, images):
            echo(name, file=sys.stderr)
