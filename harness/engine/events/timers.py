"""Timers: policies are called at the time that they asked for, or when the work has fallen to a level."""

from typing import Any

import numpy as np

from harness.engine.decorators import once
from harness.engine.events.event_source import WITH_JOBS, WITH_OTHERS, EventSource
from harness.engine.power.draw import work_left
from harness.engine.time_comparison import later


@once
def next_start_timer(state: Any) -> float:
    """Return when the start policy wants to be called [s]."""
    return float(state.clock.start_timer)


@once
def next_other_timer(state: Any) -> float:
    """Return when the rate policy or the sleep policy wants to be called [s]: this lets no job start."""
    return float(min(state.clock.rate_timer, state.clock.sleep_timer))


@once
def next_work_level(state: Any) -> float:
    """Return when the work will have fallen to `clock.level` if nothing happens before [s]. Changes loop."""
    clock = state.clock
    reached = np.inf
    if clock.level >= 0.0 and clock.speed > 0.0:
        reached = clock.now + (work_left(state) - clock.level) / (clock.rate * clock.speed)
    state.loop.level_reached = reached
    return float(reached)


@once
def expire_timers(state: Any) -> None:
    """Clear the timers that are due: a decision follows. The policies may set them again. Changes clock."""
    clock = state.clock
    if not later(clock.start_timer, clock.now):
        clock.start_timer = np.inf
        clock.decision_due = 1
    if not later(clock.rate_timer, clock.now):
        clock.rate_timer = np.inf
        clock.decision_due = 1
    if not later(clock.sleep_timer, clock.now):
        clock.sleep_timer = np.inf
        clock.decision_due = 1


@once
def reach_work_level(state: Any) -> None:
    """Note whether the work has fallen to the level; the level is then cleared. Changes clock."""
    clock = state.clock
    clock.work_level_reached = clock.level >= 0.0 and not later(state.loop.level_reached, clock.now)
    if clock.work_level_reached:
        clock.level = -1.0
        clock.decision_due = 1


WORK_LEVEL = EventSource(next_work_level, reach_work_level, role=WITH_JOBS)
START = EventSource(next_start_timer, expire_timers, role=WITH_JOBS)
OTHERS = EventSource(next_other_timer, role=WITH_OTHERS)
