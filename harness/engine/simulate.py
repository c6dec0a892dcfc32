"""One run: arrays made ready, policies bound, the loop driven in slices that can be interrupted, faults explained."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import kernels
from harness.engine import faults, loop, nodes
from harness.engine import state as layouts
from harness.errors import HarnessError
from harness.platform.platform import Platform
from harness.policy import Choice
from harness.workload.events import Events
from harness.workload.log import Workload

#: How long a slice of the loop should take [s]: the longest wait for Ctrl-C and between two signs of progress.
SLICE_SECONDS = 0.2

#: As many instants as a slice may have, however fast they go by.
MOST_INSTANTS = 1 << 40

#: How many entries the buffers for what is recorded have at least.
BUFFER = 16_384

Progress = Callable[[int, int], None]  # (jobs that left the system, all jobs)
Recorder = Callable[[np.ndarray[Any, Any]], None]  # is given what the loop wrote down since it was last called


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


@dataclass(frozen=True)
class Extras:
    """What a run may have besides jobs and policies."""

    events: Events | None = None  # failures and interventions to be replayed
    on_samples: Recorder | None = None  # wants the system at every instant, records of `state.SAMPLE`
    on_placements: Recorder | None = None  # wants every stay of a job on a node, records of `state.PLACEMENT`


def arrays(workload: Workload, platform: Platform, extras: Extras) -> tuple[Any, Any, np.ndarray[Any, Any]]:
    """The state before the first instant, and which row of the workload each job is."""
    frame = workload.jobs
    check(workload)
    place = np.argsort(frame["submit"].to_numpy(), kind="stable")
    count = len(frame)
    jobs = np.zeros(count, layouts.JOB)
    for field, column in (
        ("number", "job"),
        ("submit", "submit"),
        ("procs", "procs"),
        ("estimate", "estimate"),
    ):
        jobs[field] = frame[column].to_numpy()[place]
    for field in ("user", "group", "queue"):
        jobs[field] = frame[field].to_numpy()[place]
    jobs["left"] = jobs["estimate"]
    jobs["memory"] = np.maximum(frame["memory"].to_numpy()[place], 0)
    jobs["partition"] = -1
    for field in ("start", "end"):
        jobs[field] = np.nan
    jobs["reserved"] = jobs["slices"] = -1
    machine, paces, naps = build(platform)
    if len({t.partition for t in platform.types}) > 1:
        jobs["partition"] = frame["partition"].to_numpy()[place]
    constrained = bool(
        (jobs["partition"] >= 0).any() or (np.isfinite(machine["memory"]).any() and jobs["memory"].any())
    )
    jobs["status"] = np.where(accepted(jobs, machine, constrained), layouts.PENDING, layouts.UNACCEPTED)

    truth = np.zeros(count, layouts.TRUTH)
    truth["work"] = truth["whole"] = frame["work"].to_numpy()[place]
    truth["cancel"] = frame["cancel"].to_numpy()[place]
    leaving = np.flatnonzero(np.isfinite(truth["cancel"]) & (jobs["status"] == layouts.PENDING))
    cancellations = leaving[np.argsort(truth["cancel"][leaving], kind="stable")]

    cores = platform.cores
    slots = min(count, cores) + 1
    slices = np.zeros(cores + 1, layouts.SLICE)
    slices["next"] = np.arange(1, cores + 2)
    slices["next"][-1] = -1
    clock = np.zeros(1, layouts.CLOCK)
    clock["now"] = clock["virtual"] = clock["began"] = jobs["submit"][0]
    clock["rate"] = 1.0
    clock["free"] = clock["cores"] = cores
    clock["constrained"] = constrained
    clock["level"] = -1.0
    clock["rate_from"] = clock["sleep_from"] = -np.inf
    clock["transition"] = clock["start_timer"] = clock["rate_timer"] = clock["sleep_timer"] = np.inf
    machine["settled"] = machine["vacant"] = clock["now"]
    sums = np.zeros(1, layouts.SUMS)
    happenings = np.zeros(0, layouts.EVENT)
    if extras.events is not None:
        sums["requeue"] = extras.events.requeue
        happenings = extras.events.records(jobs["number"], len(machine))
    blocks = np.add.reduceat(machine["free"], np.arange(0, len(machine), nodes.BLOCK)).astype(np.int64)

    view = layouts.View(
        jobs=records(jobs),
        nodes=records(machine),
        slices=records(slices),
        clock=records(clock)[0],
        queue=np.empty(2 * count + 2, np.int64),
        plan=np.empty(slots, np.int64),
        leavers=np.empty(count + 1, np.int64),
        blocks=blocks,
        paces=records(paces),
        naps=records(naps),
    )
    inside = layouts.Inside(
        paused=np.empty(count + 1, np.int64),
        ranking=np.empty(2 * count + 2, np.int64),
        scores=np.empty(count + 1),
        profile_time=np.empty(4 * count + 8),
        profile_free=np.empty(4 * count + 8, np.int64),
        heap=records(np.empty(slots, layouts.DUE)),
        truth=records(truth),
        cancellations=cancellations,
        sums=records(sums)[0],
        events=records(happenings),
        boots=np.empty(slots, np.int64),
        moving=np.empty(len(machine), np.int64),
        samples=records(np.empty(BUFFER if extras.on_samples else 0, layouts.SAMPLE)),
        placements=records(np.empty(BUFFER + 2 * cores if extras.on_placements else 0, layouts.PLACEMENT)),
    )
    return view, inside, place


def check(workload: Workload) -> None:
    """Refuse jobs that cannot be: a workload need not come from `prepare`."""
    frame = workload.jobs
    if len(frame) == 0:
        raise HarnessError(f"the workload {workload.name!r} has no jobs: expected at least one")
    rules = {
        "a finite submit time": np.isfinite(frame["submit"]),
        "at least one processor": frame["procs"] >= 1,
        "a finite amount of work, at least 0": (frame["work"] >= 0) & np.isfinite(frame["work"]),
        "a finite estimate, at least its work": (frame["estimate"] >= frame["work"]) & np.isfinite(frame["estimate"]),
    }
    for rule, kept in rules.items():
        if not kept.all():
            number = frame["job"].to_numpy()[np.argmin(kept.to_numpy())]
            raise HarnessError(f"the workload {workload.name!r}, job {number}: expected {rule}")


def build(platform: Platform) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The nodes, all idle and awake at full rate; their performance states; their sleep states."""
    nodes = np.zeros(platform.nodes, layouts.NODE)
    paces: list[tuple[float, ...]] = []
    naps: list[tuple[float, ...]] = []
    first = 0
    for t in platform.types:
        part = nodes[first : first + t.count]
        for field in ("cores", "memory", "idle", "peak", "partition"):
            part[field] = getattr(t, field)
        part["speed"] = platform.speed(t)
        part["curve"] = t.curve or 0.0
        states = {state.rate: (state.idle, state.peak) for state in t.performance}
        if states:
            states[1.0] = (t.idle, t.peak)
        part["pace"], part["paces"] = len(paces), len(states)
        part["naps"], part["depths"] = len(naps), len(t.sleep)
        paces += [(rate, *states[rate]) for rate in sorted(states)]
        for nap in t.sleep:
            falling = nap.down_energy / nap.down if nap.down else 0.0
            waking = nap.up_energy / nap.up if nap.up else 0.0
            naps.append((nap.watts, falling, waking, nap.down, nap.up))
        first += t.count
    nodes["free"] = nodes["cores"]
    nodes["free_memory"] = nodes["memory"]
    nodes["until"] = np.inf
    return nodes, np.array(paces, layouts.PACE), np.array(naps, layouts.NAP)


def records(array: np.ndarray[Any, Any]) -> Any:
    """The same memory, whose fields are attributes in plain Python too."""
    return array.view(np.recarray)


def accepted(jobs: Any, machine: Any, constrained: bool) -> np.ndarray[Any, Any]:
    """Which jobs the empty machine could run."""
    if not constrained:
        return np.asarray(jobs["procs"] <= machine["cores"].sum())
    possible: np.ndarray[Any, Any] = np.zeros(len(jobs), bool)
    demands, kind = np.unique(jobs[["memory", "partition"]], return_inverse=True)
    for k, demand in enumerate(demands):
        room = machine["cores"].astype(float)
        if demand["memory"] > 0:
            room = np.minimum(room, np.floor(machine["memory"] / demand["memory"]))  # infinite memory stays infinite
        if demand["partition"] >= 0:
            room = np.where(machine["partition"] == demand["partition"], room, 0)
        rows = kind == k
        possible[rows] = jobs["procs"][rows] <= room.sum()
    return possible


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
