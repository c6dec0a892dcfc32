"""The plan of a run in which more than numbers of processors binds: reservations name the cores of nodes.

Reservations do not move: at each decision the jobs that can start at once without delaying another reservation start,
in the order of the queue. To move every reservation to its earliest start would have to look at all nodes for each
waiting job whenever a job ends early.
"""

from typing import Any

from harness.engine.decorators import verb, window
from harness.engine.faults import STARTING
from harness.engine.plan.count_plan import check_waiting
from harness.engine.plan.due_reservations import call_at_next_start
from harness.engine.plan.node_plan import drop_departed, fits_beside, lift, plan_nodes, promise, start_beside
from harness.engine.plan.node_plan_backfill import next_beside
from harness.engine.plan.reserved_starts import _list_due, _list_unpromised
from harness.engine.records.public import WAITING
from harness.engine.time_comparison import later


@verb(only=(STARTING, "start"), apart=True)
def node_refresh(state: Any, anew: bool = False) -> bool:
    """Remove the jobs that left; return whether resources may have become free earlier than planned.

    Every reservation is cancelled if `anew`, and if an event has invalidated the plan: see `clock.upset`.
    """
    state.planning.anew = anew
    if anew:
        plan_nodes(state)
    else:
        drop_departed(state)
    return not anew


@verb(only=(STARTING, "start"), crosses=True)
def node_start(state: Any, job: int) -> bool:
    """Start a waiting job now if it fits and delays no reservation; return whether it started."""
    check_waiting(state, job)
    return fits_beside(state, job) and start_beside(state, job)


@verb(only=(STARTING, "start"), apart=True)
def node_reserve(state: Any, job: int) -> float:
    """Reserve the earliest start of the job that delays no other reservation, and return its virtual time.

    Infinity if it can never start while nodes are down, or not within the window of a pass.
    """
    return promise(state, job)


@verb(only=(STARTING, "start"), apart=True)
def node_cancel(state: Any, job: int) -> None:
    """Cancel the reservation of a waiting job, if it has one."""
    lift(state, job)
    state.waitlist.new_in_queue = -1


@verb(only=(STARTING, "start"), apart=True)
def node_cancel_all(state: Any) -> None:
    """Cancel every reservation of the waiting jobs."""
    for k in range(state.waitlist.head, state.waitlist.tail):
        job = state.queue[k]
        if state.jobs[job].status == WAITING and state.jobs[job].reserved >= 0:
            lift(state, job)
    state.waitlist.new_in_queue = -1


@verb
def start_beside_others(state: Any, job: int) -> bool:
    """Start a job that fits; return whether it holds its processors until another time than planned."""
    record = state.jobs[job]
    end = state.clock.virtual + record.left
    if not start_beside(state, job):
        return False
    latest = end + state.sleep_control.max_boot_time
    return later(record.planned, latest) or later(end, record.planned)


@verb
def start_early(state: Any) -> bool:
    """Start the jobs that delay no reservation, due or not; return what `start_beside_others` returns for one."""
    upset = False
    job = next_beside(state, -1)
    while job >= 0:
        upset = start_beside_others(state, job) or upset
        job = next_beside(state, job)
    return upset


@verb
def start_due_by_nodes(state: Any) -> bool:
    """Start the jobs whose reservation is due; return what `start_beside_others` returns for one."""
    upset = False
    for k in range(_list_due(state)):
        job = state.ranking[k]
        if fits_beside(state, job):
            upset = start_beside_others(state, job) or upset
    return upset


@verb(only=(STARTING, "start"), crosses=True)
def node_compress(state: Any) -> None:
    """Start the jobs that delay no reservation; where one holds its processors longer than planned, cancel all."""
    if start_early(state):
        plan_nodes(state)


@verb(crosses=True)
def _list_without_booking(state: Any) -> int:
    return _list_unpromised(state)


@window
def node_without_reservation(state: Any) -> Any:
    """List the waiting jobs that have no reservation, in queue order."""
    return state.ranking[: _list_without_booking(state)]


@verb(only=(STARTING, "start"), crosses=True)
def node_start_due(state: Any) -> None:
    """Start the jobs whose reservation is due, and those that can start then; plan anew where one ends later.

    The policy is called again at the next reservation, if it keeps its reservations between decisions.
    """
    # No job waits while awake nodes would do, nor for cores whose owner started elsewhere.
    early = state.sleep_control.max_boot_time > 0.0
    going_on = True
    while going_on:
        before = state.clock.started
        if start_early(state) if early else start_due_by_nodes(state):
            plan_nodes(state)
            for k in range(_list_unpromised(state)):
                promise(state, state.ranking[k])
        early = going_on = state.clock.started > before
    call_at_next_start(state)
