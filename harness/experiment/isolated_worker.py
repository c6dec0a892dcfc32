"""The separate process that loads plugins, and does runs with them or describes one plugin.

It reads requests from its standard input, and writes one line of JSON for each step of its work.
"""

import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from json import dumps, loads
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from harness.errors import HarnessError
from harness.experiment.execution import Task, error_line, execute, replay
from harness.experiment.run_identity import digest_of_measure, digests_of_policy, plugin_digest
from harness.experiment.stand_ins import describe
from harness.numba_support.code_cache import SLOW, on_progress
from harness.policy import registry
from harness.policy.kinds import KINDS
from harness.results.measures import Measure, extra_measures
from harness.workload.log import Workload

Say = Callable[[dict[str, Any]], None]

#: The parts of an outcome that are records; each is a file of its own.
RECORDS = ("jobs", "nodes", "clock", "sums", "notes", "loop")


def _describe(origin: str, paths: tuple[str, ...], say: Say) -> None:
    """Write a description of the policies and measures of the plugin from `origin`."""
    with registry.loading_by(lambda source: source.load() if source.origin == origin else None):
        found = registry.plugins(*paths)
        ((_, plugin),) = found.others
        policies = [one for hook, kind in KINDS.items() for one, by in found.offered(hook, kind) if by == origin]
        measures = [one for one, by in found.offered("score_schedule", Measure) if by == origin]
        say(
            {
                "described": {
                    "digest": plugin_digest(plugin),
                    "policies": [describe(one, digests_of_policy(one)) for one in policies],
                    "measures": [describe(one, digest_of_measure(one)) for one in measures],
                    "readers": [hook for hook in ("read_workload", "read_platform") if hasattr(plugin, hook)],
                }
            }
        )


def _serve(origins: list[str], say: Say) -> None:
    requests: SimpleQueue[tuple[Task, Workload, str]] = SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    with registry.loading_by(lambda source: source.load() if source.origin in origins else None):
        while True:
            task, workload, folder = requests.get()
            if origins:
                _run_with_plugins(task, workload, Path(folder), say)
            else:
                finished = execute(task, workload, ready=lambda: say({"ready": True}))
                Path(folder, "finished.pickle").write_bytes(pickle.dumps(finished))
                say({"done": {}})


def _read(requests: "SimpleQueue[tuple[Task, Workload, str]]") -> None:
    """Read requests until the input ends: the process that sent them has then ended, and so does this one."""
    with suppress(EOFError):
        while True:
            requests.put(pickle.load(sys.stdin.buffer))
    os._exit(1)


def _run_with_plugins(task: Task, workload: Workload, folder: Path, say: Say) -> None:
    """Do a run, and write the final records of the engine: the other process computes the results."""
    try:
        extra = extra_measures(task.plugins)
        schedule = replay(task, workload, ready=lambda: say({"ready": True}))
        outcome = schedule.outcome
        for part in RECORDS:
            np.save(folder / f"{part}.npy", np.array(getattr(outcome, part)).reshape(-1), allow_pickle=False)
        np.save(folder / "place.npy", outcome.place, allow_pickle=False)
        values = schedule.measures(extra) if extra else {}
        own = {one.name: values[one.name] for one in extra}
        metered = schedule.meter.sum if schedule.meter is not None else 0.0
        say({"done": {"seconds": outcome.seconds, "measures": own, "metered": metered}})
    except (Exception, SystemExit) as mishap:  # a policy may raise anything
        say({"error": error_line(mishap)})


class _Compiling:
    """Reports the beginning and the end of a compilation, and its duration if it is long."""

    def __init__(self, say: Say) -> None:
        self.say, self.depth = say, 0  # nesting: a compilation may start another

    def __call__(self, words: str, seconds: float, over: bool) -> None:
        self.depth += -1 if over else seconds < SLOW
        self.say({"compiling": [words, seconds], "over": self.depth <= 0})


def main() -> None:
    """Do what the arguments require, and write to the pipe with the number given last."""
    what, origins, paths, number = sys.argv[1:]
    with os.fdopen(int(number), "w", encoding="utf-8") as pipe:

        def say(thing: dict[str, Any]) -> None:
            print(dumps(thing), file=pipe, flush=True)

        on_progress.append(_Compiling(say))
        try:
            if what == "describe":
                _describe(origins, tuple(loads(paths)), say)
            else:
                _serve(loads(origins), say)
        except HarnessError as error:
            say({"refused": str(error)})


if __name__ == "__main__":
    main()
