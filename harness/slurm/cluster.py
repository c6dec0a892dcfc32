"""What a Slurm configuration says of the machine and of how it is scheduled; what of it is not modelled is listed.

Nodes are in Slurm's order, by name, and sets of nodes are bits of a whole number: bit k is node k.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from harness.errors import HarnessError, did_you_mean, shortened
from harness.slurm.configuration import SlurmConfiguration, lines_of
from harness.slurm.parameters import Parameters, Weights, parameters_of, weights_of
from harness.slurm.quantities import INFINITE, counts, kilobytes, seconds, whole
from harness.slurm.slurm_names import FEATURE, MOST_NODES, NodeLists, checked_name, expanded

#: Flags of priorities that are heeded, or change nothing here.
_FLAGS = {"", "SMALL_RELATIVE_TO_TIME", "FAIR_TREE", "CALCULATE_RUNNING"}


@dataclass(frozen=True)
class Node:
    """One node."""

    name: str
    cpus: int
    threads: int  # CPUs of one core: cores are given out whole
    memory: float  # [KB]
    features: frozenset[str]
    gres: dict[str, int]  # countable things on it
    weight: int  # lighter ones are taken first


@dataclass(frozen=True)
class Partition:
    """One partition: which nodes, what it allows, and what comes first."""

    name: str
    nodes: int  # set
    tier: int
    factor: int  # PriorityJobFactor
    longest: float  # MaxTime [s]
    default_time: float  # DefaultTime [s]; infinite if there is none
    per_cpu: float  # DefMemPerCPU [KB], 0 if there is none
    per_node: float  # DefMemPerNode [KB], 0 if there is none
    most_nodes: int  # MaxNodes, 0 for any number
    whole: bool  # OverSubscribe=EXCLUSIVE
    qos: str = ""  # whose limits all its jobs have


@dataclass(frozen=True)
class Cluster:
    """A machine under Slurm."""

    name: str
    nodes: tuple[Node, ...]
    partitions: dict[str, Partition]
    usual: str  # the default partition
    licences: dict[str, int]
    whole: bool  # select/linear: nodes are given out whole
    counts_memory: bool
    least_loaded: bool  # CR_LLN
    parameters: Parameters
    weights: Weights
    accounts: bool  # there is a database: ages, shares and QOS are in force
    enforced: bool = False  # limits of QOS and associations are
    switches: tuple[int, ...] = ()  # topology/tree: the nodes of each leaf; else neighbours belong together
    unmodelled: tuple[tuple[str, str], ...] = field(default=())  # key=value, what that may do

    @property
    def everywhere(self) -> int:
        """The set of all nodes."""
        return (1 << len(self.nodes)) - 1

    @property
    def cpus(self) -> int:
        """Count all CPUs."""
        return sum(node.cpus for node in self.nodes)


def cluster_of(given: SlurmConfiguration) -> Cluster:
    """Return what a configuration describes; refuse what cannot be a machine."""
    nodes = tuple(sorted(_nodes(given), key=lambda node: _natural(node.name)))
    for node, other in pairwise(nodes):
        if node.name == other.name:
            raise HarnessError(f"{given.path}: the node {node.name} is described twice; expected it once")
    partitions = {one.name: one for one in _partitions(given, nodes)}
    if not partitions:
        raise HarnessError(f"{given.path}: expected a PartitionName= of some nodes")
    lines = given.lines("PartitionName")
    marked = [line["partitionname"] for line in lines if line.get("default", "").lower() == "yes"]
    kind = {word.lower() for word in given.setting("SelectTypeParameters").split(",")}
    select = given.setting("SelectType", "select/cons_tres").lower()
    return Cluster(
        name=given.setting("ClusterName") or given.path.stem,
        nodes=nodes,
        partitions=partitions,
        usual=marked[-1] if marked else next(iter(partitions)),
        licences=counts(given.setting("Licenses"), given.path, ":="),
        whole=select == "select/linear",
        counts_memory=any("memory" in word for word in kind),
        least_loaded="cr_lln" in kind,
        parameters=parameters_of(given),
        weights=weights_of(given),
        accounts=given.setting("AccountingStorageType").lower() == "accounting_storage/slurmdbd",
        enforced=not {"limits", "safe", "all"}.isdisjoint(
            word.strip() for word in given.setting("AccountingStorageEnforce").lower().split(",")
        ),
        switches=tuple(_switches(given, nodes)),
        unmodelled=tuple(_unmodelled(given)),
    )


def _nodes(given: SlurmConfiguration) -> list[Node]:
    """Return the nodes as the file lists them; a line `NodeName=DEFAULT` says what those after it do not."""
    found: list[Node] = []
    usual: dict[str, str] = {}
    for line in given.lines("NodeName"):
        if line["nodename"].lower() == "default":
            usual |= line
            continue
        said = usual | line
        sockets = whole(said, "sockets", given.path, whole(said, "boards", given.path, 1))
        threads = whole(said, "threadspercore", given.path, 1)
        cores = sockets * whole(said, "corespersocket", given.path, 1) * threads
        cpus = whole(said, "cpus", given.path, whole(said, "procs", given.path, cores))
        features = re.split(r"[,\s]+", said.get("features", said.get("feature", "")))
        has = frozenset(checked_name(one, "a feature", given.path, FEATURE) for one in features if one)
        spare = kilobytes(said.get("memspeclimit", "0"), given.path)
        memory = kilobytes(said.get("realmemory", "1"), given.path) - spare
        gres = counts(said.get("gres", ""), given.path)
        weight = whole(said, "weight", given.path, 1)
        whole_cores = threads if cpus == cores else 1
        names = expanded(said["nodename"], given.path, MOST_NODES - len(found))
        found += [Node(name, cpus, whole_cores, memory, has, gres, weight) for name in names]
    return found


def _partitions(given: SlurmConfiguration, nodes: tuple[Node, ...]) -> list[Partition]:
    """Return the partitions as the file lists them; a line `PartitionName=DEFAULT` says what those after it do not."""
    places = {node.name: place for place, node in enumerate(nodes)}
    found: list[Partition] = []
    usual: dict[str, str] = {}
    lists = NodeLists(given.path)
    for line in given.lines("PartitionName"):
        if line["partitionname"].lower() == "default":
            usual |= line
            continue
        said = usual | line
        listed = said.get("nodes", "")
        partition = checked_name(said["partitionname"], "a partition", given.path)
        names = list(places) if listed.upper() == "ALL" else lists.expanded(listed) if listed else []
        if unknown := next((name for name in names if name not in places), None):
            raise HarnessError(
                f"{given.path}: the partition {partition} has the node {shortened(unknown)}, which no NodeName= "
                f"describes; {did_you_mean(unknown, places)}"
            )
        sharing = said.get("oversubscribe", said.get("shared", "no")).lower()
        found.append(
            Partition(
                partition, set_of(places[name] for name in names),
                whole(said, "prioritytier", given.path, whole(said, "priority", given.path, 1)),
                whole(said, "priorityjobfactor", given.path, whole(said, "priority", given.path, 1)),
                seconds(said.get("maxtime", ""), given.path), seconds(said.get("defaulttime", ""), given.path),
                _memory(said, "defmempercpu", given), _memory(said, "defmempernode", given),
                0 if said.get("maxnodes", "").lower() in INFINITE else whole(said, "maxnodes", given.path, 0),
                sharing == "exclusive", said.get("qos", ""),
            )
        )  # fmt: skip
    return [one for one in found if one.nodes]


def _switches(given: SlurmConfiguration, nodes: tuple[Node, ...]) -> list[int]:
    """Return the nodes of each switch that `topology.conf` beside the file names, if they are wired as a tree."""
    path = given.path.parent / "topology.conf"
    if given.setting("TopologyPlugin").lower() != "topology/tree" or not path.exists():
        return []
    places = {node.name: place for place, node in enumerate(nodes)}
    lists = NodeLists(path)
    found = []
    for _, pairs in lines_of(path, "a topology.conf"):
        said = {key.lower(): value for key, value in pairs}
        if pairs[0][0].lower() == "switchname" and "nodes" in said:
            found.append(set_of(places[name] for name in lists.expanded(said["nodes"]) if name in places))
    return found


def set_of(places: Iterable[int]) -> int:
    """Return the set of the nodes at these places."""
    bits = bytearray(MOST_NODES // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


def _unmodelled(given: SlurmConfiguration) -> list[tuple[str, str]]:
    """List what may change decisions and is not modelled, and what it may do."""
    plugins = {
        "SchedulerType": ("sched/backfill sched/builtin", "who starts"),
        "SelectType": ("select/linear select/cons_res select/cons_tres", "where jobs are placed"),
        "PriorityType": ("priority/basic priority/multifactor", "who comes first"),
        "TopologyPlugin": ("topology/none topology/default topology/tree", "where jobs are placed"),
        "PreemptType": ("preempt/none", "who is interrupted"),
    }
    found = []
    for key, (known, what) in plugins.items():
        value = given.setting(key)
        if value and value.lower() not in known.split():
            found.append((f"{key}={value}", what))
    if any(
        "force" in line.get("oversubscribe", line.get("shared", "")).lower() for line in given.lines("PartitionName")
    ):
        found.append(("OverSubscribe=FORCE", "how many jobs share a processor"))
    found += [(f"the types of Gres={kind} ({types})", "where jobs fit") for kind, types in _types(given)]
    weights = {key: given.setting(key, "0") for key in ("PriorityWeightTRES", "PriorityWeightAssoc")}
    found += [(f"{key}={value}", "who comes first") for key, value in weights.items() if value != "0"]
    flags = {word.strip().upper() for word in given.setting("PriorityFlags").split(",")} - _FLAGS
    found += [(f"PriorityFlags={word}", "who comes first") for word in sorted(flags)]
    if given.setting("PriorityUsageResetPeriod", "none").lower() != "none":
        found.append((f"PriorityUsageResetPeriod={given.setting('PriorityUsageResetPeriod')}", "fair shares"))
    found += [(f"SchedulerParameters={word}", "who starts, and when") for word in parameters_of(given).unknown]
    return found


def _types(given: SlurmConfiguration) -> Iterator[tuple[str, str]]:
    """Yield each kind of Gres of which nodes have several types, and these: the replay counts them as one."""
    found: dict[str, set[str]] = {}
    for line in given.lines("NodeName"):
        for item in re.sub(r"\(.*?\)", "", line.get("gres", "")).split(","):
            kind, *rest = item.strip().split(":")
            named = [part for part in rest if not part[:1].isdigit() and part != "no_consume"]
            found.setdefault(kind, set()).update(named[:1] or (["no type"] if kind else []))
    return ((kind, ", ".join(sorted(types))) for kind, types in found.items() if len(types) > 1)


def _memory(said: dict[str, str], key: str, given: SlurmConfiguration) -> float:
    """Return the memory that a partition gives by default, else what the whole configuration says [KB]."""
    value = said.get(key, given.setting(key))
    return 0.0 if value.lower() in INFINITE else kilobytes(value, given.path)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by: numbers in them count as numbers."""
    return [(1, int(part), "") if part.isdigit() else (2, 0, part) for part in re.findall(r"\d+|\D+", name)]
