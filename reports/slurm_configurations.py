"""The configurations and workloads of the study of slurm.md: small machines, and jobs that fill them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

_COLUMNS = ["JobIDRaw", "Submit", "Start", "End", "TimelimitRaw", "ReqCPUS", "ReqMem", "Partition", "Constraints"]
_COLUMNS += ["ReqTRES", "State", "NodeList", "SubmitLine"]
_SPAN = 5400  # in which jobs are submitted [s]
_MORNING = pd.Timestamp("2024-03-04T08:00:00")

_WHOLE = """SelectType=select/linear
NodeName=n[1-16] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_FOURS = """NodeName=n[1-8] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_MEMORY = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-8] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000
NodeName=m[1-2] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=32000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=1000
PartitionName=urgent Nodes=n[5-8],m[1-2] PriorityTier=10 MaxTime=INFINITE State=UP DefMemPerCPU=1000
"""
_THINGS = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
Licenses=solver:3
NodeName=n[1-6] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=fast,ib
NodeName=n[7-10] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=ib,big
NodeName=g[1-2] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=fast Gres=gpu:2 Weight=5
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_GPUS = "NodeName=g[1-2] Name=gpu File=/dev/nvidia[0-1]\n"
_CORES = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n" + _FOURS
_BY_SIZE = "PriorityType=priority/multifactor\nPriorityWeightJobSize=100000\nPriorityCalcPeriod=1\n"
_SHALLOW = "SchedulerParameters=bf_window=60,default_queue_depth=5,bf_max_job_test=20\n"


@dataclass(frozen=True)
class Case:
    """A configuration with the workload that it is executed with."""

    name: str
    text: str  # of slurm.conf
    workload: str
    gres: str = ""

    def configuration(self, folder: Path) -> Path:
        """Write the configuration to a folder of its own, and return where it is."""
        own = folder / self.name
        own.mkdir(parents=True, exist_ok=True)
        if self.gres:
            (own / "gres.conf").write_text(self.gres, encoding="utf-8")
        text = f"ClusterName={self.name}\nSlurmctldHost=head\nSchedulerType=sched/backfill\n{self.text}"
        (own / "slurm.conf").write_text(text, encoding="utf-8")
        return own / "slurm.conf"


CASES = {
    case.name: case
    for case in (
        Case("whole", _WHOLE, "narrow"),
        Case("memory", _MEMORY, "memory"),
        Case("things", _THINGS + _SHALLOW, "things", _GPUS),
        Case("whole-interval-300", _WHOLE + "SchedulerParameters=bf_interval=300\n", "narrow"),
        Case("whole-builtin", _WHOLE + "SchedulerType=sched/builtin\n", "narrow"),
        Case("whole-large-first", _WHOLE + _BY_SIZE, "narrow"),
        Case("whole-small-first", _WHOLE + _BY_SIZE + "PriorityFavorSmall=YES\n", "narrow"),
        Case("nodes-of-four", "SelectType=select/linear\n" + _FOURS, "fours"),
        Case("cores-of-four", _CORES, "fours"),
        Case("memory-interval-300", _MEMORY + "SchedulerParameters=bf_interval=300\n", "memory"),
        Case("whole-depth-2", _WHOLE + "SchedulerParameters=bf_max_job_test=2\n", "narrow"),
        Case("whole-window-10", _WHOLE + "SchedulerParameters=bf_window=10\n", "narrow"),
        Case("things-deep", _THINGS, "things", _GPUS),
    )
}

#: Changes of a configuration: from, to.
PAIRS = (
    ("whole", "whole-interval-300"),
    ("whole", "whole-builtin"),
    ("whole", "whole-depth-2"),
    ("whole", "whole-window-10"),
    ("whole-large-first", "whole-small-first"),
    ("nodes-of-four", "cores-of-four"),
    ("memory", "memory-interval-300"),
    ("things", "things-deep"),
)


def workload(name: str, place: Path, *, jobs: int = 150, seed: int = 1) -> Path:
    """Write a workload as a dump of sacct, and return where it is."""
    dice = np.random.default_rng(seed)
    cpus, widths = {
        "narrow": (16, [1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12]), "memory": (80, [1, 1, 2, 2, 4, 4, 8, 8, 16, 24]),
        "things": (48, [1, 1, 2, 2, 4, 4, 8]), "fours": (32, [1, 1, 2, 2, 4, 4, 6, 8, 12]),
    }[name]  # fmt: skip
    load = {"narrow": 0.9, "memory": 0.85, "things": 0.65, "fours": 0.75}[name]
    run = dice.lognormal(0.0, 1.0, jobs).clip(0.05, 8.0)
    width = dice.choice(widths, jobs)
    run = np.maximum(10, run * load * cpus * _SPAN / (run * width).sum()).astype(int)
    submit = np.cumsum(dice.exponential(1.0, jobs))
    submit = ((submit - submit[0]) * _SPAN / (submit[-1] - submit[0])).astype(int)
    limit = np.ceil(run * dice.choice([1.05, 1.5, 2, 4, 8], jobs) / 60).astype(int) + 1
    lines = ["|".join(_COLUMNS)]
    for k in range(jobs):
        cells = {"JobIDRaw": k + 1, "TimelimitRaw": limit[k], "ReqCPUS": width[k], "Partition": "batch"}
        begin = _MORNING + pd.Timedelta(seconds=int(submit[k]))
        cells |= {"Submit": begin.isoformat(), "Start": begin.isoformat(), "State": "COMPLETED"}
        cells["End"] = (begin + pd.Timedelta(seconds=int(run[k]))).isoformat()
        words, tres = _asked(name, dice, cells)
        cells["ReqTRES"] = ",".join([f"cpu={cells['ReqCPUS']}", "node=1", *tres])
        cells["SubmitLine"] = " ".join(["sbatch", *words, "job.sh"])
        lines.append("|".join(str(cells.get(column, "")) for column in _COLUMNS))
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def _asked(name: str, dice: np.random.Generator, cells: dict[str, object]) -> tuple[list[str], list[str]]:
    """Return what else a job asks for, as words of sbatch and as TRES. Changes its cells."""
    words: list[str] = []
    tres: list[str] = []
    if name == "memory":
        cells["Partition"] = str(dice.choice(["batch", "batch", "batch", "urgent"]))
        if each := int(dice.choice([0, 500, 1000, 2000, 4000])):
            words.append(f"--mem-per-cpu={each}")
            cells["ReqMem"] = f"{each * int(str(cells['ReqCPUS']))}M"
    elif name == "things":
        kind = dice.random()
        if kind < 0.25:
            cells["Constraints"] = str(dice.choice(["fast", "ib", "fast&ib", "big"]))
            words.append(f"--constraint={cells['Constraints']}")
        elif kind < 0.4:
            number = int(dice.integers(1, 3))
            cells["ReqCPUS"] = min(int(str(cells["ReqCPUS"])), 4)
            words.append(f"--gres=gpu:{number}")
            tres.append(f"gres/gpu={number}")
        if dice.random() < 0.2:
            number = int(dice.integers(1, 3))
            words.append(f"--licenses=solver:{number}")
            tres.append(f"license/solver={number}")
        if dice.random() < 0.1:
            words.append("--exclusive")
    return words, tres
