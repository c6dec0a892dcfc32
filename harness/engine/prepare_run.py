"""The preparation of a run: `STEPS` makes its state and binds its policies, one step after the other.

The order matters: the arrays are made first, the start policy depends on the resources that bind, the fast paths depend
on all policies, and a warm start needs the whole state.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from harness.engine import decisions, policy_kernels
from harness.engine.events.event_source import HOLDS, TIMED
from harness.engine.extra_columns import further_column, tell_who_holds_nobody
from harness.engine.plan.width import compiled_mold
from harness.engine.policy_analysis import (
    draws_by_load,
    falls,
    falls_unseen,
    held_groups_of,
    keep_stocks,
    lasts,
    may_hold_by_group,
    refuse_counting,
)
from harness.engine.prepared_run import PreparedRun
from harness.engine.queue import backfill_index, lazy_priorities, own_queues_setup
from harness.engine.queue.holds import BY_GROUP, FREED_BY_STARTS, STARTS, TIME, holds_in_use
from harness.engine.queue.named_tables import with_numbers
from harness.engine.queue.usage_sums import keep_shares
from harness.engine.records import hold_records
from harness.engine.resources.idle_nodes import init_idle_list
from harness.engine.resources.request_setup import refuse_windows
from harness.engine.resources.suspend_in_place import add_slices
from harness.engine.run_state import DEMANDS, HOLDING, State
from harness.engine.setup import Extras, arrays
from harness.errors import HarnessError
from harness.numba_support.addresses import address_of
from harness.platform.machine import Platform
from harness.policy.per_key_memory import sizes
from harness.policy.spec import Choice
from harness.policy_api import compiled_policies
from harness.workload.log import Workload


@dataclass
class Preparation:
    """A run while it is prepared. Each step reads and sets some of these."""

    workload: Workload
    platform: Platform
    chosen: Mapping[str, Choice]
    seed: int
    plain: bool
    extras: Extras
    features: int  # of the loop, flags of `event_source`
    view: Any = None
    inside: Any = None
    place: Any = None
    which: Any = None  # the queue of each job, if queues have policies of their own
    timed: bool = False  # whether predictions or the timing of decisions need the feature TIMED
    kernels: dict[str, Any] = field(default_factory=dict)  # of functions that only some runs have
    state: Any = None
    tickets: dict[str, int] = field(default_factory=dict)


def prepare_run(
    workload: Workload,
    platform: Platform,
    chosen: Mapping[str, Choice],
    *,
    seed: int = 0,
    plain: bool = False,
    extras: Extras | None = None,
    features: int = 0,
) -> PreparedRun:
    """Prepare a run. Its loop has the given features, and those that the run needs."""
    run = Preparation(workload, platform, chosen, seed, plain, extras or Extras(), features)
    run.timed = bool(features & TIMED)
    for step in STEPS:
        step(run)
    prepared = PreparedRun(run.chosen, run.view, run.inside, run.place, run.state, run.tickets, run.features)
    if workload.now is not None:
        start_from_snapshot(prepared, workload)
    return prepared


def make_arrays(run: Preparation) -> None:
    """Make the arrays of the state; with room for suspended jobs if the start policy may suspend."""
    run.view, run.inside, run.place = arrays(run.workload, run.platform, run.extras)
    run.view.clock.preemptive = bool(run.chosen["start"].policy.preemptive)
    if run.view.clock.preemptive:
        run.view = add_slices(run.view)
        starts = np.full(len(run.place), np.nan)
        run.inside = run.inside._replace(wholes=run.inside.truth.work.copy(), first_starts=starts)


def assign_queues(run: Preparation) -> None:
    """Replace names in the policies' tables by numbers, and assign jobs to queues with policies of their own."""
    chosen = with_numbers(run.chosen, run.workload)
    statuses = run.view.jobs.status
    run.chosen, run.which = own_queues_setup.assign_queues(chosen, run.workload, run.place, statuses, run.extras.timing)


def prepare_sleep(run: Preparation) -> None:
    """Set the longest time that a node takes to fall asleep and wake, and list the idle nodes if nodes may sleep."""
    sleeping = not run.chosen["sleep"].policy.constant
    longest = np.max(run.view.naps.down + run.view.naps.up, initial=0.0) if sleeping else 0.0
    run.view.sleep_control.max_boot_time = float(longest)
    run.inside = run.inside._replace(idle_list=init_idle_list(run.view.nodes, sleeping=sleeping))


def choose_start_variant(run: Preparation) -> None:
    """Choose the variant of the start policy."""
    run.chosen = specialise_start_policy(run.chosen, run.view)


def set_timing(run: Preparation) -> None:
    """Set when decisions are taken and how runtimes are estimated."""
    policy, timing = run.chosen["predict"].policy, run.extras.timing
    estimates, decided, count = run.view.estimates, run.view.timing, len(run.view.jobs)
    estimates.predicted, estimates.learns = not policy.constant, policy.learn is not None
    estimates.uncapped, estimates.clairvoyant = not policy.capped, policy.clairvoyant
    decided.per_event = timing.event_semantics != "batch"
    decided.completions_first = timing.event_semantics not in ("batch", "per-event")
    decided.arrivals_per_decision = 1 if decided.per_event else count
    decided.interval = timing.backfill_interval or 0.0
    decided.backfill_depth = timing.backfill_depth or count
    decided.horizon = np.inf if timing.plan_horizon is None else timing.plan_horizon
    decided.main_interval = -1.0 if timing.main_interval is None else timing.main_interval
    run.view.clock.decide_per_event = timing.event_semantics == "per-event" and not timing.periods
    run.timed = run.timed or not policy.constant or not timing.is_default
    if run.timed:
        run.features |= TIMED


def choose_holds(run: Preparation) -> None:
    """Add the feature HOLDS if a hold is in use, and warn of holds that hold no job of this workload."""
    holds = holds_in_use(run.chosen["hold"])
    if holds:
        run.features |= TIMED | HOLDS
    tell_who_holds_nobody(holds, run.workload)


def make_indexes(run: Preparation) -> None:
    """Make what only some policies read: classes of nodes, sums of usage, scores that are evaluated lazily."""
    run.view, tally = keep_shares(keep_stocks(run.view, run.chosen), run.chosen)
    run.kernels = {"tally": tally, "mold": compiled_mold() if run.view.notes.moldable else None}
    if not run.features & TIMED and run.which is None and falls(run.chosen, run.view):
        run.inside = lazy_priorities.walk_ahead(run.view, run.inside)


def bind_policies(run: Preparation) -> None:
    """Compile the policies and make the state of them and the arrays; link functions that only some runs call."""
    columns = partial(further_column, run.workload, run.place, run.view.jobs.status)
    inside, timed = run.inside._asdict() | run.kernels, bool(run.features & TIMED)
    run.state, run.tickets = bind(run.chosen, run.seed, run.plain, run.view, inside, columns, run.which, timed=timed)
    if len(run.view.requests) > 0:
        refuse_windows(run.state, str(run.chosen["rate"]))
        DEMANDS.link(run.state)
    if run.features & HOLDS:
        HOLDING.link(run.state)


def choose_fast_paths(run: Preparation) -> None:
    """Choose what is updated lazily, because no policy of the run can observe it earlier."""
    view, chosen = run.view, run.chosen
    if not draws_by_load(chosen["energy"]):
        view.nodes.first_draw = -1
    sleep, control = chosen["sleep"].policy, view.sleep_control
    watched = run.timed or bool(run.tickets) or run.extras.on_samples is not None
    control.lazy_sleep = not watched and falls_unseen(chosen)
    control.track_node_status = not sleep.constant or len(view.node_classes) > 0
    control.keep_idle_list = not (sleep.constant or control.lazy_sleep)
    if not (view.notes.moldable or run.which is not None):  # the index of backfill candidates is by width
        flags = {"order": backfill_index.ORDER_LASTS, "second": backfill_index.SECOND_LASTS}
        view.notes.lasting |= sum(flag for part, flag in flags.items() if lasts(chosen[part]))


def set_selection(run: Preparation) -> None:
    """Set that free processors alone do not decide whether a job fits, if the selection may decline."""
    if run.chosen["select"].policy.fits:
        run.view.clock.constrained = max(1, run.view.clock.constrained)
        run.view.clock.asks = 1


def set_changes(run: Preparation) -> None:
    """Set which policies are called again after the first instant."""
    if run.which is not None:
        run.chosen = own_queues_setup.ByQueue(run.chosen, run.state.start_own)
    run.view.loop.changes = change_flags(run.chosen)


STEPS = (
    make_arrays,
    assign_queues,
    prepare_sleep,
    choose_start_variant,
    set_timing,
    choose_holds,
    make_indexes,
    bind_policies,
    choose_fast_paths,
    set_selection,
    set_changes,
)


def start_from_snapshot(prepared: PreparedRun, workload: Workload) -> None:
    """Start the running jobs of the workload and queue its waiting ones before the first instant."""
    from harness.engine.warm_start import open_run

    if prepared.features & HOLDS:
        raise HarnessError(
            f"{workload.name}: begins with jobs that run already, where nobody can be held: expected no hold"
        )
    with prepared.explaining_errors():
        open_run(prepared.state, workload, prepared.place)


def change_flags(chosen: Mapping[str, Choice]) -> int:
    """Return, as flags, the policies whose answers may change between instants, and the orders that learn."""
    orders = [one for part, one in chosen.items() if own_queues_setup.base_part(part) == "order"]
    seconds = [one for part, one in chosen.items() if own_queues_setup.base_part(part) == "second"]
    seconds = [one for one in seconds if not any(one is order for order in orders)]
    return (
        decisions.ORDER_CHANGES * any(one.says("varies") for one in orders)
        + decisions.ORDER_LEARNS * any(one.says("learn") for one in orders)
        + decisions.SECOND_LEARNS * any(one.says("learn") for one in seconds)
        + decisions.RATE_CHANGES * (not chosen["rate"].policy.constant)
        + decisions.SLEEP_CHANGES * (not chosen["sleep"].policy.constant)
    )


def specialise_start_policy(chosen: Mapping[str, Choice], view: Any) -> Mapping[str, Choice]:
    """Return the chosen policies, with the function of a start policy that chooses widths where jobs have a choice."""
    warn_of_fixed_widths(chosen, view)
    starts = {part: one for part, one in chosen.items() if own_queues_setup.base_part(part) == "start"}
    if kind_of_plan(chosen, view) == "node":
        refuse_counting(starts.values())
    if chosen["select"].policy.fits or view.clock.constrained or not view.notes.moldable:
        return chosen
    return {**chosen, **{part: replace(one, policy=one.policy.instead("molding")) for part, one in starts.items()}}


def kind_of_plan(chosen: Mapping[str, Choice], view: Any) -> str:
    """Return the kind of plan that start policies get: by nodes where more than numbers of processors binds."""
    return "node" if view.clock.constrained and not chosen["select"].policy.fits else "count"


class RigidWarning(UserWarning):
    """Reports that moldable jobs are as wide as they request."""


def warn_of_fixed_widths(chosen: Mapping[str, Choice], view: Any) -> None:
    """Warn if jobs are moldable and the start policy would choose their widths if no resource were bound."""
    start = chosen["start"]
    binds = view.clock.constrained or chosen["select"].policy.fits
    if binds and start.policy.molding and np.any(view.shapes.least < view.shapes.most):
        warnings.warn(
            f"the policy {str(start)!r} (start_jobs) chooses no widths where memory, partitions, reservations of "
            "nodes, what else jobs ask for or the selection binds: jobs are as wide as they ask to be",
            RigidWarning,
            stacklevel=2,
        )


def bind(
    chosen: Mapping[str, Choice],
    seed: int,
    plain: bool,
    view: Any,
    inside: Mapping[str, Any],
    columns: compiled_policies.Columns,
    which: np.ndarray[Any, Any] | None,
    *,
    timed: bool,
) -> tuple[State, dict[str, int]]:
    """Return the state of the run with its policies, and tickets for those in plain Python.

    A predictor is among them only if the loop is TIMED. `which` is the queue of each job if queues have policies of
    their own.
    """
    given: dict[str, Any] = {"plain": plain, "sizes": sizes(view.jobs, len(view.nodes)), "columns": columns}
    given["plan_kind"] = kind_of_plan(chosen, view)
    held = {f"hold {k}": one for k, one in enumerate(holds_in_use(chosen["hold"]))}
    asked = {part: chosen[part] for part in chosen if part != "hold" and (timed or part != "predict")}
    bound = {part: policy_kernels.kernel_of(choice, seed, **given) for part, choice in (asked | held).items()}
    tickets = {part: compiled_policies.ticket() for part, kernel in bound.items() if kernel.python}
    # A ticket takes the place of the policy's own vector in the loop.
    own = {part: np.array([float(tickets[part])]) if part in tickets else bound[part].own for part in bound}
    policies: dict[str, Any] = {"predict": None}
    policies |= dict.fromkeys(("predict_own", "tally_own", "mold_own"), np.zeros(1))
    for part in (part for part in asked if part == own_queues_setup.base_part(part)):
        name = "watts" if part == "energy" else part
        policies |= {name: bound[part].function, f"{name}_own": own[part]}
    if which is not None:
        stand_in, connected = own_queues_setup.build_queue_table(chosen, which, bound, own)
        policies, tickets = policies | stand_in, tickets | connected
    kernels_of_holds = [bound[part].function for part in held]
    for_holds = hold_parts(view, chosen, list(held.values()), kernels_of_holds, [own[part] for part in held])
    state = State(**(view._asdict() | inside | policies | for_holds))
    for part, ticket in tickets.items():
        whole = own_queues_setup.base_part(part) in ("start", "sleep")
        compiled_policies.connect(ticket, bound[part], state if whole else view)
    return state, tickets


def hold_parts(
    view: Any, chosen: Mapping[str, Choice], holds: list[Choice], kernels: list[Any], own: list[Any]
) -> dict[str, Any]:
    """Set the number of holds, and return the parts of the state for them, with their kernels and their numbers."""
    causes = [
        TIME * ("time" in one.policy.rechecked_on)
        + STARTS * ("starts" in one.policy.rechecked_on)
        + FREED_BY_STARTS * ("starts" in one.policy.released_on)
        for one in holds
    ]
    by_group = BY_GROUP if holds and may_hold_by_group(view, chosen, holds) else 0
    view.hold_state.count = len(holds)
    view.hold_state.causes = int(np.bitwise_or.reduce([by_group, *causes]))
    table = np.zeros(len(holds), hold_records.HOLD)
    table["kernel"] = [address_of(kernel) if hasattr(kernel, "overloads") else 0 for kernel in kernels]
    table["end"] = np.cumsum([len(numbers) for numbers in own])
    table["begin"] = table["end"] - [len(numbers) for numbers in own]
    table["because"] = causes
    jobs = view.jobs if holds else view.jobs[:0]  # a run without holds keeps nothing about its jobs
    return {
        "held": np.zeros(len(jobs), hold_records.HELD_JOB).view(np.recarray),
        # Moldable jobs have no groups: their widths change, and their bounds differ.
        **held_groups_of(jobs, chosen["order"], [] if view.notes.moldable else holds),
        "holds": table.view(np.recarray),
        "holds_own": np.concatenate(own) if own else np.zeros(0),
        "hold": tuple(kernels),
    }
