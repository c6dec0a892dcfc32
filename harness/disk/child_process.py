"""Runs a module of the harness in a process of its own, which answers line by line through a pipe."""

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType

#: Time between checks of the process and of `stop` [s].
_LOOK = 0.2

#: A longer line is not an answer [bytes].
_LONGEST = 1 << 24


class ChildProcess:
    """A Python process that runs `module` with `arguments`, and the number of the pipe for its answers as the last one.

    With `requests`, its standard input is a pipe for requests.
    """

    def __init__(self, module: str, *arguments: str, requests: bool = False) -> None:
        self._pipe, writing = os.pipe()
        command = [sys.executable, "-m", module, *arguments, str(writing)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        # Output of plugins is not part of the answer.
        given = subprocess.PIPE if requests else subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, pass_fds=(writing,), stdin=given, stdout=2, env=environment, bufsize=0
        )
        os.close(writing)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pipe, selectors.EVENT_READ)
        self._lines: list[bytes] = []
        self._rest = b""

    def __enter__(self) -> "ChildProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def send(self, request: bytes) -> None:
        """Write a request to the process. If it has ended, do nothing."""
        assert self._process.stdin is not None
        try:
            view = memoryview(request)
            while view:
                view = view[self._process.stdin.write(view) :]
        except BrokenPipeError:
            pass

    def line(self, timeout: float, stop: Callable[[], bool] = lambda: False) -> bytes | None:
        """Return the next line; None if the process has ended or `stop` returns true.

        Raise TimeoutError if no line has arrived after `timeout` seconds.
        """
        if timeout <= 0:
            raise TimeoutError
        until = time.monotonic() + timeout
        while not self._lines:
            if stop():
                return None
            ended = self._process.poll() is not None
            if self._selector.select(0 if ended else max(0.0, min(_LOOK, until - time.monotonic()))):
                part = os.read(self._pipe, 65536)
                *self._lines, self._rest = (self._rest + part).split(b"\n")
                if not part or len(self._rest) > _LONGEST:
                    return None
            elif ended:  # a child of the process may keep the pipe open
                return None
            elif time.monotonic() >= until:
                raise TimeoutError
        return self._lines.pop(0)

    def ending(self, timeout: float) -> str:
        """Return how the process ended, as in "ended the process by signal 9"."""
        try:
            status = self._process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return f"ended the process by signal {-status}" if status < 0 else f"ended the process ({status})"

    def kill(self) -> None:
        """End the process, and close the pipe."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._pipe >= 0:
            self._selector.close()
            os.close(self._pipe)
            self._pipe = -1
