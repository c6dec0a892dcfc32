"""What plugins print goes to stderr: stdout is for the answer, which may be JSON."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0  # how many blocks are being run, in all threads
_stdout = sys.stdout


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send what is printed in this block to stderr; blocks may run in several threads at once."""
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
