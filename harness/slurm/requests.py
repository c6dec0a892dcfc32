"""What jobs ask of Slurm: from a workload, and from the dump of sacct that it was read from, which says more."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from harness.disk.stored import stored_bytes
from harness.errors import HarnessError, did_you_mean
from harness.slurm.asked_in_columns import AskedInColumns
from harness.slurm.cluster import Cluster, Partition
from harness.workload.delimited import read_delimited
from harness.workload.log import NO_LIMIT, NO_LIMIT_STEP, WITHOUT_LIMIT, Log, Step, Workload
from harness.workload.sacct import is_sacct
from harness.workload.sacct_cells import repair_with
from harness.workload.sacct_requests import countables_of, gres_of

#: The columns of sacct that say more of a request than a workload holds.
_COLUMNS = [
    "JobIDRaw",
    "JobID",
    "Partition",
    "Constraints",
    "ReqTRES",
    "ReqMem",
    "ReqNodes",
    "SubmitLine",
    "QOS",
    "Account",
    "User",
    "Priority",
    "Eligible",
    "Submit",
]

#: What a dump of sacct says of each job, by its number and the column.
Said = Mapping[int, dict[str, str]]

_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)([cn]?)\??")
#: The longest time that Slurm plans with [s].
_YEAR = 365 * 86400.0

_KILOBYTES = {"K": 1.0, "": 1024.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "P": 1024.0**4}


@dataclass
class Request:
    """One job, as the controller knows it."""

    job: int  # number in the workload
    submit: float  # [s]
    work: float  # how long it takes [s]
    limit: float  # how long it may take [s], whole minutes
    cpus: int
    partition: Partition
    nodes: int = 1  # at least
    most_nodes: int = 0  # 0: any number
    per_node: int = 0  # CPUs on each node, 0: any number
    memory: float = 0.0  # [KB] …
    memory_per: str = "c"  # … of each CPU, or (n) node
    features: tuple[frozenset[str], ...] = ()  # a node has to have all of one of these sets
    gres: dict[str, int] = field(default_factory=dict)  # of each node
    licences: dict[str, int] = field(default_factory=dict)
    exclusive: bool = False
    qos: str = ""
    account: str = ""
    user: str = ""
    eligible: float = 0.0  # from when on it may start [s]
    cancel: float = math.inf  # when it gives up waiting [s]
    priority: float = 0.0  # the highest is first

    @property
    def all_memory(self) -> bool:
        """Whether it takes all the memory of its nodes."""
        return self.memory <= 0


def requests_of(workload: Workload, log: Log | Said | None, cluster: Cluster) -> list[Request]:
    """Return what every job of the workload asks for, in its order; refuse what the cluster does not know.

    A dump of sacct says more of the jobs of the `log` than a workload holds, but nothing of those of a variation.
    """
    said = said_of(log) if isinstance(log, Log) else log or {}
    if any(step.name == "resampled" for step in workload.preparation):
        said = {}
    columns = ("job", "submit", "work", "estimate", "procs", "memory", "user", "partition", "cancel")
    rows = zip(*(workload.jobs[name].tolist() for name in columns), strict=True)
    columns_too = AskedInColumns(workload, cluster)
    without_limit = workload.jobs[NO_LIMIT].tolist() if NO_LIMIT in workload.jobs else [-1] * len(workload)
    found = []
    for place, (job, submit, work, estimate, procs, memory, user, number, cancel) in enumerate(rows):
        more = said.get(int(job), {})
        name = more.get("Partition", "") or ("" if said else columns_too.partition(number))
        partition = cluster.partitions.get(name or cluster.usual)
        if partition is None:
            raise HarnessError(
                f"{workload.name}, job {job}: there is no partition {name!r}; {did_you_mean(name, cluster.partitions)}"
            )
        asked = _usual_limit(without_limit[place], partition) if without_limit[place] > 0 else estimate
        limit = 60.0 * max(1, math.ceil(min(asked, partition.longest) / 60.0))
        request = Request(int(job), submit, work, limit, int(procs), partition, user=str(more.get("User", user)))
        request.memory, request.memory_per = _memory(more.get("ReqMem", ""), memory, request, cluster)
        request.eligible, request.cancel = submit + _held(more), cancel
        if said:
            _ask_more(request, more)
        else:
            columns_too.ask(request, place)
        found.append(request)
    return found


def _usual_limit(kind: int, partition: Partition) -> float:
    """Return the limit of a job that has none of its own: without any limit Slurm plans with a year [s]."""
    default = partition.default_time if kind == WITHOUT_LIMIT["partition_limit"] else math.inf
    return min(default, partition.longest, _YEAR)


def limits_noted(workload: Workload) -> Workload:
    """Return a workload whose preparation states that jobs without a limit have that of their partition."""
    if NO_LIMIT not in workload.jobs:
        return workload
    steps = [step for step in workload.preparation if step.name != NO_LIMIT_STEP]
    count = int((workload.jobs[NO_LIMIT] > 0).sum())
    told = (
        "UNLIMITED: MaxTime of the partition; Partition_Limit: its DefaultTime or MaxTime; a year if that is infinite"
    )
    return replace(workload, preparation=(*steps, Step(NO_LIMIT_STEP, count, told)) if count else tuple(steps))


def said_of(log: Log) -> Said:
    """Return what a dump of sacct says of each job besides what a log holds; nothing if it is none."""
    path = Path(log.source)
    if not path.is_file() or not is_sacct(str(path)):
        return {}
    content = stored_bytes(path, "what sacct --parsable2 prints")
    table, _ = read_delimited(content, path, "|", lenient=True, only=_COLUMNS, repair=repair_with)
    name = next((one for one in ("JobIDRaw", "JobID") if one in table), None)
    if name is None:
        return {}
    table = table[table[name].str.fullmatch(r"\d+")]
    return {int(row[name]): {str(key): str(cell) for key, cell in row.items()} for row in table.to_dict("records")}


def _held(said: dict[str, str]) -> float:
    """Return how long after its submission a job could be considered: what it depended on is not modelled [s]."""
    try:
        since, until = (datetime.fromisoformat(said.get(name, "")) for name in ("Submit", "Eligible"))
    except ValueError:
        return 0.0
    return max(0.0, (until - since).total_seconds())


def _memory(text: str, logged: float, request: Request, cluster: Cluster) -> tuple[float, str]:
    """Return the memory that a job asks for, and of what; what it does not say its partition does."""
    if not cluster.counts_memory:
        return 1e-9, "c"  # none that matters
    match = _MEMORY.fullmatch(text.strip())
    if match is not None and float(match[1]) > 0:
        amount = float(match[1]) * _KILOBYTES[match[2]]
        if match[3] == "c":
            return amount, "c"
        return (amount, "n") if match[3] == "n" else (amount, "job")
    if match is None and logged > 0:
        return logged, "c"
    if request.partition.per_cpu > 0:
        return request.partition.per_cpu, "c"
    return request.partition.per_node, "n"


def _ask_more(request: Request, said: dict[str, str]) -> None:
    """Add what only a dump of sacct says. Changes the request."""
    line = said.get("SubmitLine", "")
    tres = [(kind, name, count) for kind, name, count in countables_of(said.get("ReqTRES", "")) if count > 0]
    counted = next((f"{count:.0f}" for kind, _, count in tres if kind == "node"), "")
    nodes = _option(line, "N", "nodes") or said.get("ReqNodes", "") or counted
    if match := re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", nodes):
        request.nodes = max(1, int(match[1]))
        if _option(line, "N", "nodes"):
            request.most_nodes = int(match[2] or match[1])
    if each := re.fullmatch(r"[1-9]\d{0,8}", _option(line, "", "ntasks-per-node")):
        request.per_node = int(each[0])
        request.nodes = max(request.nodes, math.ceil(request.cpus / request.per_node))
    request.exclusive = bool(re.search(r"(?:^|\s)--exclusive(?:\s|$)", line))
    constraint = said.get("Constraints", "").strip() or _option(line, "C", "constraint")
    request.features = _features(constraint)
    for kind, name, count in tres:
        if kind == "gres" and ":" not in name:
            request.gres[name] = math.ceil(count / request.nodes)
        elif kind == "license":
            request.licences[name] = math.ceil(count)
    if not request.licences:
        request.licences = _counted(_option(line, "L", "licenses"))
    if not request.gres:
        request.gres = _counted(_option(line, "", "gres").replace("gres/", ""))
    if request.memory_per == "job":  # sacct adds up what was asked for each node, or each CPU
        per_cpu = _option(line, "", "mem-per-cpu")
        request.memory /= request.cpus if per_cpu or not _option(line, "", "mem") else request.nodes
        request.memory_per = "c" if per_cpu or not _option(line, "", "mem") else "n"
    request.qos, request.account = said.get("QOS", ""), said.get("Account", "")


def _option(line: str, short: str, long: str) -> str:
    """Return what a line of sbatch says of an option."""
    patterns = [rf"--{long}[= ]\s*(\S+)"] + ([rf"-{short}\s*(\S+)"] if short else [])
    for pattern in patterns:
        if match := re.search(rf"(?:^|\s){pattern}", line):
            return match[1].strip("\"'")
    return ""


def _features(constraint: str) -> tuple[frozenset[str], ...]:
    """Return the sets of features that will do: `a&b` or `a|b`, with `[…]` of several nodes taken as a choice."""
    text = re.sub(r"[\[\]()\"']", "", constraint).replace(",", "&")
    if not text or text.lower() in ("none", "n/a"):
        return ()
    return tuple(frozenset(re.sub(r"\*\d+", "", part) for part in one.split("&") if part) for one in text.split("|"))


def _counted(text: str) -> dict[str, int]:
    """Return how many of each `gpu:2,bandwidth` asks for; nothing of what is malformed, which reading the log notes."""
    return {name: math.ceil(count) for name, count in gres_of(text).items() if count > 0}
