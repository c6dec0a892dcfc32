"""How far a long piece of work is: one line on a terminal, with a bar, the rate and the time left."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.present.words import readable

#: Takes how much is done, of how much if that is known, and the words beside the bar if they have changed.
Advance = Callable[..., None]


@contextmanager
def progress(words: str, unit: str) -> Iterator[Advance]:
    """Show on a terminal how far the work is that `words` name, in `unit` and in `unit` a second; be silent elsewhere.

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
