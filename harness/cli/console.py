"""What a command says: what is compiled, warnings, and its answers, none of which can drive the terminal."""

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

from harness.present.words import harmless

#: What takes seconds to compile, as kept kernels are named.
SLOW_TO_COMPILE = {"run": "the event loop", "start_jobs": "the start policy"}


def say(*texts: object, **how: Any) -> None:
    """Print as `print` does, but nothing that drives the terminal: names come from logs, fields and plugins.

    If the reader has gone, as `| head` does, the command goes on: its exit status is still an answer.
    """
    try:
        print(*(_folded(harmless(str(text))) for text in texts), **how, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (how.get("file") or sys.stdout).fileno())


def _folded(text: str) -> str:
    """Break sentences between words where a terminal would break them within; tables and commands stay as they are.

    Commands are what is set in further than by two.
    """
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
def reader_may_go() -> Iterator[None]:
    """End well, with status 0, if the reader of the help, or of what a library printed, has gone."""
    try:
        yield
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except SystemExit as end:  # typer's, in the same case
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(0)
        raise


@contextmanager
def compiling_said() -> Iterator[None]:
    """Print what is compiled if that takes seconds: the event loop or a policy, and how long it has taken so far."""
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
        say(f"compiled {what} in {seconds:.0f} s" if over else f"compiling {what}: {seconds:.0f} s", file=sys.stderr)

    on_compiling.append(announce)
    on_progress.append(report)
    try:
        yield
    finally:
        on_compiling.remove(announce)
        on_progress.remove(report)


@contextmanager
def warnings_said() -> Iterator[None]:
    """Print each warning in one line, on stderr; of a policy that does not keep its cap only the first."""
    runs: Counter[str] = Counter()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if policy := getattr(message, "policy", ""):
            runs[policy] += 1
        if runs[policy] <= 1:
            say("harness:", *str(message).split(), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
    for policy, times in runs.items():
        if times > 1:
            say(f"harness: the policy {policy!r} does not keep its cap in {times} runs", file=sys.stderr)
