"""One run: policies bound, the loop driven in slices that can be interrupted, faults explained."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.engine import event_semantics, faults, loop, loop_with_holds, policy_kernels
from harness.engine.extra_columns import further_column, tell_who_holds_nobody
from harness.engine.plan.width import compiled_mold
from harness.engine.policy_analysis import (
    draws_by_load,
    falls,
    falls_unseen,
    keep_stocks,
    lasts,
    refuse_counting,
)
from harness.engine.policy_errors import blame, explain, mistaken, where
from harness.engine.power.unknown_power import warn_of_unknown_power
from harness.engine.queue import backfill_index, lazy_priorities, own_queues_setup
from harness.engine.queue.named_tables import with_numbers
from harness.engine.queue.usage_sums import keep_shares
from harness.engine.resources.idle_nodes import init_idle_list
from harness.engine.resources.request_setup import refuse_windows
from harness.engine.resources.suspend_in_place import add_slices
from harness.engine.run_state import DEMANDS, HOLDING, STATE, State
from harness.engine.setup import Extras, arrays
from harness.errors import HarnessError
from harness.numba_support.lazy_symbols import NotMadeError, asked, why_not
from harness.platform.machine import Platform
from harness.policy.per_key_memory import sizes
from harness.policy.permissions import Misuse
from harness.policy.spec import Choice
from harness.policy_api import compiled_policies
from harness.present.captured_output import output_to_stderr
from harness.workload.log import Workload

#: How long a slice of the loop should take [s]: the longest wait for Ctrl-C and between two signs of progress.
SLICE_SECONDS = 0.2

#: As many instants as a slice may have, however fast they go by.
MOST_INSTANTS = 1 << 40

Progress = Callable[[int, int], None]  # (jobs that left the system, all jobs)


@dataclass(frozen=True)
class Outcome:
    """The arrays as the loop left them."""

    jobs: Any  # records in order of submission
    nodes: Any
    clock: Any
    sums: Any
    notes: Any
    place: np.ndarray[Any, Any]  # place[k]: row of the workload that became job k
    seconds: float  # simulation alone
    bytes: int  # of the arrays
    plain: dict[str, str]  # hook → policy that ran as plain Python
    processor_seconds: float = 0.0  # for how long the simulation had a processor
    first_starts: Any = ()  # of the jobs that had to begin anew [s]; empty where none can
    view: Any = None  # the records that policies and the engine share


def simulate(
    workload: Workload,
    platform: Platform,
    chosen: Mapping[str, Choice],
    *,
    seed: int = 0,
    plain: bool = False,
    progress: Progress | None = None,
    extras: Extras | None = None,
) -> Outcome:
    """Run the loop from the first arrival to the last departure."""
    extras = extras or Extras()
    ready = put_together(workload, platform, chosen, seed=seed, plain=plain, extras=extras)
    loops = (loop_with_holds.compiled_run_with_holds, event_semantics.compiled_run_with_readings, loop.compiled_run)
    run = loops[0 if ready.held else 1 if ready.other else 2]()
    began, computing = time.perf_counter() - asked.seconds, time.thread_time() - asked.computing
    try:
        with ready.blaming():
            drive(run, ready.state, ready.changes, progress, extras)
        warn_of_unknown_power(ready.state, ready.chosen)
    finally:
        ready.disconnect()
    return ready.outcome(time.perf_counter() - asked.seconds - began, time.thread_time() - asked.computing - computing)


@dataclass(frozen=True)
class Ready:
    """A run before its first instant, or wherever its loop has left it."""

    chosen: Mapping[str, Choice]
    view: Any
    inside: Any
    place: np.ndarray[Any, Any]
    state: State
    tickets: dict[str, int]
    changes: int  # from one instant to the next, and who learns: flags of the loop
    other: bool  # whether the usual loop will not do …
    held: bool  # … because jobs may be held

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """Say of what goes wrong in the block which policy did it, and when."""
        view, chosen = self.view, self.chosen
        try:
            yield
        except faults.PolicyFault:
            raise explain(view, chosen) from None
        except NotMadeError:
            raise why_not() from None
        except (Misuse, SystemExit) as error:
            ended = f"sys.exit({error.code!r})" if type(error) is SystemExit else str(error)
            what = f"called {ended}" if isinstance(error, SystemExit) else str(error)
            raise blame(view, chosen, what) from None
        except Exception as error:
            if mistake := mistaken(error, view, chosen):
                raise mistake from error
            error.add_note(where(view, chosen))
            raise

    def disconnect(self) -> None:
        """Forget the policies in plain Python."""
        for ticket in self.tickets.values():
            compiled_policies.disconnect(ticket)

    def outcome(self, seconds: float, computed: float = 0.0) -> Outcome:
        """Return the arrays as the loop left them."""
        view, inside, place = self.view, self.inside, self.place
        policies = [self.chosen[part if part in self.chosen else part.split()[0]].policy for part in self.tickets]
        names = {policy.hook: str(policy.name) for policy in policies}
        size = sum(getattr(self.state, part).nbytes for part in STATE.parts)
        further = (seconds, size, names, computed, inside.first_starts, view)
        return Outcome(view.jobs, view.nodes, view.clock, inside.sums, view.notes, place, *further)


def put_together(
    workload: Workload,
    platform: Platform,
    chosen: Mapping[str, Choice],
    *,
    seed: int,
    plain: bool,
    extras: Extras,
    other: bool = False,
) -> Ready:
    """Put a run together; `other` is whether it needs another loop than the usual one in any case."""
    view, inside, place = arrays(workload, platform, extras)
    if chosen["start"].policy.preemptive:
        view = add_slices(view)
        inside = inside._replace(wholes=inside.truth.work.copy(), first_starts=np.full(len(place), np.nan))
    chosen = with_numbers(chosen, workload)
    chosen, which = own_queues_setup.assign_queues(chosen, workload, place, view.jobs.status, extras.timing)
    view.sleep_control.max_boot_time = longest_boot(chosen, view)
    inside = inside._replace(idle_list=init_idle_list(view.nodes, sleeping=not chosen["sleep"].policy.constant))
    chosen = suited(chosen, view)
    other = event_semantics.ask_for(view, chosen["predict"], extras.timing) or other
    holds = loop_with_holds.in_use(chosen["hold"])
    held = bool(holds)
    tell_who_holds_nobody(holds, workload)
    columns = partial(further_column, workload, place, view.jobs.status)
    view, tally = keep_shares(keep_stocks(view, chosen), chosen)
    late = {"tally": tally, "mold": compiled_mold() if view.notes.moldable else None}
    if not (other or held or which is not None) and falls(chosen, view):
        inside = lazy_priorities.walk_ahead(view, inside)
    state, tickets = bind(chosen, seed, plain, view, inside._asdict() | late, columns, which, other=other or held)
    if len(view.requests) > 0:
        refuse_windows(state, str(chosen["rate"]))
        DEMANDS.link(state)
    if held:
        HOLDING.link(state)
    if not draws_by_load(chosen["energy"]):
        view.nodes.first_draw = -1
    watched = other or bool(tickets) or extras.on_samples is not None
    view.sleep_control.lazy_sleep = not watched and falls_unseen(chosen)
    sleep = chosen["sleep"].policy
    view.sleep_control.track_node_status = not sleep.constant or len(view.node_classes) > 0
    view.sleep_control.keep_idle_list = not (sleep.constant or view.sleep_control.lazy_sleep)
    if not (view.notes.moldable or which is not None):  # who may overtake stands where its width says
        flags = {"order": backfill_index.ORDER_LASTS, "second": backfill_index.SECOND_LASTS}
        view.notes.lasting |= sum(flag for part, flag in flags.items() if lasts(chosen[part]))
    view.clock.preemptive = bool(chosen["start"].policy.preemptive)
    if chosen["select"].policy.fits:
        view.clock.constrained = max(1, view.clock.constrained)
        view.clock.asks = 1
    if which is not None:
        chosen = own_queues_setup.ByQueue(chosen, state.start_own)
    ready = Ready(chosen, view, inside, place, state, tickets, changing(chosen), other, held)
    if workload.now is not None:
        begin_in_the_middle(ready, workload)
    return ready


def begin_in_the_middle(ready: Ready, workload: Workload) -> None:
    """Let some jobs run and others wait before the first instant."""
    from harness.engine.warm_start import open_run

    if ready.held:
        raise HarnessError(
            f"{workload.name}: begins with jobs that run already, where nobody can be held: expected no hold"
        )
    with ready.blaming():
        open_run(ready.state, workload, ready.place)


def changing(chosen: Mapping[str, Choice]) -> int:
    """Return whose answers may change from one instant to the next, and who learns: flags of the loop."""
    orders = [one for part, one in chosen.items() if own_queues_setup.base_part(part) == "order"]
    seconds = [one for part, one in chosen.items() if own_queues_setup.base_part(part) == "second"]
    seconds = [one for one in seconds if not any(one is order for order in orders)]
    return (
        loop.ORDER_CHANGES * any(one.says("varies") for one in orders)
        + loop.ORDER_LEARNS * any(one.says("learn") for one in orders)
        + loop.SECOND_LEARNS * any(one.says("learn") for one in seconds)
        + loop.RATE_CHANGES * (not chosen["rate"].policy.constant)
        + loop.SLEEP_CHANGES * (not chosen["sleep"].policy.constant)
    )


def longest_boot(chosen: Mapping[str, Choice], view: Any) -> float:
    """Return how long nodes take to fall asleep and wake at most; 0 if none sleeps."""
    if chosen["sleep"].policy.constant:
        return 0.0
    return float(np.max(view.naps.down + view.naps.up, initial=0.0))


def suited(chosen: Mapping[str, Choice], view: Any) -> Mapping[str, Choice]:
    """Return the chosen policies, with the function of a start policy that chooses widths where jobs have a choice."""
    tell_who_chooses_no_width(chosen, view)
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
    """Tells a user that jobs which may have different widths are as wide as they ask to be."""


def tell_who_chooses_no_width(chosen: Mapping[str, Choice], view: Any) -> None:
    """Say so if jobs may have different widths, and the start policy could choose if nothing else bound them."""
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
    other: bool,
) -> tuple[State, dict[str, int]]:
    """Put the state of the run together with its policies, and give tickets to find those in plain Python by.

    A predictor is among them only for the `other` loops, which ask one. Of holds there are as many as are in use.
    `which` is the queue of each job, where queues have policies of their own.
    """
    given: dict[str, Any] = {"plain": plain, "sizes": sizes(view.jobs, len(view.nodes)), "columns": columns}
    given["plan_kind"] = kind_of_plan(chosen, view)
    held = {f"hold {k}": one for k, one in enumerate(loop_with_holds.in_use(chosen["hold"]))}
    asked = {part: chosen[part] for part in chosen if part != "hold" and (other or part != "predict")}
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
    for_holds = loop_with_holds.take_in(
        view, chosen, list(held.values()), kernels_of_holds, [own[part] for part in held]
    )
    state = State(**(view._asdict() | inside | policies | for_holds))
    for part, ticket in tickets.items():
        whole = own_queues_setup.base_part(part) in ("start", "sleep")
        compiled_policies.connect(ticket, bound[part], state if whole else view)
    return state, tickets


def drive(run: Any, state: State, changes: int, progress: Progress | None, extras: Extras) -> None:
    """Run the loop in slices of about `SLICE_SECONDS`, so that Ctrl-C is heard and progress is seen."""
    budget = 1  # a policy in plain Python may take its time at every instant, where no signal reaches it
    while True:
        began = time.perf_counter()
        with output_to_stderr():
            over = run(state, changes, budget)
        hand_over(state, extras)
        if over:
            return
        if progress is not None:
            still_there = int(state.clock.queued + state.clock.running)
            progress(int(state.clock.next) - still_there, len(state.jobs))
        elapsed = time.perf_counter() - began
        budget = max(1, min(4 * budget, int(budget * SLICE_SECONDS / max(elapsed, 1e-9)), MOST_INSTANTS))


def hand_over(state: Any, extras: Extras) -> None:
    """Give the recorders what the loop wrote down for them, and make room."""
    if extras.on_samples is not None:
        extras.on_samples(state.samples[: state.sums.samples])
    if extras.on_placements is not None:
        extras.on_placements(state.placements[: state.sums.placements])
    state.sums.samples = state.sums.placements = 0
