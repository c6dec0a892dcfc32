"""The charts of a page as files for papers, drawn by the browser through kaleido, in light colours."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.report.page import Page
from harness.report.rendering import drawing
from harness.results.charts.figures import Figure, printed

#: The width of a chart [px].
_WIDTH = 900
_FORMATS = ("svg", "png")


def draw(page: Page, folder: Path) -> list[Path]:
    """Write the charts that a page shows when it opens into `folder`, as SVG and PNG."""
    import kaleido

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(f"{folder}: cannot be made: {error.strerror or error}") from error
    written = list(_diagrams(page, folder))
    jobs: list[dict[str, Any]] = [
        {
            "fig": printed(figure),
            "path": folder / f"{number:02}-{_file_name(figure)}.{kind}",
            "opts": {"format": kind, "width": _WIDTH, "height": figure.height, "scale": 2 if kind == "png" else 1},
        }
        for number, figure in enumerate(page.shown_first, 1)
        for kind in _FORMATS
    ]
    try:
        kaleido.write_fig_from_object_sync(jobs)
    except Exception as error:  # any error of the browser
        if type(error).__name__ != "ChromeNotFoundError":
            raise
        raise HarnessError(
            f"images need Chrome or Chromium, which was not found ({error}): install one, or name it in BROWSER_PATH"
        ) from error
    return [*written, *(Path(job["path"]) for job in jobs)]


def _diagrams(page: Page, folder: Path) -> Iterator[Path]:
    """Write the diagram of the ranking, which is already SVG."""
    for section in page.sections:
        if section.data.get("diagram"):
            path = folder / "ratios.svg"
            path.write_text(drawing(section.data["diagram"]), encoding="utf-8")
            yield path


def _file_name(figure: Figure) -> str:
    """Return a file name of at most 60 characters that every system accepts."""
    return re.sub(r"[^\w.-]+", "-", figure.name).strip("-")[:60]
