"""What a command prints: answers, warnings and compilation times, with control characters removed."""

import os
import re
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import Any

from harness.present.words import without_controls

#: Kernels that take seconds to compile → their names in messages.
SLOW_TO_COMPILE = {"run": "the event loop", "start_jobs": "the start policy"}


def echo(*texts: object, **how: Any) -> None:
    """Print `texts` without control characters, which could come from logs, fields or plugins.

    If the reader has closed the output, as `| head` does, the command goes on and returns its exit status.
    """
    try:
        print(*(_folded(without_controls(str(text))) for text in texts), **how, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (how.get("file") or sys.stdout).fileno())


def _folded(text: str) -> str:
    """Break long sentences at the width of the terminal. Tables and commands (indented lines) stay as they are."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        fill(
            line, width, break_long_words=False, break_on_hyphens=False, subsequent_indent="    " * line.startswith(" ")
        )
        if len(line) > width and not re.search(r"\S {2,}\S|^ {3}", line)
        else line
        for line in text.split("\n")
    )


@contextmanager
def tolerate_closed_output() -> Iterator[None]:
    """End with status 0 if the reader of the help, or of a library's output, has closed it."""
    try:
        yield
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except SystemExit as end:  # raised by typer in the same case
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(0)
        raise


@contextmanager
def notices_on_stderr() -> Iterator[None]:
    """Print warnings, and compilations that take seconds, on stderr while the block runs."""
    with show_compilation(), show_warnings():
        yield


@contextmanager
def show_compilation() -> Iterator[None]:
    """Print the event loop or policy that is being compiled, and the time so far, if that takes seconds."""
    from harness.numba_support import code_cache
    from harness.numba_support.code_cache import kept_for_later, on_compiling, on_progress

    def announce(name: str) -> None:
        if name in SLOW_TO_COMPILE:
            later = "kept for later runs" if kept_for_later() else "and not kept: its folder cannot be written"
            print(f"compiling {SLOW_TO_COMPILE[name]} for this machine, {later} …", file=sys.stderr, flush=True)

    def report(words: str, seconds: float, over: bool) -> None:
        if seconds < code_cache.SLOW:
            return
        what = SLOW_TO_COMPILE.get(words, words)
        echo(f"compiled {what} in {seconds:.0f} s" if over else f"compiling {what}: {seconds:.0f} s", file=sys.stderr)

    on_compiling.append(announce)
    on_progress.append(report)
    try:
        yield
    finally:
        on_compiling.remove(announce)
        on_progress.remove(report)


@contextmanager
def show_warnings() -> Iterator[None]:
    """Print each warning on one line of stderr. A policy that exceeds its power cap is reported once."""
    runs: Counter[str] = Counter()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if policy := getattr(message, "policy", ""):
            runs[policy] += 1
        if runs[policy] <= 1:
            echo("harness:", *str(message).split(), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
    for policy, times in runs.items():
        if times > 1:
            echo(f"harness: the policy {policy!r} does not keep its cap in {times} runs", file=sys.stderr)
