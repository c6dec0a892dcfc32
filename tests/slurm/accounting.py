"""A small Slurm with its database of accounts, all of it private: munge, MariaDB, slurmdbd, a controller, two nodes."""

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.slurm import inside, slurm_execution

PROGRAMS = (
    *("mariadb-install-db", "mariadbd", "mariadb", "slurmdbd", "slurmctld", "slurmd", "munged"),
    *("sacct", "sacctmgr", "sbatch", "scancel", "squeue", "sinfo"),
)
PACKAGES = "slurmdbd mariadb-server slurmctld slurmd slurm-client munge"

CONFIGURATION = """ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldLogFile={folder}/controller.log
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmdParameters=config_overrides
ReturnToService=2
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={folder}/munge.sock
AccountingStorageEnforce=limits,qos
AccountingStorageTRES=gres/gpu,license/solver
PriorityType=priority/multifactor
PriorityWeightQOS=100
SchedulerParameters=bf_interval=3
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
Licenses=solver:2
GresTypes=gpu
MailProg={true}
NodeName=n1 CPUs=4 RealMemory=1000 Feature=ib Gres=gpu:2 NodeHostname={host} NodeAddr=127.0.0.1 Port={first}
NodeName=n2 CPUs=4 RealMemory=1000 NodeHostname={host} NodeAddr=127.0.0.1 Port={second}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=100 State=UP
"""

DATABASE = """AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm
LogFile={folder}/dbd.log
PidFile={folder}/dbd.pid
CommunicationParameters=NoInAddrAny
"""


def found(name: str) -> str | None:
    """Return where a program is."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


class Accounting:
    """The daemons, and the commands that ask them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        names = ("controller", "dbd", "database", "first", "second")
        first, others = slurm_execution._free_ports(len(names) - 1)
        self.facts = dict(zip(names, map(str, (first, *others)), strict=True)) | {
            "folder": str(folder), "user": getpass.getuser(), "password": secrets.token_hex(16),
            "host": socket.gethostname().partition(".")[0], "true": found("true") or "/bin/true",
        }  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))}
        self.environment = {**kept, "SLURM_CONF": f"{folder}/slurm.conf", "TZ": "UTC"}

    def start(self, name: str, *words: str) -> None:
        """Start a daemon; what it prints goes to a file."""
        with (self.folder / f"{name}.out").open("wb") as file:
            command = [str(found(name)), *words]
            streams = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file}
            self.running.append(subprocess.Popen(command, env=self.environment, **streams))

    def call(self, name: str, *words: str) -> str:
        """Return what a command prints; it must do what it is told."""
        done = self.tried(name, *words)
        assert done.returncode == 0, (name, words, done.stdout, done.stderr)
        return done.stdout

    def tried(self, name: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Call a command, whatever comes of it."""
        return subprocess.run([str(found(name)), *words], env=self.environment, capture_output=True, text=True)

    def wait(self, ready: Callable[[], bool], what: str, patience: float = 60.0) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + patience
        while not ready():
            assert time.monotonic() < deadline, what
            time.sleep(0.2)

    def start_database(self) -> None:
        """Start munge, MariaDB and slurmdbd."""
        folder, facts = self.folder, self.facts
        (folder / "key").touch(mode=0o600)
        (folder / "key").write_bytes(secrets.token_bytes(1024))
        files = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
        self.start("munged", "-F", "--force", f"--socket={folder}/munge.sock", f"--key-file={folder}/key", *files)
        own = ("--no-defaults", f"--datadir={folder}/data", f"--user={facts['user']}")
        self.call("mariadb-install-db", *own, "--auth-root-authentication-method=normal", "--skip-test-db")
        where = (f"--socket={folder}/database.sock", "--bind-address=127.0.0.1", f"--port={facts['database']}")
        self.start("mariadbd", *own, *where, f"--pid-file={folder}/database.pid", "--innodb-buffer-pool-size=16M")
        client = ("--no-defaults", f"--socket={folder}/database.sock", "-uroot", "-e")
        self.wait(lambda: self.tried("mariadb", *client, "select 1").returncode == 0, "MariaDB does not answer")
        hosts = [f"'slurm'@'{host}'" for host in ("localhost", "127.0.0.1")]
        made = [
            f"create user {who} identified by '{facts['password']}'; grant all on slurm.* to {who};" for who in hosts
        ]
        self.call("mariadb", *client, "create database slurm; " + " ".join(made))
        (folder / "slurmdbd.conf").touch(mode=0o600)
        (folder / "slurmdbd.conf").write_text(DATABASE.format(**facts))
        self.start("slurmdbd", "-D")
        self.wait(lambda: self.tried("sacctmgr", "-n", "show", "cluster").returncode == 0, "slurmdbd does not answer")

    def start_cluster(self) -> None:
        """Start the controller and the nodes."""
        self.start("slurmctld", "-D", "-c")
        self.wait(lambda: self.tried("sinfo").returncode == 0, "slurmctld does not answer")
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node)
        self.wait(lambda: self.call("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * 2, "nodes are not idle")

    def stop(self) -> None:
        """End all that was started, by its number."""
        for signalled in (signal.SIGTERM, signal.SIGKILL):
            for _ in range(50):
                for process in self.running:
                    process.poll()
                left = inside.processes_of(str(self.folder))
                if not left:
                    for process in self.running:  # one may have ended since it was asked
                        process.wait()
                    return
                for number in left:
                    with suppress(ProcessLookupError):
                        os.kill(number, signalled)
                time.sleep(0.1)


@contextmanager
def accounting() -> Iterator[Accounting]:
    """Let a Slurm with accounts run for as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="harness-accounts-"))
    slurm = Accounting(folder)
    try:
        for name in ("state", "spool"):
            (folder / name).mkdir()
        for name in ("gpu0", "gpu1"):
            (folder / name).touch()
        (folder / "gres.conf").write_text(f"NodeName=n1 Name=gpu File={folder}/gpu[0-1]\n")
        (folder / "slurm.conf").write_text(CONFIGURATION.format(**slurm.facts))
        slurm.start_database()
        slurm.call("sacctmgr", "-i", "add", "cluster", "small")
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(folder, ignore_errors=True)
