"""When a run decides starts: how simultaneous events are batched, and how often the scheduler runs."""

import math
from dataclasses import dataclass, fields
from typing import Any

from harness.errors import HarnessError, did_you_mean

#: How the events of one instant become decisions → the words for it in a heading.
#: `batch` applies all of them, then decides once. The others decide after every event: submissions before completions,
#: as pyss does, or completions before submissions, as ElastiSim does.
EVENT_SEMANTICS = {
    "batch": "",
    "per-event": ", a decision after each event, submissions before completions",
    "per-event-completions-first": ", a decision after each event, completions before submissions",
}

#: The shortest time between two scheduling passes [s], and the most jobs that one may consider.
SHORTEST = 0.01
MOST_DEPTH = 2**31 - 1

#: Field → its values.
_EXPECTED = {
    "backfill_interval": f"seconds, at least {SHORTEST:g}, as in 60",
    "main_interval": f"seconds, at least {SHORTEST:g}, or 0 for every event",
    "backfill_depth": f"a whole number of jobs from 1 to {MOST_DEPTH:,}",
    "plan_horizon": "seconds, as in 86400",
}


@dataclass(frozen=True)
class DecisionTiming:
    """When starts are decided. This is a property of a run, like its seed, and not of a policy.

    The start policy runs at every decision, or with `backfill_interval` only at multiples of that time. Such a
    backfill pass considers the first `backfill_depth` waiting jobs. It reserves no start later than `plan_horizon`
    from now, so other jobs may delay a job that could only start later. With `main_interval`, jobs also start in
    queue order, up to the first that does not fit: at multiples of that time, or at every event if it is 0. At the
    same instant this main pass comes first.
    """

    event_semantics: str = "batch"  # a key of EVENT_SEMANTICS
    backfill_interval: float | None = None  # [s]; None: at every decision
    main_interval: float | None = None  # [s]; None: no main passes
    backfill_depth: int | None = None  # None: all waiting jobs
    plan_horizon: float | None = None  # [s]; None: any time

    def __post_init__(self) -> None:
        if self.event_semantics not in EVENT_SEMANTICS:
            meant = did_you_mean(str(self.event_semantics), EVENT_SEMANTICS)
            raise HarnessError(f"event_semantics = {self.event_semantics!r}: {meant}")
        for name, value in self.periods.items():
            if not self._is_possible(name, value):
                raise HarnessError(f"{name} = {value!r}: expected {_EXPECTED[name]}")
            if self.backfill_interval is None:
                raise HarnessError(f"{name} = {value!r}: expected a backfill_interval too")

    @staticmethod
    def _is_possible(name: str, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            return False
        if name == "backfill_depth":
            return 1 <= value <= MOST_DEPTH and float(value).is_integer()
        return name == "plan_horizon" or value >= SHORTEST or (name == "main_interval" and value == 0)

    @property
    def periods(self) -> dict[str, float]:
        """The fields about periodic passes that have a value."""
        return {name: getattr(self, name) for name in _EXPECTED if getattr(self, name) is not None}

    @property
    def is_default(self) -> bool:
        """Whether every field has its default."""
        return self == DecisionTiming()

    @property
    def remark(self) -> str:
        """The words for a heading; empty for the defaults."""
        periods = "".join(f", {name.replace('_', ' ')} {value:g}" for name, value in self.periods.items())
        return EVENT_SEMANTICS[self.event_semantics] + periods

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        return {"event_semantics": self.event_semantics, **self.periods}


#: The names of the fields, which are also keys of a field of runs and options of the command line.
TIMING_FIELDS = tuple(one.name for one in fields(DecisionTiming))
