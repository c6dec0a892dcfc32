"""What the engine can leave out of a run, because no policy of the scheduler reads its result.

Policies declare what they read (`harness.policy.reads`). Held jobs that all policies treat alike are kept in groups.
Nodes that no policy can tell apart are kept in classes. Scores that only fall are computed when they matter. Nodes
fall asleep without an event when no policy can notice it.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from harness.engine.records import hold_records as hold_records
from harness.engine.resources.node_classes import with_classes
from harness.errors import HarnessError
from harness.policy.kinds import Policy, Prefer, Start
from harness.policy.reads import NODE_CLASSES, QUEUE, all_fields, may_read, reads_only
from harness.policy.spec import Choice
from harness.policy_api.policy_diagnostics import calls

#: The guarantee of start policies that start the first job of the queue, if it fits, before they consider another one.
FIRST_STARTS = "first starts if it fits"

#: The names under which a policy reads who waits, or how much work that is.
_WAITING_JOBS = (QUEUE, "clock.queued", "clock.demand", "clock.arrived", "clock.held")

#: All that determines the draw of a node by its load: its type, its busy cores, its status and the rate.
_LOAD = frozenset(
    f"node.{name}" for name in ("busy", "cores", "idle", "peak", "curve", "memory", "partition", "status", "resting")
) | {"clock.rate"}

#: The fields in which nodes of one class are equal.
_OF_A_CLASS = (_LOAD - {"node.busy"}) | {f"node.{name}" for name in ("free", "speed", "depths", "depth", "wanted")}
_OF_A_CLASS |= {"node.type"}

#: The fields of a job that time and plans do not change, and the time.
_OF_JOB_AND_TIME = frozenset(name for name in all_fields() if name.startswith("job."))
_OF_JOB_AND_TIME = (_OF_JOB_AND_TIME - {"job.reserved", "job.score", "job.status"}) | {"clock.now"}

#: The names under which a policy notices that a node has fallen asleep.
_OF_SLEEP = ("status", "resting", "until", "watts", "settled", "asleep", "wanted")
_ENERGIES = ("energy", "idle_energy", "sleep_energy", "transition_energy")
_SLEEP = (*(f"node.{name}" for name in (*_OF_SLEEP, *_ENERGIES)), NODE_CLASSES, "clock.transition")


def _all_but(chosen: Mapping[str, Choice], left_out: str) -> list[Policy]:
    """List the policies of all parts but one."""
    return [one.policy for part, choice in chosen.items() if part != left_out for one in choice.chain]


def _job_by_job(view: Any) -> bool:
    """Return whether decisions are taken for single events, or in passes of their own."""
    return bool(view.timing.per_event or view.timing.interval > 0.0 or view.timing.main_interval >= 0.0)


def lasts(order: Choice) -> bool:
    """Return whether the order gives a waiting job one score for as long as it waits, however often it is called."""
    other = any(set(one.policy.extras) - {"columns"} for one in order.chain)
    return not (other or order.says("varies") or order.says("learn"))


def falls(chosen: Mapping[str, Choice], view: Any) -> bool:
    """Return whether the scores of waiting jobs only fall, and no policy reads them or the order of the whole queue."""
    order, start = chosen["order"], chosen["start"].policy
    other = set(order.policy.extras) - {"columns"} or order.inner or order.says("learn")
    if not order.says("falls") or other or not reads_only(order.policy, _OF_JOB_AND_TIME):
        return False
    if view.clock.constrained or view.notes.moldable or _job_by_job(view) or start.preemptive or start.extras:
        return False
    policies = _all_but(chosen, "order")
    compiled = all(one.compiled for one in (*policies, order.policy))
    return compiled and not any(may_read(one, QUEUE, "job.score") for one in policies)


def plans_by_counts(policy: Policy) -> bool:
    """Return whether a policy plans by numbers of processors, wherever it is called."""
    return isinstance(policy, Start) and calls(policy.function, "plan_from_running", "forget_past")


def refuse_counting(starts: Iterable[Choice]) -> None:
    """Refuse plans by numbers of processors where these do not determine whether a job can be placed."""
    for start in starts:
        if plans_by_counts(start.policy):
            raise HarnessError(
                f"the start policy {str(start)!r} plans by numbers of processors alone, and here memory, partitions or "
                "what else jobs ask for binds: expected one that takes the plan of the run, as 'easy' does "
                "(def start(plan, queue, …))"
            )


def draws_by_load(energy: Choice) -> bool:
    """Return whether nodes of one type that are awake with as many busy cores draw the same at any time."""
    return not energy.policy.extras and reads_only(energy.policy, _LOAD)


@cache
def judges_by_stock(select: Policy) -> bool:
    """Return whether a selection by merit gives one merit to all nodes of a class."""
    own = any(name in ("memory", "dice") or name.startswith("per_") for name in select.extras)
    tells_apart = all_fields() - _OF_A_CLASS
    apart = may_read(select, *(name for name in tells_apart if name.startswith("node.")))
    return isinstance(select, Prefer) and select.compiled and not own and not apart


def keep_stocks(view: Any, chosen: Mapping[str, Choice]) -> Any:
    """Return the view with the classes of nodes, if a policy of the run uses them."""
    select = chosen["select"].policy
    if isinstance(select, Prefer):
        count = len(view.nodes)
        view = view._replace(candidates=np.zeros(count, np.int64), merits=np.zeros(count))
        view.allocation.ranks_classes = judges_by_stock(select) and not view.clock.constrained
    reading = any(may_read(one, NODE_CLASSES) for one in _all_but(chosen, ""))
    return with_classes(view) if view.allocation.ranks_classes or reading else view


def falls_unseen(chosen: Mapping[str, Choice]) -> bool:
    """Return whether no policy can notice when a node that falls asleep has done so: that is no event then."""
    others = _all_but(chosen, "energy")
    return draws_by_load(chosen["energy"]) and all(one.compiled and not may_read(one, *_SLEEP) for one in others)


def answers_alike(hold: Choice) -> bool:
    """Return whether the hold, with these parameters, holds and releases jobs alike together."""
    policy = hold.policy
    singly = any(hold.values[name] != policy.parameters[name] for name in policy.unless)
    return bool(policy.same_answer_for) and not singly and "starts" not in policy.released_on


def may_hold_by_group(view: Any, chosen: Mapping[str, Choice], holds: list[Choice]) -> bool:
    """Return whether held jobs may be kept in groups: the next start is known, and no policy reads who waits."""
    order, start, timing = chosen["order"], chosen["start"].policy, view.timing
    bound = view.clock.constrained or view.notes.moldable or chosen["select"].policy.fits
    usual = not _job_by_job(view) and not timing.horizon < np.inf
    first = FIRST_STARTS in start.guarantees and not start.extras and not start.preemptive and not start.rejects
    ordered = lasts(order) or (bool(order.policy.same_answer_for) and not order.inner and not order.says("learn"))
    unseen = chosen["rate"].policy.constant and not may_read(chosen["select"].policy, *_WAITING_JOBS)
    alike = all(answers_alike(hold) for hold in holds) and not chosen["start"].queues
    return alike and first and ordered and unseen and usual and not bound and timing.backfill_depth >= len(view.jobs)


def held_groups_of(jobs: Any, order: Choice, holds: list[Choice]) -> dict[str, Any]:
    """Return the groups of jobs that no hold and no order can tell apart, and the group of each job."""
    count = len(jobs)
    group = np.arange(count)
    alike = [hold.policy.same_answer_for for hold in holds]
    if alike and all(alike):
        group = np.zeros(count, np.int64)
        for name in sorted({*order.policy.same_answer_for, *(name for names in alike for name in names)}):
            _, number = np.unique(jobs[name], return_inverse=True)
            _, group = np.unique(group * (number.max(initial=0) + 1) + number, return_inverse=True)
    group_of = np.zeros(count, hold_records.GROUP_OF)
    group_of["group"] = group
    groups = np.zeros(count, hold_records.HELD_GROUP)
    return {"held_groups": groups.view(np.recarray), "group_of": group_of.view(np.recarray)}
