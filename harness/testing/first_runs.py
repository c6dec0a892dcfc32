"""Check first runs of a policy, in a process that has loaded its plugin and has run nothing.

Only there is module-level state that a policy changes (a list, a dict, an array, a class attribute, a default argument)
as in its file. Later it may have reached a value at which runs no longer differ.
"""

import os
import pickle
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import IO, Any

from harness.errors import HarnessError
from harness.policy.registry import plugins as load_plugins
from harness.testing.cases import Case
from harness.testing.subject import CheckError, RunStopped, Subject

#: The longest time for a case [s].
_PATIENCE = 50

Body = Callable[[Subject, Case], None]


def check_first_runs(body: Body, subject: Subject, case: Case) -> bool:
    """Call `body` with a subject and a case as the first action of a process; raise the `CheckError` that it raises.

    Returns False, without a call, if the policy is in no plugin file: another process cannot load it.
    """
    process = _process(subject.plugins, subject.policy.hook, subject.policy.name) if subject.plugins else None
    if process is None or not process.ready:
        return False
    kind, text = process.verdict(body, replace(subject, policy=None), case)  # type: ignore[arg-type]
    if kind:
        raise {"wrong": CheckError, "stopped": RunStopped}[kind](text)
    return True


class _Process:
    """A process that has loaded plugins, and forks for each case."""

    def __init__(self, paths: tuple[str, ...], hook: str, name: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._child = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        weakref.finalize(self, _end, self._child)
        self.ready: bool = self._answer((paths, hook, name))

    def verdict(self, body: Body, subject: Subject, case: Case) -> tuple[str, str]:
        """Return the kind of the error that `body` finds, and its message; empty texts if it finds none."""
        found: tuple[str, str] = self._answer((body, subject, case))
        return found

    def _answer(self, question: object) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        pickle.dump(question, self._child.stdin)
        self._child.stdin.flush()
        return pickle.load(self._child.stdout)


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


@lru_cache(maxsize=1)
def _process(paths: tuple[str, ...], hook: str, name: str) -> _Process:
    return _Process(paths, hook, name)


# ---------------------------------------------------------------- in the other process


def main() -> None:
    """Load the plugins of the first request, and answer each further request in a fork of the process."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # output of a plugin must not mix with the answers
        paths, hook, name = pickle.load(sys.stdin.buffer)
        try:
            policy = replace(load_plugins(*paths).policies[hook][name], compiled=False)
        except (HarnessError, KeyError):
            policy = None
        _write(policy is not None, answers)
        while policy is not None:
            try:
                body, subject, case = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            _write(_verdict_of_a_fork(body, replace(subject, policy=policy), case), answers)


def _verdict_of_a_fork(body: Body, subject: Subject, case: Case) -> tuple[str, str]:
    """Return the result of `body` in a fork of this process, in which nothing has run before."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(_PATIENCE)
            with os.fdopen(writing, "wb") as pipe:
                _write(_verdict(body, subject, case), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    found: tuple[str, str] = pickle.loads(answer) if answer else ("stopped", "it ended the process")
    return found


def _verdict(body: Body, subject: Subject, case: Case) -> tuple[str, str]:
    try:
        body(subject, case)
    except CheckError as wrong:
        return "stopped" if isinstance(wrong, RunStopped) else "wrong", str(wrong)
    return "", ""


def _write(answer: object, pipe: IO[bytes]) -> None:
    pickle.dump(answer, pipe)
    pipe.flush()
