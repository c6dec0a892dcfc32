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
from harness.experiment.execution import GONE, Finished, Task, execute
from harness.workload.log import Workload

if TYPE_CHECKING:
    from harness.experiment.run_matrix import Run

#: How long to wait for the scheduler to answer [s].
PATIENCE = "10s"

#: Workers may come and go; how often to count them [s].
RECOUNT = 1.0


class DaskWorkers:
    """Tasks go to a Dask scheduler, with the workloads that lie at its workers."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, Security
            from distributed.comm import resolve_address
        except ImportError:
            raise HarnessError("--dask needs Dask: pip install 'sched-harness[dask]'") from None
        try:
            resolve_address(address)  # a client of what is no address hangs when it is given up, …
            if address.startswith("tls:") and not Security().get_connection_args("client")["ssl_context"]:
                raise ValueError("for TLS, Dask's own settings must name certificates: distributed.comm.tls")
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except Exception as error:  # every kind of nonsense is another kind of error there
            why = " ".join(f"{error}".split())
            raise HarnessError(
                f"no Dask scheduler answers at {address!r}: expected an address like tcp://127.0.0.1:8786 ({why})"
            ) from error
        self.executor = self.client.get_executor(pure=False)
        self.threads, self.counted = 0, -RECOUNT
        self.there: dict[str, Any] = {}  # workload's digest → Dask's handle of it

    def begin(self, runs: "Iterable[Run]") -> None:
        """Hand over the workloads of these runs, once a first worker is there: a batch system may be late."""
        self.client.wait_for_workers(1)
        workloads = {run.workload.digest: run.workload for run in runs}
        with warnings.catch_warnings():
            # Data that is scattered is lost with the last worker that has it. What a task carries stays with the
            # scheduler, which hands it out again; it is large, and Dask says so.
            warnings.filterwarnings("ignore", message="Sending large graph")
            self.there = {
                digest: self.client.submit(as_it_is, workload, key=f"workload-{digest}")
                for digest, workload in workloads.items()
            }

    def room(self) -> int:
        """Return two for each thread of the workers there are now: one to do, and one to go on with."""
        if time.monotonic() > self.counted + RECOUNT:
            try:
                threads: dict[str, int] = self.client.nthreads()
            except OSError as error:
                raise HarnessError(GONE) from error
            self.threads, self.counted = sum(threads.values()), time.monotonic()
        return max(2, 2 * self.threads)

    def submit(self, task: Task, run: "Run") -> "Future[Finished]":
        """Have a task done by some worker."""
        future: Future[Finished] = self.executor.submit(execute, task, self.there[run.workload.digest])
        return future

    def close(self) -> None:
        """Leave the cluster as it was."""
        self.executor.shutdown(wait=False)
        self.client.close()


def as_it_is(workload: Workload) -> Workload:
    """Return the workload: the task that brings it to a worker."""
    return workload
