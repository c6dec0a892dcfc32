"""Ctrl-C ends the command, even where a policy's compiled code goes on for ever and nothing else can."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: What a command that is interrupted exits with.
INTERRUPTED = 130

#: How long after Ctrl-C a command may take to end by itself [s]; a second Ctrl-C does not wait for it.
GRACE = 5.0


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
        os._exit(INTERRUPTED)
