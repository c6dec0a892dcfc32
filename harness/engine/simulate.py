"""One run: policies bound, the loop driven in slices that can be interrupted, faults explained."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import kernels
from harness.engine import faults, loop, nodes
from harness.engine import state as layouts
from harness.engine.setup import Extras, arrays
from harness.platform.platform import Platform
from harness.policy import Choice
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
    place: np.ndarray[Any, Any]  # place[k]: row of the workload that became job k
    seconds: float  # simulation alone
    bytes: int  # of the arrays
    plain: dict[str, str]  # hook → policy that ran as plain Python


def simulate(
    workload: Workload,
    platform: Platform,
    chosen: dict[str, Choice],
    *,
    seed: int = 0,
    plain: bool = False,
    progress: Progress | None = None,
    extras: Extras | None = None,
) -> Outcome:
    """Run the loop from the first arrival to the last departure."""
    extras = extras or Extras()
    view, inside, place = arrays(workload, platform, extras)
    arguments, tickets = bind(chosen, seed, plain, view, inside)
    moods = (
        loop.ORDER_CHANGES * chosen["order"].policy.varies
        + loop.RATE_CHANGES * (not chosen["rate"].policy.constant)
        + loop.SLEEP_CHANGES * (not chosen["sleep"].policy.constant)
    )
    loop.compiled_run()
    view.clock.preemptive = bool(chosen["start"].policy.preemptive)
    began = time.perf_counter()
    try:
        drive(view, arguments, moods, progress, extras)
    except faults.PolicyFault:
        raise explain(view, chosen) from None
    except Exception as error:
        error.add_note(where(view, chosen))
        raise
    finally:
        for ticket in tickets.values():
            kernels.disconnect(ticket)
    seconds = time.perf_counter() - began
    refuse_tampering(view, workload, place)
    names = {chosen[part].policy.hook: chosen[part].policy.name for part in tickets}
    size = sum(array.nbytes for array in (*view, *inside))
    return Outcome(view.jobs, view.nodes, view.clock, inside.sums, place, seconds, size, names)


def bind(chosen: dict[str, Choice], seed: int, plain: bool, view: Any, inside: Any) -> tuple[list[Any], dict[str, int]]:
    """What `run` is called with after the view, and the tickets by which plain Python policies are found."""
    bound = {part: kernels.kernel_of(choice, seed, plain=plain) for part, choice in chosen.items()}
    tickets = {part: kernels.ticket() for part, kernel in bound.items() if kernel.python}
    # A ticket takes the place of the policy's own vector in the loop.
    pairs = {
        part: (kernel.function, np.array([float(tickets[part])]) if part in tickets else kernel.own)
        for part, kernel in bound.items()
    }
    in_state = [thing for part in ("order", "second", "select", "energy") for thing in pairs[part]]
    state = layouts.State(*view, *inside, *in_state)
    for part, ticket in tickets.items():
        kernels.connect(ticket, bound[part], state if part in ("start", "sleep") else view)
    return [inside, *in_state, *(thing for part in ("start", "rate", "sleep") for thing in pairs[part])], tickets


def refuse_tampering(view: Any, workload: Workload, place: np.ndarray[Any, Any]) -> None:
    """Records that policies may only read must be as they were, and everything that was taken given back."""
    for field in ("submit", "procs", "estimate"):
        changed = view.jobs[field] != workload.jobs[field].to_numpy()[place]
        if changed.any():
            number = int(view.jobs["number"][np.argmax(changed)])
            raise faults.PolicyError(f"a policy changed {field!r} of job {number}: expected it to be only read")
    up = view.nodes["status"] != layouts.DOWN
    cores = int(view.nodes["cores"][up].sum())
    if view.clock.free != cores or (view.nodes["free"] != view.nodes["cores"])[up].any():
        raise faults.PolicyError(
            f"a policy changed the count of free processors: {view.clock.free} of {cores} are free after "
            "the last job: expected it to be only read"
        )


def drive(view: Any, arguments: list[Any], moods: int, progress: Progress | None, extras: Extras) -> None:
    """Run the loop in slices of about `SLICE_SECONDS`, so that Ctrl-C is heard and progress is seen."""
    run = loop.compiled_run()
    inside = arguments[0]
    budget = 1  # a policy in plain Python may take its time at every instant, where no signal reaches it
    while True:
        began = time.perf_counter()
        over = run(view, *arguments, moods, budget)
        hand_over(inside, extras)
        if over:
            return
        if progress is not None:
            still_there = int(view.clock.queued + view.clock.running)
            progress(int(view.clock.next) - still_there, len(view.jobs))
        elapsed = time.perf_counter() - began
        budget = max(1, min(4 * budget, int(budget * SLICE_SECONDS / max(elapsed, 1e-9)), MOST_INSTANTS))


def hand_over(inside: Any, extras: Extras) -> None:
    """Give the recorders what the loop wrote down for them, and make room."""
    if extras.on_samples is not None:
        extras.on_samples(inside.samples[: inside.sums.samples])
    if extras.on_placements is not None:
        extras.on_placements(inside.placements[: inside.sums.placements])
    inside.sums.samples = inside.sums.placements = 0


def _part(view: Any, chosen: dict[str, Choice]) -> tuple[str, Choice]:
    """Which policy was being asked."""
    choice = chosen[faults.PARTS[int(view.clock.hook)]]
    return choice.policy.hook, choice


def where(view: Any, chosen: dict[str, Choice]) -> str:
    """The policy that was being asked, and when, for errors that it raised itself."""
    hook, choice = _part(view, chosen)
    if hook in ("order_queue", "select_resources"):
        job = view.jobs[view.clock.culprit].number
        return f"in the policy {str(choice)!r} ({hook}), for job {job}, at {number(view.clock.now)} s"
    waiting = view.queue[view.clock.head : view.clock.tail]
    first = f", first waiting job {view.jobs[waiting[0]].number}" if len(waiting) else ""
    return f"in the policy {str(choice)!r} ({hook}) at {number(view.clock.now)} s{first}"


def explain(view: Any, chosen: dict[str, Choice]) -> faults.PolicyError:
    """The loop's notes as a sentence."""
    clock = view.clock
    hook, choice = _part(view, chosen)
    facts: dict[str, Any] = {"value": float(clock.value), "node": int(clock.place)}
    facts |= {"job": f"with index {clock.culprit}", "procs": 0, "room": 0}
    if 0 <= clock.culprit < len(view.jobs):
        job = view.jobs[clock.culprit]
        room = nodes.room(view, int(clock.culprit), int(clock.place))
        facts |= {"job": int(job.number), "procs": int(job.procs), "room": int(room)}
    what = faults.sentence(int(clock.fault), **facts)
    if clock.fault == faults.STUCK and clock.declined:
        what += f"; the selection {str(chosen['select'])!r} declined {clock.declined} times"
    return faults.PolicyError(f"the policy {str(choice)!r} ({hook}), at {number(clock.now)} s, {what}")


def number(value: float) -> str:
    """A time without a decimal point if it has none."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
