"""Progress on a terminal: one line with a bar, the rate and the remaining time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.present.words import readable

#: Takes the amount done, the total if it is known, and other words for the bar if they changed.
Advance = Callable[..., None]


@contextmanager
def progress(words: str, unit: str) -> Iterator[Advance]:
    """Show the progress of some work on a terminal, in `unit` and `unit` per second. Print nothing elsewhere.

    with progress("simulating", "jobs") as advance:
        simulate(…, progress=advance)
    """
    if not sys.stderr.isatty():
        yield lambda done, total=None, words=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(readable(words), total=None)
        named = words

        def advance(done: float, total: float | None = None, words: str | None = None) -> None:
            nonlocal named
            named = words or named
            bar.update(task, completed=done, total=total)
            of = "" if total is None else f" of {readable(total)}"
            rate = f", {readable(speed, 3)} {unit}/s" if (speed := bar.tasks[0].speed) else ""
            bar.update(task, description=readable(f"{named}: {readable(done)}{of} {unit}{rate}"))

        yield advance
