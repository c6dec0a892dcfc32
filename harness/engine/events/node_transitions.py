"""Node transitions: nodes are awake or asleep from then on, and idle nodes are due to fall asleep."""

from typing import Any

import numpy as np

from harness.engine.decorators import once
from harness.engine.events.event_source import WITH_JOBS, WITH_OTHERS, EventSource
from harness.engine.power.sleep import finish_transitions
from harness.engine.service import enter_service
from harness.engine.time_comparison import later


@once
def next_node_awake(state: Any) -> float:
    """Return when the next transition ends, if a node is waking [s]: a job may wait for it."""
    return float(state.clock.transition) if state.sleep_control.waking > 0 else np.inf


@once
def next_transition(state: Any) -> float:
    """Return when the next transition ends, or the next idle node is due to fall asleep [s]."""
    return float(min(state.clock.transition, state.sleep_control.next_sleep_time))


@once
def change_nodes(state: Any) -> None:
    """End the transitions that are due; jobs that waited for a node enter service."""
    if not later(state.clock.transition, state.clock.now):
        finish_transitions(state)
        enter_service(state)


WAKING = EventSource(next_node_awake, change_nodes, role=WITH_JOBS)
ANY = EventSource(next_transition, role=WITH_OTHERS)
