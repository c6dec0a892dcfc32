"""How a command ends: by Ctrl-C even inside compiled code, and never by a plugin that exits."""

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

from harness.errors import HarnessError, UnexpectedExitError

#: The exit status of an interrupted command.
INTERRUPTED = 130

#: A command has this time after Ctrl-C to end by itself [s]. A second Ctrl-C ends it at once.
GRACE = 5.0

#: Libraries that may end the process: typer does after it completed a word for a shell, rich when its output is closed.
_OURS = ("click", "harness", "rich", "typer")


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Watch for Ctrl-C while the block runs, from a thread that works even while compiled code runs."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(receiver,), daemon=True, name="Ctrl-C").start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        sender.close()


def _watch(receiver: socket.socket) -> None:
    """End the process after a second Ctrl-C, or `GRACE` seconds after the first."""
    with receiver:
        while number := receiver.recv(1):
            if number[0] == signal.SIGINT:
                break
        else:
            return  # the block is over
        receiver.settimeout(GRACE)
        try:
            if not receiver.recv(1):
                return
        except TimeoutError:
            pass
        print("harness: interrupted while compiled code was running", file=sys.stderr, flush=True)
        _exit(INTERRUPTED)


@contextmanager
def forbid_exit_by_plugins() -> Iterator[None]:
    """Refuse `sys.exit` and `os._exit` by plugins in the block: the exit status could be that of a success."""
    here = os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != here:  # a child process made by fork
            _exit(status)
        raise UnexpectedExitError(status)

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
