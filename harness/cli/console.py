"""What goes to stderr while a command works: what is compiled, warnings, a bar with the time left."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: What takes seconds to compile, as kept kernels are named.
SLOW_TO_COMPILE = {"run": "the event loop", "start_jobs": "the start policy"}


@contextmanager
def compiling_said() -> Iterator[None]:
    """Say so when something is compiled that takes seconds: the event loop, or a start policy."""
    from harness.keep import on_compiling

    def say(name: str) -> None:
        if name in SLOW_TO_COMPILE:
            print(
                f"compiling {SLOW_TO_COMPILE[name]} for this machine, kept for later runs …",
                file=sys.stderr,
                flush=True,
            )

    on_compiling.append(say)
    try:
        yield
    finally:
        on_compiling.remove(say)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Warnings are one line each, on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"harness: {message}", file=sys.stderr)
        yield


@contextmanager
def progress_bar(jobs: int) -> Iterator[Any]:
    """A bar with the time left, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=jobs)
        yield lambda done, total: bar.update(task, completed=done, total=total)
