"""The keys of Slurm's files that an execution writes to its own: known to be harmless, each with the form of its value.

No key starts a program, loads a plugin from elsewhere, reads or writes a file, or opens a connection.
"""

import re
from collections.abc import Iterable

from harness.errors import HarnessError, shortened
from harness.slurm.configuration import Pairs
from harness.slurm.slurm_names import FEATURE, NAME, items_of

_HOSTS = "a list of nodes"

#: The forms of values: a regular expression and its description.
_FORMS = {
    "word": (r"[A-Za-z0-9_]{1,40}", "a number or a word"),
    "size": (r"[0-9]{1,7}", "a number of at most seven figures"),
    "time": (r"[0-9:-]{1,20}|[A-Za-z]{1,12}", "a time"),
    "name": (NAME, "a name"),
    "names": (rf"{NAME}(?:,{NAME})*", "names with commas between them"),
    "features": (rf"{FEATURE}(?:,{FEATURE})*", "names with commas between them"),
    "words": (
        r"(?!.*(?:[=,:@(]/|\.\.))[A-Za-z0-9_.+-][A-Za-z0-9_.:=@/+,()*-]*",
        "words with commas between them, without blanks",
    ),
}

#: Plugins of Slurm itself, by the key that chooses one.
_PLUGINS = {
    "SchedulerType": "sched/backfill sched/builtin",
    "SelectType": "select/linear select/cons_res select/cons_tres",
    "PriorityType": "priority/basic priority/multifactor",
    "PreemptType": "preempt/none preempt/partition_prio preempt/qos",
    "TopologyPlugin": "topology/none topology/default topology/tree topology/3d_torus topology/hypercube",
    "MCSPlugin": "mcs/none mcs/account mcs/user",
}


def _table(**keys: str) -> dict[str, tuple[str, str]]:
    """Return key in small letters → (key, form), of keys by form."""
    return {key.lower(): (key, form) for form, listed in keys.items() for key in listed.split()}


SETTINGS = {key.lower(): (key, f"plugin {key}") for key in _PLUGINS} | _table(
    word="BatchStartTimeout AllowSpecResourcesUsage CompleteWait DefMemPerNode DefMemPerCPU DefMemPerGPU DefCpuPerGPU "
    "DisableRootJobs EioTimeout EnforcePartLimits EpilogMsgTime FairShareDampeningFactor FirstJobId GetEnvTimeout "
    "GroupUpdateForce GroupUpdateTime InactiveLimit JobFileAppend JobRequeue KeepAliveTime KillOnBadExit KillWait "
    "MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge OverTimeLimit "
    "PriorityFavorSmall PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare "
    "PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PropagatePrioProcess ResvOverRun "
    "SchedulerTimeSlice SlurmctldDebug SlurmctldTimeout SlurmdDebug SlurmdTimeout TCPTimeout TrackWCKey TreeWidth "
    "UnkillableStepTimeout VSizeFactor WaitTime FastSchedule",
    size="MaxArraySize MaxDBDMsgs MaxJobCount",
    time="PreemptExemptTime PriorityCalcPeriod PriorityDecayHalfLife PriorityMaxAge",
    names="GresTypes",
    words="DebugFlags DependencyParameters JobDefaults Licenses MCSParameters PreemptMode PriorityFlags "
    "PriorityWeightTRES PropagateResourceLimits PropagateResourceLimitsExcept ReconfigFlags SchedulerParameters "
    "SelectTypeParameters TopologyParam",
)

#: Settings that are written where there is a database of accounts.
OF_ACCOUNTS = _table(words="AccountingStorageEnforce AccountingStorageTRES")

NODES = {"nodename": ("NodeName", _HOSTS)} | _table(
    word="CPUs Procs Boards Sockets SocketsPerBoard CoresPerSocket ThreadsPerCore RealMemory TmpDisk Weight "
    "MemSpecLimit CoreSpecCount",
    features="Feature Features",
    words="Gres CpuSpecList",
)

PARTITIONS = {"nodes": ("Nodes", _HOSTS)} | _table(
    name="PartitionName QOS Alternate",
    word="Default State PriorityTier PriorityJobFactor Priority DefMemPerCPU DefMemPerNode DefMemPerGPU DefCpuPerGPU "
    "MaxMemPerCPU MaxMemPerNode MaxNodes MinNodes MaxCPUsPerNode ExclusiveUser RootOnly ReqResv Hidden LLN "
    "DisableRootJobs OverTimeLimit CpuBind",
    time="MaxTime DefaultTime GraceTime",
    names="AllowAccounts DenyAccounts AllowQos DenyQos AllowGroups",
    words="OverSubscribe Shared PreemptMode SelectTypeParameters TRESBillingWeights JobDefaults",
)

NODE_SETS = {"nodes": ("Nodes", _HOSTS)} | _table(name="NodeSet", features="Feature")

SWITCHES = {"nodes": ("Nodes", _HOSTS), "switches": ("Switches", _HOSTS)} | _table(name="SwitchName", word="LinkSpeed")

#: Of `gres.conf`; the files of devices are replaced.
THINGS = {"nodename": ("NodeName", _HOSTS)} | _table(name="Name Type", word="Count", words="Cores CPUs Links Flags")

_LIMITS = (
    "GrpJobs GrpJobsAccrue GrpTRES GrpTRESMins GrpTRESRunMins GrpWall GrpSubmitJobs GrpCPUs GrpNodes GrpMem GrpCPUMins "
    "GrpCPURunMins MaxJobs MaxJobsAccrue MaxSubmitJobs MaxTRES MaxTRESPerJob MaxTRESPerNode MaxTRESMins "
    "MaxTRESMinsPerJob MaxWall MaxWallDurationPerJob MaxCPUs MaxCPUsPerJob MaxNodes MaxNodesPerJob MinPrioThreshold "
    "Priority"
)

#: Of a line that `sacctmgr dump` writes.
ASSOCIATIONS = _table(word="Fairshare AdminLevel", name="DefaultAccount DefaultQOS Partition", words=f"QOS {_LIMITS}")

#: Of a QOS, as `sacctmgr modify qos` takes them.
QOS = _table(
    words=f"{_LIMITS} GraceTime Preempt PreemptExemptTime PreemptMode Flags UsageThreshold UsageFactor LimitFactor "
    "MaxTRESPerUser MaxTRESPerAccount MaxJobsPerUser MaxJobsPerAccount MaxSubmitJobsPerUser MaxSubmitJobsPerAccount "
    "MaxJobsAccruePerUser MaxJobsAccruePerAccount MinTRESPerJob",
)


def sifted(pairs: Iterable[tuple[str, str]], allowed: dict[str, tuple[str, str]], where: object) -> tuple[Pairs, Pairs]:
    """Return the pairs to write, with keys as they are known here, and those that are left out.

    Of a key given twice the last counts. A known key with a value of another form is refused.
    """
    kept: dict[str, tuple[str, str]] = {}
    dropped = []
    for key, value in pairs:
        if key.lower() not in allowed:
            dropped.append((key, value))
            continue
        known, form = allowed[key.lower()]
        kept[key.lower()] = known, checked_value(known, value, form, where)
    return tuple(kept.values()), tuple(dropped)


def checked_value(key: str, value: str, form: str, where: object) -> str:
    """Return a value; refuse one that is not of the form that its key takes."""
    if form == _HOSTS:
        if value.upper() not in ("ALL", "DEFAULT"):
            items_of(value, where)
        return value
    if form.startswith("plugin "):
        choices = _PLUGINS[key].split()
        right, expected = value.lower() in choices, f"one of {', '.join(choices)}"
    else:
        pattern, expected = _FORMS[form]
        right = re.fullmatch(pattern, value) is not None
    if not right:
        raise HarnessError(f"{where}: {key}={shortened(value)}: expected {expected}")
    return value
