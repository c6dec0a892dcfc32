"""Threads of this process: the event loop lets others work while it runs."""

import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from harness.run import choose_policies
from harness.tournament.execute import Finished, Task, execute, warm

if TYPE_CHECKING:
    from harness.tournament.plan import Run


class Threads:
    """Tasks go to the next thread that is free."""

    def __init__(self, workers: int, plugins: tuple[str, ...]) -> None:
        self.workers = workers
        self.plugins = plugins
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="tournament")
        self.stopping = threading.Event()

    def begin(self, runs: "Iterable[Run]") -> None:
        """Compile what these runs need in this thread, where Ctrl-C is heard."""
        for (scheduler, _), machine in {(run.scheduler, run.platform.name): run.platform for run in runs}.items():
            warm(choose_policies(scheduler, machine, self.plugins))

    def room(self) -> int:
        """One for each thread, and one for each to go on with."""
        return 2 * self.workers

    def submit(self, task: Task, run: "Run") -> "Future[Finished]":
        """Have a task done."""
        return self.threads.submit(execute, task, run.workload, self.stopping.is_set)

    def close(self) -> None:
        """Stop at the next look, a fifth of a second at most."""
        self.stopping.set()
        self.threads.shutdown(cancel_futures=True)
