"""How a command ends: by Ctrl-C even where compiled code goes on for ever, and never without a word by a plugin."""

import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from os import _exit
from pathlib import Path
from typing import NoReturn

from harness.errors import EndedError, HarnessError

#: What a command that is interrupted exits with.
INTERRUPTED = 130

#: How long after Ctrl-C a command may take to end by itself [s]; a second Ctrl-C does not wait for it.
GRACE = 5.0

#: Who ends a command: typer does when it has completed a word for a shell.
_OURS = ("click", "harness", "rich", "typer")  # rich ends it when nobody reads on


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """Watch for Ctrl-C while the block runs, from a thread that needs nobody's cooperation."""
    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread to hear
        yield
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(heard,), daemon=True, name="Ctrl-C").start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        told.close()


def _watch(heard: socket.socket) -> None:
    """End the process after a second Ctrl-C, or some time after the first."""
    with heard:
        while number := heard.recv(1):
            if number[0] == signal.SIGINT:
                break
        else:
            return  # the block is over
        heard.settimeout(GRACE)
        try:
            if not heard.recv(1):
                return
        except TimeoutError:
            pass
        print("harness: interrupted, where compiled code did not listen", file=sys.stderr, flush=True)
        _exit(INTERRUPTED)


@contextmanager
def ended_by_nobody_else() -> Iterator[None]:
    """Refuse that a plugin ends the command in the block, by `sys.exit` or `os._exit`: it might be with success."""
    here = os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != here:  # another process, begun by forking
            _exit(status)
        raise EndedError(status)

    os._exit = refused
    try:
        yield
    except SystemExit as end:
        frames = [frame for frame, _ in traceback.walk_tb(end.__traceback__) if frame.f_code is not refused.__code__]
        *_, frame = frames
        if type(end) is SystemExit and frame.f_globals["__name__"].partition(".")[0] in _OURS:
            raise
        called = f"sys.exit({end.code!r})" if type(end) is SystemExit else str(end)
        where = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
        raise HarnessError(f"{where}: called {called}, where the command was expected to go on") from None
    finally:
        os._exit = _exit
