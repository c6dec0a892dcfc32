"""A small Slurm with its database of accounts, all of it private, as executions start it, by the machine's clock."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.slurm import accounting as database
from harness.slurm import cluster_process, slurm_execution
from harness.slurm.accounts_given import PROGRAMS as OF_ACCOUNTS
from harness.slurm.accounts_given import read_accounts
from harness.slurm.adaptation import Place, adapted, node_names, prepare_folder
from harness.slurm.configuration import read_slurm
from harness.slurm.confinement import rights
from harness.slurm.private_dir import free_ports, private_folder

PROGRAMS = (*slurm_execution.PROGRAMS, *OF_ACCOUNTS)
PACKAGES = f"{slurm_execution.PACKAGES} {database.PACKAGES}"

CONFIGURATION = """ClusterName=small
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
AccountingStorageTRES=gres/gpu,license/solver
PriorityType=priority/multifactor
PriorityWeightQOS=100
SchedulerParameters=bf_interval=3
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
Licenses=solver:2
GresTypes=gpu
NodeName=n1 CPUs=4 RealMemory=1000 Feature=ib Gres=gpu:2
NodeName=n2 CPUs=4 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=100 State=UP
"""
DEVICES = "NodeName=n1 Name=gpu File=/dev/gpu[0-1]\n"


@dataclass
class Accounting:
    """The daemons, and the commands that ask them."""

    folder: Path
    daemons: cluster_process.Daemons

    def call(self, name: str, *words: str) -> str:
        """Return what a command prints; it must do what it is told."""
        return self.daemons.tried(name, *words)

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        self.daemons.wait(ready, what)


@contextmanager
def accounting(given: Path) -> Iterator[Accounting]:
    """Let a Slurm with an empty database of accounts run for as long as the block; its files are in `given`, too."""
    for name, text in (("slurm.conf", CONFIGURATION), ("gres.conf", DEVICES), ("none.dump", "")):
        (given / name).write_text(text)
    configuration = read_slurm(given / "slurm.conf")
    nodes = node_names(configuration)
    with private_folder() as folder, pytest.MonkeyPatch.context() as patch:
        controller, ports = free_ports(3)
        place = Place(folder, controller, ports[:2], ports[2], rights(as_root=os.getuid() == 0))
        (folder / "slurm.conf").write_text(adapted(configuration, place, nodes)[0])
        prepare_folder(configuration, place)
        accounts = read_accounts(given / "none.dump", configuration).prepared(place, "small", {})
        programs = slurm_execution.programs(accounts=True) | {"sacct": "sacct"}
        plan = {
            "folder": str(folder),
            "speed": 1,
            "kept": [],
            "programs": programs,
            "nodes": ["n1", "n2"],
            "accounts": accounts,
            **place.rights.planned,
        }
        place.rights.hand_over(folder)
        patch.setattr(cluster_process, "watched", lambda: None)
        patch.setenv("SLURM_CONF", f"{folder}/slurm.conf")
        patch.setenv("MYSQL_UNIX_PORT", "")
        patch.setenv("TZ", "UTC")
        daemons = cluster_process.Daemons(plan)
        try:
            daemons.start_all()
            yield Accounting(folder, daemons)
        finally:
            daemons.stop_all()
