"""A Dask cluster of this machine: the same results, even if a worker dies in the middle."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared.small_fields import FIELD, SLEEPY, SLOW_FIELD, Write

from harness.errors import HarnessError
from harness.experiment.pool import Progress
from harness.experiment.runner import tournament

pytest.importorskip("distributed")
pytestmark = [
    # Dask's own, at interpreter versions it has not caught up with: not ours to mend.
    pytest.mark.filterwarnings("default:::distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


class Cluster:
    """A scheduler and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.log = (folder / "dask.log").open("wb")
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")

    def dask(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(self.file)]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def join(self) -> None:
        """One more worker, of one thread."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self.dask("worker", *options))

    def end(self) -> None:
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()
        self.log.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers on loopback."""
    cluster = Cluster(tmp_path)
    try:
        for _ in range(2):
            cluster.join()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
def address(cluster: Cluster) -> str:
    """Where the scheduler listens, once both workers are there."""
    from distributed import Client

    with Client(scheduler_file=str(cluster.file), timeout="60s", set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        return str(client.scheduler.address)


def test_dask_workers_give_the_same_results(write: Write, tmp_path: Path, address: str) -> None:
    here = tournament(write(), tmp_path / "here", workers=2)
    there = tournament(write(), tmp_path / "there", dask=address, keep_schedules=True)
    assert here.frame().drop(columns="seconds").equals(there.frame().drop(columns="seconds"))
    assert len(there.schedule(there.frame()["identity"][0])) == 200


def test_a_client_of_a_scheduler_runs_code_as_the_user_of_its_workers(address: str) -> None:
    from distributed import Client

    with Client(address, timeout="60s", set_as_default=False) as client:
        assert client.submit(os.getuid, pure=False).result() == os.getuid()


@pytest.mark.slow
@pytest.mark.parametrize("dying", [1, 2], ids=["one of two", "both, and another comes"])
def test_workers_killed_in_mid_run_lose_nothing(
    write: Write, tmp_path: Path, cluster: Cluster, address: str, dying: int
) -> None:
    plugin = tmp_path / "sleepy_plugin.py"
    plugin.write_text(SLEEPY)
    field = write(SLOW_FIELD.format(seeds=list(range(8)), pause=0.3))

    def strike() -> None:
        for worker in cluster.workers[:dying]:
            worker.kill()
        if dying == 2:
            cluster.join()

    def watch(progress: Progress) -> None:
        if progress.done == 4:  # 0.3 s a run: both workers are in the middle of one very soon
            threading.Timer(0.15, strike).start()

    there = tournament(field, tmp_path / "there", dask=address, plugins=[plugin], watch=watch).frame()
    assert [worker.wait(timeout=10) for worker in cluster.workers[:dying]] == [-signal.SIGKILL] * dying
    here = tournament(field, tmp_path / "here", plugins=[plugin], workers=4).frame()
    assert (there["status"] == "done").all(), there["error"].dropna().tolist()
    assert here.drop(columns="seconds").equals(there.drop(columns="seconds"))


@pytest.mark.slow
def test_an_address_where_nobody_answers(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.experiment.on_dask.PATIENCE", "1s")
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "tls://127.0.0.1:8786", "inproc://x"):
        with pytest.raises(HarnessError, match="no Dask scheduler answers at"):
            tournament(write(FIELD), tmp_path / "out", dask=address)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:port", "http://127.0.0.1:8786"])
def test_what_is_no_address_is_refused_before_a_client_hangs_over_it(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr("distributed.Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(HarnessError, match="no Dask scheduler answers at"):
        tournament(write(FIELD), tmp_path / "out", dask=address)
