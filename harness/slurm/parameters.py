"""How Slurm's two loops go about it, and what a job's priority is made of: the numbers of a configuration."""

import math
from dataclasses import dataclass, field, fields

from harness.errors import HarnessError, shortened
from harness.slurm.configuration import SlurmConfiguration
from harness.slurm.quantities import seconds, whole

#: Where a word of `SchedulerParameters` goes, and what one of it is in our units.
_WORDS = {
    "default_queue_depth": ("depth", 1.0),
    "sched_interval": ("main_interval", 1.0),
    "batch_sched_delay": ("delay", 1.0),
    "bf_interval": ("interval", 1.0),
    "bf_window": ("window", 60.0),
    "bf_resolution": ("resolution", 1.0),
    "bf_max_job_test": ("most_tested", 1.0),
    "bf_max_job_user": ("most_of_user", 1.0),
    "bf_max_job_part": ("most_of_partition", 1.0),
    "bf_max_job_start": ("most_started", 1.0),
    "bf_min_age_reserve": ("least_age", 1.0),
    "bf_node_space_size": ("most_slots", 1.0),
    "bf_window_linear": ("linear", 1.0),
}

#: Words that change nothing here: decisions take no time, and nobody else holds locks or sends requests.
_WITHOUT_EFFECT = [
    "bf_continue",
    "bf_max_time",
    "bf_yield_interval",
    "bf_yield_sleep",
    "bf_yield_rpc_cnt",
    "sched_min_interval",
    "max_sched_time",
    "max_rpc_cnt",
    "build_queue_timeout",
    "nohold_on_prolog_fail",
    "bf_busy_nodes",
    "defer",  # nobody is tried alone when submitted, but the main loop looks soon after all the same
    "defer_batch",
]


@dataclass(frozen=True)
class Parameters:
    """When the loops look, and how far."""

    backfilling: bool = True  # sched/backfill
    depth: float = 100  # jobs that the main loop looks at after an event
    delay: float = 3.0  # between two looks of the main loop after events [s]
    main_interval: float = 60.0  # between two looks at the whole queue [s]
    interval: float = 30.0  # from the end of one backfill to the next [s]
    window: float = 86400.0  # how far ahead is planned [s]
    resolution: float = 60.0  # to which planned times are rounded [s]
    most_tested: float = 500
    most_of_user: float = 0  # 0: any number
    most_of_partition: float = 0
    most_started: float = 0
    most_slots: float = 0  # when the map of promises has so many, the backfill ends; 0: as many as it tests jobs
    least_age: float = 0.0  # jobs that wait for less are promised nothing [s]
    linear: float = 0.0  # how much wider each look at ends of jobs is [s]; 0: twice as wide
    pinging: float = 100.0  # between two calls to all nodes [s]; 0: never
    kept: float = 300.0  # from the end of a job until its record is thrown away [s]; 0: never
    unknown: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Weights:
    """What a priority is made of; all zero: first come, first served."""

    age: float = 0.0
    fairshare: float = 0.0
    size: float = 0.0
    partition: float = 0.0
    qos: float = 0.0
    oldest: float = 7 * 86400.0  # PriorityMaxAge [s]
    half_life: float = 7 * 86400.0  # PriorityDecayHalfLife [s]
    period: float = 300.0  # PriorityCalcPeriod [s]
    small_first: bool = False
    relative: bool = False  # sizes are relative to the time limit

    @property
    def any(self) -> bool:
        """Whether anything but the order of submission counts."""
        return any((self.age, self.fairshare, self.size, self.partition, self.qos))


def parameters_of(given: SlurmConfiguration) -> Parameters:
    """Return how the loops are set; words that are not known are kept by name."""
    found: dict[str, float] = {}
    unknown = []
    for word in filter(None, (part.strip() for part in given.setting("SchedulerParameters").split(","))):
        key, _, value = word.partition("=")
        if key in _WORDS:
            name, unit = _WORDS[key]
            try:
                found[name] = float(value) * unit
            except ValueError:
                found[name] = math.nan
            if not 0 <= found[name] < math.inf:
                raise HarnessError(f"{given.path}: {key}={shortened(value)}: expected a number")
        elif key not in _WITHOUT_EFFECT:
            unknown.append(word)
    for name in ("interval", "resolution", "main_interval"):
        if found.get(name, 1.0) < 1.0:
            found[name] = 1.0
    backfilling = given.setting("SchedulerType", "sched/backfill").lower() != "sched/builtin"
    pinging = float(whole({"slurmdtimeout": given.setting("SlurmdTimeout")}, "slurmdtimeout", given.path, 300)) / 3
    kept = float(whole({"minjobage": given.setting("MinJobAge")}, "minjobage", given.path, 300))
    return Parameters(backfilling=backfilling, pinging=pinging, kept=kept, unknown=tuple(unknown), **found)


def weights_of(given: SlurmConfiguration) -> Weights:
    """Return what priorities are made of."""
    if given.setting("PriorityType", "priority/basic").lower() != "priority/multifactor":
        return Weights()
    flags = given.setting("PriorityFlags").upper()
    keys = {
        "age": "Age", "fairshare": "Fairshare", "size": "JobSize", "partition": "Partition", "qos": "QOS",
    }  # fmt: skip
    numbers = {name: _number(given, f"PriorityWeight{key}") for name, key in keys.items()}
    times = {"oldest": "PriorityMaxAge", "half_life": "PriorityDecayHalfLife", "period": "PriorityCalcPeriod"}
    usual = {one.name: one.default for one in fields(Weights)}
    spans = {name: _span(given, key, float(str(usual[name]))) for name, key in times.items()}
    return Weights(
        **numbers, **spans, small_first=given.setting("PriorityFavorSmall").lower() in ("yes", "true", "1"),
        relative="SMALL_RELATIVE_TO_TIME" in flags,
    )  # fmt: skip


def _number(given: SlurmConfiguration, key: str) -> float:
    value = given.setting(key, "0")
    if not value.isdecimal() or len(value) > 10:
        raise HarnessError(f"{given.path}: {key}={shortened(value)}: expected a whole number")
    return float(value)


def _span(given: SlurmConfiguration, key: str, otherwise: float) -> float:
    """Return a time as Slurm writes it [s]; none of it is none."""
    value = given.setting(key)
    return otherwise if value == "" else seconds(value, given.path)
