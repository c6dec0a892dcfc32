"""The workers of an existing Dask cluster.

On one machine: `dask scheduler` in one terminal, `dask worker tcp://127.0.0.1:8786 --nworkers 2 --nthreads 1` in
another, `harness tournament classic --dask tcp://127.0.0.1:8786` in a third. On a supercomputer under Slurm, with
dask-jobqueue, from a login node:

    from dask_jobqueue import SLURMCluster
    import harness

    cluster = SLURMCluster(cores=32, processes=1, memory="64GB", walltime="02:00:00")
    cluster.scale(jobs=4)
    harness.tournament("classic", dask=cluster.scheduler_address)

Every worker has the harness of the same version installed, and sees the plugin files under the same paths; it does
not need the logs. Workloads are sent to each worker once. A run whose worker dies is done again by another, a few
times; the results are written by the process that leads the tournament alone.
"""

import time
import warnings
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.experiment.execution import WORKERS_LOST, Finished, Task, execute
from harness.workload.log import Workload

if TYPE_CHECKING:
    from harness.experiment.run_matrix import Run

#: The longest wait for an answer of the scheduler [s].
PATIENCE = "10s"

#: The number of workers may change; the interval between counts [s].
RECOUNT = 1.0


class DaskWorkers:
    """Runs tasks on the workers of a Dask scheduler, which hold the workloads."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, Security
            from distributed.comm import resolve_address
        except ImportError:
            raise HarnessError("--dask needs Dask: pip install 'sched-harness[dask]'") from None
        try:
            resolve_address(address)  # a client of an invalid address would hang when it is closed
            if address.startswith("tls:") and not Security().get_connection_args("client")["ssl_context"]:
                raise ValueError("for TLS, Dask's own settings must name certificates: distributed.comm.tls")
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except Exception as error:  # Dask raises many types of exceptions for invalid addresses
            why = " ".join(f"{error}".split())
            raise HarnessError(
                f"no Dask scheduler answers at {address!r}: expected an address like tcp://127.0.0.1:8786 ({why})"
            ) from error
        self.executor = self.client.get_executor(pure=False)
        self.threads, self.counted = 0, -RECOUNT
        self.there: dict[str, Any] = {}  # workload's digest → Dask's handle of it

    def begin(self, runs: "Iterable[Run]") -> None:
        """Send the workloads of these runs, once a first worker is connected: a batch system may start workers late."""
        self.client.wait_for_workers(1)
        workloads = {run.workload.digest: run.workload for run in runs}
        with warnings.catch_warnings():
            # Scattered data is lost with the last worker that has it. The arguments of a task stay at the scheduler,
            # which sends them again. Dask warns that they are large.
            warnings.filterwarnings("ignore", message="Sending large graph")
            self.there = {
                digest: self.client.submit(unchanged, workload, key=f"workload-{digest}")
                for digest, workload in workloads.items()
            }

    def room(self) -> int:
        """Return the number of tasks to keep submitted: two for each thread of the connected workers."""
        if time.monotonic() > self.counted + RECOUNT:
            try:
                threads: dict[str, int] = self.client.nthreads()
            except OSError as error:
                raise HarnessError(WORKERS_LOST) from error
            self.threads, self.counted = sum(threads.values()), time.monotonic()
        return max(2, 2 * self.threads)

    def submit(self, task: Task, run: "Run") -> "Future[Finished]":
        """Submit a task to any worker."""
        future: Future[Finished] = self.executor.submit(execute, task, self.there[run.workload.digest])
        return future

    def close(self) -> None:
        """Disconnect, and leave the cluster as it was."""
        self.executor.shutdown(wait=False)
        self.client.close()


def unchanged(workload: Workload) -> Workload:
    """Return the workload: as a task, this brings it to a worker."""
    return workload
