"""Redirects the output of plugins to stderr: stdout is for the answer, which may be JSON."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0  # running blocks, in all threads
_stdout = sys.stdout


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send output of the block to stderr. Blocks may run in several threads at once."""
    global _inside, _stdout
    with _lock:
        if _inside == 0:
            _stdout, sys.stdout = sys.stdout, sys.stderr
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                sys.stdout = _stdout
