"""The configurations and workloads of the study of slurm.md: small machines, and jobs that fill them."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

import harness

_COLUMNS = ["JobIDRaw", "Submit", "Start", "End", "TimelimitRaw", "ReqCPUS", "ReqMem", "Partition", "Constraints"]
_COLUMNS += ["ReqTRES", "State", "NodeList", "SubmitLine"]
_WHOSE = ["User", "Account", "QOS"]
_SPAN = 5400  # in which 150 jobs are submitted [s]
_LIKE = 0.1  # how far the load of a slice may be off
_LAST = 1.2  # by when all of a slice has to be over if nobody waits, as a part of the span
_LONG = 60  # half of the jobs of a slice run for so long at least [s]
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
_DATABASE = "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n"
_BY_SHARES = (
    _DATABASE
    + """PriorityWeightAge=2000
PriorityWeightFairshare=10000
PriorityWeightJobSize=1000
PriorityWeightPartition=1000
PriorityMaxAge=1:00:00
PriorityDecayHalfLife=0:30:00
PriorityCalcPeriod=1
"""
)
_FACTORS = """PartitionName=short Nodes=ALL MaxTime=INFINITE State=UP PriorityJobFactor=10
"""
_BY_QOS = (
    _DATABASE
    + """AccountingStorageEnforce=limits,qos
PriorityWeightAge=1000
PriorityWeightQOS=10000
PriorityMaxAge=1:00:00
PriorityCalcPeriod=1
"""
)
_TREE = """Cluster - 'here':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Fairshare=40
Account - 'biology':Fairshare=20
Account - 'optics':Fairshare=10
Parent - 'physics'
User - 'ann':DefaultAccount='physics':Fairshare=2:QOS='high,normal,wide'
User - 'bob':DefaultAccount='physics':Fairshare=1:QOS='high,normal,wide'
Parent - 'biology'
User - 'cy':DefaultAccount='biology':Fairshare=1:QOS='high,normal,wide'
User - 'di':DefaultAccount='biology':Fairshare=1:QOS='high,normal,wide'
Parent - 'optics'
User - 'ed':DefaultAccount='optics':Fairshare=1:QOS='high,normal,wide'
"""
_QOS = """Name|Priority|UsageFactor|GrpTRES|MaxTRESPU|MaxJobsPU
normal|10|1.000000|||
high|100|1.000000|||2
wide|0|1.000000|cpu=16|cpu=12|
"""
_MAINTENANCE = "begin,end,nodes\n1500,2700,0-3\n3600,4200,2-7\n"
_SHALLOW = "SchedulerParameters=bf_window=60,default_queue_depth=5,bf_max_job_test=20\n"


@dataclass(frozen=True)
class Case:
    """A configuration with the workload that it is executed with."""

    name: str
    text: str  # of slurm.conf
    workload: str
    gres: str = ""
    accounts: str = ""  # what sacctmgr dumps, and shows of QOS
    reservations: str = ""  # a table, seconds since the first submission

    def configuration(self, folder: Path) -> Path:
        """Write the configuration to a folder of its own, and return where it is."""
        own = folder / self.name
        own.mkdir(parents=True, exist_ok=True)
        if self.gres:
            (own / "gres.conf").write_text(self.gres, encoding="utf-8")
        for name, said in (("accounts.dump", self.accounts), ("reservations.csv", self.reservations)):
            if said:
                (own / name).write_text(said, encoding="utf-8")
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
        Case("shares", _BY_SHARES + _WHOLE + _FACTORS, "shares", accounts=_TREE + _QOS),
        Case("qos", _BY_QOS + _CORES, "qos", accounts=_TREE + _QOS),
        Case("maintenance", _CORES, "fours", reservations=_MAINTENANCE),
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


@dataclass(frozen=True)
class Variation:
    """One of the workloads of a kind: drawn by a seed, or a slice of a real log."""

    name: str
    seed: int
    jobs: int = 150
    load: float | None = None  # None: that of the kind
    slice: bool = False


#: The workloads that every configuration is executed with.
WORKLOADS = (Variation("first", 1), Variation("second", 2), Variation("slice", 3, slice=True))

#: The configuration, and the workloads, by which it is seen what load and the number of jobs do.
GROWING = "whole"
GROWTH = tuple(
    one
    for seed, name in ((1, "first"), (2, "second"))
    for one in (
        Variation(f"{name}-load-50", seed, load=0.5),
        Variation(f"{name}-load-70", seed, load=0.7),
        Variation(f"{name}-75-jobs", seed, 75),
        Variation(f"{name}-300-jobs", seed, 300),
    )
)


@dataclass(frozen=True)
class Kind:
    """Properties of the jobs of a machine, and the log of its slice."""

    cpus: int
    widths: tuple[int, ...]
    load: float
    log: str


KINDS = {
    "narrow": Kind(16, (1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12), 0.9, "KTH-SP2-1996-2.1-cln.swf.gz"),
    "memory": Kind(80, (1, 1, 2, 2, 4, 4, 8, 8, 16, 24), 0.85, "SDSC-SP2-1998-4.2-cln.swf.gz"),
    "things": Kind(48, (1, 1, 2, 2, 4, 4, 8), 0.65, "KTH-SP2-1996-2.1-cln.swf.gz"),
    "fours": Kind(32, (1, 1, 2, 2, 4, 4, 6, 8, 12), 0.75, "SDSC-SP2-1998-4.2-cln.swf.gz"),
    "shares": Kind(16, (1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12), 0.9, "KTH-SP2-1996-2.1-cln.swf.gz"),
    "qos": Kind(32, (1, 1, 2, 2, 4, 4, 6, 8, 12), 0.75, "SDSC-SP2-1998-4.2-cln.swf.gz"),
}


def workload(name: str, place: Path, which: Variation = WORKLOADS[0]) -> Path:
    """Write a workload of a kind as a dump of sacct, and return where it is."""
    kind, dice = KINDS[name], np.random.default_rng(which.seed)
    kind = kind if which.load is None else replace(kind, load=which.load)
    submit, run, width, limit = _slice(kind, which.jobs) if which.slice else _drawn(kind, which.jobs, dice)
    columns = _COLUMNS + _WHOSE * (name in ("shares", "qos"))
    lines = ["|".join(columns)]
    for k in range(which.jobs):
        cells = {"JobIDRaw": k + 1, "TimelimitRaw": limit[k], "ReqCPUS": width[k], "Partition": "batch"}
        begin = _MORNING + pd.Timedelta(seconds=int(submit[k]))
        cells |= {"Submit": begin.isoformat(), "Start": begin.isoformat(), "State": "COMPLETED"}
        cells["End"] = (begin + pd.Timedelta(seconds=int(run[k]))).isoformat()
        words, tres = _asked(name, dice, cells)
        cells["ReqTRES"] = ",".join([f"cpu={cells['ReqCPUS']}", "node=1", *tres])
        cells["SubmitLine"] = " ".join(["sbatch", *words, "job.sh"])
        lines.append("|".join(str(cells.get(column, "")) for column in columns))
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


Whole = npt.NDArray[np.int64]


def _drawn(kind: Kind, jobs: int, dice: np.random.Generator) -> tuple[Whole, Whole, Whole, Whole]:
    """Draw submit times, runtimes [s], widths and requested times [min] of jobs."""
    span = _SPAN * jobs // 150
    run = dice.lognormal(0.0, 1.0, jobs).clip(0.05, 8.0)
    width = dice.choice(kind.widths, jobs)
    run = np.maximum(10, run * kind.load * kind.cpus * span / (run * width).sum()).astype(int)
    submit = np.cumsum(dice.exponential(1.0, jobs))
    submit = ((submit - submit[0]) * span / (submit[-1] - submit[0])).astype(int)
    return submit, run, width, np.ceil(run * dice.choice([1.05, 1.5, 2, 4, 8], jobs) / 60).astype(int) + 1


def _slice(kind: Kind, jobs: int) -> tuple[Whole, Whole, Whole, Whole]:
    """Return the same for consecutive jobs of a log with about the same work.

    Times are divided so that they are submitted in the same span, widths are scaled to the machine, up to the widest
    that is drawn. A slice is unfit if
    it goes on for long after the last was submitted, or if most of its jobs are over in no time.
    """
    log = harness.prepare(harness.read_workload(kind.log)).jobs
    processors, span = int(log["procs"].max()), _SPAN * jobs // 150
    for first in range(0, len(log) - jobs, jobs):
        rows = log.iloc[first : first + jobs]
        submit = rows["submit"].to_numpy() - rows["submit"].iloc[0]
        share = span / max(1.0, submit[-1])
        submit, run, limit = submit * share, rows["work"].to_numpy() * share, rows["estimate"].to_numpy() * share
        run = np.maximum(10, run).astype(int)
        width = np.ceil(rows["procs"].to_numpy() * kind.cpus / processors).clip(1, max(kind.widths)).astype(int)
        busy = float((run * width).sum()) / (span * kind.cpus)
        over = float((submit + run).max()) < _LAST * span
        if over and abs(busy - kind.load) < _LIKE and np.median(run) >= _LONG:
            return submit.astype(int), run, width, np.ceil(np.maximum(limit, run * 1.05) / 60).astype(int) + 1
    raise harness.HarnessError(f"{kind.log} has no slice of {jobs} jobs with a load about {kind.load:g}")


def _asked(name: str, dice: np.random.Generator, cells: dict[str, object]) -> tuple[list[str], list[str]]:
    """Return the other requests of a job, as options of sbatch and as TRES. Changes its cells."""
    words: list[str] = []
    tres: list[str] = []
    if name == "memory":
        cells["Partition"] = str(dice.choice(["batch", "batch", "batch", "urgent"]))
        if each := int(dice.choice([0, 500, 1000, 2000, 4000])):
            words.append(f"--mem-per-cpu={each}")
            cells["ReqMem"] = f"{each * int(str(cells['ReqCPUS']))}M"
    elif name in ("shares", "qos"):
        user = str(dice.choice(["ann", "ann", "bob", "cy", "cy", "di", "ed"]))
        account = {"ann": "physics", "bob": "physics", "ed": "optics"}.get(user, "biology")
        qos = str(dice.choice(["normal", "normal", "high", "wide"])) if name == "qos" else "normal"
        cells |= {"User": user, "Account": account, "QOS": qos}
        if name == "shares":
            cells["Partition"] = str(dice.choice(["batch", "batch", "short"]))
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
