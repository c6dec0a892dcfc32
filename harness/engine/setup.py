"""The arrays of a run, made ready: jobs in order of submission, nodes idle and awake, everything else empty."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.engine import run_state, running_jobs
from harness.engine.events.clocks_and_signals import set_signal, set_wall_clock
from harness.engine.plan import compression, node_timelines, reserved_starts
from harness.engine.plan.width import rigid, shapes
from harness.engine.queue.backfill_index import CLASSES
from harness.engine.queue.usage_sums import none_kept
from harness.engine.records import (
    hold_records,
    loop_records,
    node_records,
    plan_records,
    private,
    queue_records,
    recording_records,
)
from harness.engine.records import public as layouts
from harness.engine.records.request_records import NODES, REQUESTS
from harness.engine.resources import nodes
from harness.engine.resources.node_classes import no_classes
from harness.engine.resources.request_setup import accept, available, requests_of
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.policy.timing import DecisionTiming
from harness.workload.events import Events
from harness.workload.log import Workload
from harness.workload.signals import Signal
from harness.workload.wall_clock import WallClock

Array = np.ndarray[Any, Any]

#: How many entries the buffers for what is recorded have at least.
BUFFER = 16_384

#: How many jobs are made ready at a time: as many as stay in the cache.
SOME = 2_048

Recorder = Callable[[Array], None]  # is given what the loop wrote down since it was last called


@dataclass(frozen=True)
class Extras:
    """What a run may have besides jobs and policies."""

    events: Events | None = None  # failures and interventions to be replayed
    on_samples: Recorder | None = None  # wants the system at every instant, records of `recording_records.SAMPLE`
    on_placements: Recorder | None = None  # wants every stay of a job on a node, of `recording_records.PLACEMENT`
    timing: DecisionTiming = dataclasses.field(default_factory=DecisionTiming)  # when starts are decided
    signal: Signal | None = None  # what policies are told from outside, on the log's clock


def arrays(workload: Workload, platform: Platform, extras: Extras) -> tuple[Any, Any, Array]:
    """Make the state before the first instant, and which row of the workload each job is."""
    check(workload)
    place = np.argsort(workload.jobs["submit"].to_numpy(), kind="stable")
    if len(place) < 1 << 31:
        place = place.astype(np.int32)  # one for each job
    workload, molded = shapes(workload, platform, place)
    asked = requests_of(workload, place, platform)
    jobs = queue_up(workload, place)
    machine, paces, naps = build(platform)
    in_pieces = (machine["partition"] >= 0).any()
    binds = (in_pieces and (jobs["partition"] >= 0).any()) or (
        np.isfinite(machine["memory"]).any() and jobs["memory"].any()
    )
    constrained = REQUESTS if asked else NODES * int(binds)
    began = float(jobs["submit"][0]) if workload.now is None else workload.now
    clock = start_clock(began, platform.cores, constrained)
    clock["whole_seconds"] = platform.whole
    notes = np.zeros(1, private.NOTES)
    notes["entered"] = -1
    notes["stalls"] = min(1 << (len(jobs) - 1).bit_length(), queue_records.QUEUE)
    notes["moldable"] = molded is not None
    loop = np.zeros(1, loop_records.LOOP)
    set_wall_clock(clock, loop, WallClock.of(workload.header))
    signal = set_signal(clock, loop, extras.signal)
    machine["settled"] = machine["vacant"] = clock["now"]
    slices = np.zeros(platform.cores + 1, layouts.SLICE)  # all unused: one list
    slices["next"] = np.arange(1, platform.cores + 2)
    slices["next"][-1] = -1
    count, slots = len(jobs), min(len(jobs), platform.cores) + 1
    view = run_state.View(
        jobs=records(jobs),
        nodes=records(machine),
        slices=records(slices),
        clock=records(clock)[0],
        notes=records(notes)[0],
        loop=records(loop)[0],
        timing=record(loop_records.TIMING),
        estimates=record(loop_records.ESTIMATES),
        hold_state=record(hold_records.HOLD_STATE, next_release=np.inf),
        waitlist=record(queue_records.WAITLIST, new_in_queue=-1, capacity=min(2 * count + 2, queue_records.QUEUE)),
        usage_sums=record(queue_records.USAGE_SUMS),
        allocation=record(
            node_records.ALLOCATION, resource_kinds=asked.resource_kinds, licence_kinds=asked.licence_kinds
        ),
        sleep_control=record(node_records.SLEEP_CONTROL, max_idle_time=np.inf, next_sleep_time=np.inf),
        queue=np.empty(2 * count + 2, np.int64),
        plan=records(np.empty(running_jobs.SHELF * running_jobs.most_shelves(slots), plan_records.ONGOING)),
        shelves=np.arange(running_jobs.most_shelves(slots)),
        stocking=np.zeros(running_jobs.most_shelves(slots), np.int64),
        listed=np.empty(slots, np.int64),
        leavers=np.empty(count + 1, np.int64),
        blocks=np.add.reduceat(machine["free"], np.arange(0, len(machine), nodes.BLOCK)).astype(np.int64),
        paces=records(paces),
        naps=records(naps),
        then=records(np.zeros(len(machine), layouts.THEN)),
        **no_classes(),
        **none_kept(),
        **(molded or rigid()),
        requests=records(asked.requests),
        properties=records(asked.properties),
        available=records(available(asked.units, platform)),
        reservations=records(asked.reservations),
    )
    accept(view)
    return view, hide(workload, place, view, slots, extras)._replace(signal=records(signal)), place


def queue_up(workload: Workload, place: Array) -> Array:
    """Make the jobs before they are submitted, as far as policies may know them."""
    known = ("submit", "procs", "estimate", "user", "group", "queue", "memory", "partition")
    columns = {"number": workload.jobs["job"].to_numpy()} | {name: workload.jobs[name].to_numpy() for name in known}
    every = np.zeros(len(place), layouts.JOB)
    for jobs, first in gathered(every, place, columns):
        jobs["left"] = jobs["requested"] = jobs["predicted"] = jobs["estimate"]
        np.maximum(jobs["memory"], 0, out=jobs["memory"])
        jobs["start"] = jobs["end"] = np.nan
        jobs["reserved"] = jobs["slices"] = -1
        jobs["index"] = np.arange(first, first + len(jobs))
    return every


def gathered(every: Array, place: Array, columns: dict[str, Array]) -> Iterator[tuple[Array, int]]:
    """Fill records with columns of the workload, in the order of the jobs; yield some at a time, and the first's place.

    So they are at hand for whoever goes on with them, where field by field all of them would go by.
    """
    for first in range(0, len(place), SOME):
        some = every[first : first + SOME]
        for field, column in columns.items():
            some[field] = column[place[first : first + SOME]]
        yield some, first


def start_clock(now: float, cores: int, constrained: int) -> Array:
    """Make the clock before the first instant."""
    clock = np.zeros(1, layouts.CLOCK)
    clock["now"] = clock["virtual"] = clock["began"] = now
    clock["rate"] = 1.0
    clock["free"] = clock["cores"] = cores
    clock["constrained"] = constrained
    clock["level"] = -1.0
    clock["rate_from"] = clock["sleep_from"] = -np.inf
    clock["transition"] = clock["start_timer"] = clock["rate_timer"] = clock["sleep_timer"] = np.inf
    return clock


def hide(workload: Workload, place: Array, view: Any, slots: int, extras: Extras) -> Any:
    """Make what policies do not see: what is true of the jobs, and the engine's own arrays."""
    count = len(view.jobs)
    truth = np.zeros(count, private.TRUTH)
    for _ in gathered(truth, place, {name: workload.jobs[name].to_numpy() for name in ("work", "killed")}):
        pass
    patience = workload.jobs["cancel"].to_numpy(np.float64)
    truth["killed"] |= np.isfinite(patience)[place]
    patience = patience[place] if np.isfinite(patience.min()) else np.empty(0)  # nobody's ends
    leaving = np.flatnonzero(np.isfinite(patience) & (view.jobs["status"][: len(patience)] == layouts.PENDING))
    booking = most_bookings(view) if view.clock.constrained else 0
    sums = record(private.SUMS, least_rate=np.inf)
    events = np.zeros(0, private.EVENT)
    if extras.events is not None:
        sums.requeue = extras.events.requeue
        events = extras.events.records(view.jobs["number"], len(view.nodes), private.EVENT)
    ends = np.unique(view.reservations["end"])
    if len(ends):
        over = np.array([(end, layouts.WINDOW_OVER, 0) for end in ends], private.EVENT)
        events = np.concatenate([events, over])
        events = events[np.argsort(events["time"], kind="stable")]
    return run_state.Inside(
        paused=np.empty(count + 1, np.int64),
        ranking=np.empty(2 * count + 2, np.int64),
        scores=np.empty(count + 1),
        planning=records(np.zeros(1, plan_records.PLANNING))[0],
        profile_time=np.empty(4 * count + 8),
        profile_free=np.empty(4 * count + 8, np.int64),
        raised_time=np.empty(compression.ANSWERS),
        raised_version=np.empty(compression.ANSWERS, np.int64),
        answers=records(np.zeros(compression.ANSWERS, plan_records.ANSWER)),
        promised=np.empty(count),
        nearest=np.empty(count // reserved_starts.BLOCK + 1),
        joined=np.empty(count, np.int64),
        stands=records(np.zeros(1 << (count - 1).bit_length(), plan_records.STAND)),
        roots=np.empty(CLASSES, np.int64),
        trail=np.empty(512, np.int64),
        walks=records(np.zeros(2, plan_records.WALK)),
        nearing=np.empty(0, np.int64),
        nearing_scores=np.empty(0),
        entries=np.empty(count, np.int64),
        # Room for all: where completions are told one by one, those that gave way are in it beside those who have their
        # place. It takes memory only as far as it is used.
        heap=records(np.empty(count + 1, private.DUE)),
        truth=records(truth),
        wholes=np.empty(0) if extras.events is None else truth["work"].copy(),
        first_starts=np.full(0 if extras.events is None else count, np.nan),
        patience=patience,
        cancellations=leaving[np.argsort(patience[leaving], kind="stable")],
        sums=sums,
        events=records(events),
        signal=records(np.zeros(0, private.SIGNAL)),
        known_watts=np.full(int((view.nodes.first_draw + view.nodes.cores + 3 * view.nodes.depths).max()) + 1, np.nan),
        boots=np.empty(slots, np.int64),
        moving=np.empty(len(view.nodes), np.int64),
        idle_list=records(np.empty(0, node_records.IDLE_NODE)),
        samples=records(np.empty(BUFFER if extras.on_samples else 0, recording_records.SAMPLE)),
        placements=records(
            np.empty(BUFFER + 2 * int(view.clock.cores) if extras.on_placements else 0, recording_records.PLACEMENT)
        ),
        bookings=records(np.empty(booking, plan_records.BOOKING)),
        booked=np.empty(len(view.nodes) if booking else 0, np.int64),
        **plans_of_nodes(view, booking),
        held=records(np.empty(0, hold_records.HELD_JOB)),
        held_groups=records(np.empty(0, hold_records.HELD_GROUP)),
        group_of=records(np.empty(0, hold_records.GROUP_OF)),
        holds=records(np.empty(0, hold_records.HOLD)),
        holds_own=np.empty(0),
    )


def most_bookings(view: Any) -> int:
    """Return how many bookings there may be at once: everybody's. They take memory only as far as they are used."""
    width = np.minimum(view.jobs["procs"], len(view.nodes))[view.jobs["status"] == layouts.PENDING]
    return int(width.sum() + view.clock.cores)


def plans_of_nodes(view: Any, booking: int) -> dict[str, Array]:
    """Make the arrays beside the bookings, of which there are so many at most."""
    count = len(view.nodes) if booking else 0
    nobody = np.zeros(1, plan_records.ROOM)
    nobody["left"] = -1.0
    near = np.zeros(len(view.jobs) if booking else 0, plan_records.NEAR)
    near["booked"] = -1
    steps = 8 * booking + 24 * count if view.clock.constrained != REQUESTS else 0
    return {
        "lines": records(np.zeros(count, plan_records.LINE)),
        "step_time": np.empty(steps),
        "step_memory": np.empty(steps),
        "step_free": np.empty(steps, np.int64),
        "struck": np.zeros(node_timelines.STRUCK if booking else 0, np.int64),
        "ready": np.zeros(count, np.int64),
        "near": records(near),
        "rooms": records(np.full(node_timelines.ANSWERS if booking else 0, nobody, plan_records.ROOM)),
        "beside": records(np.zeros(node_timelines.ANSWERS if booking else 0, plan_records.BESIDE)),
    }


def check(workload: Workload) -> None:
    """Refuse jobs that cannot be: a workload need not come from `prepare`."""
    frame = workload.jobs
    if len(frame) == 0:
        raise HarnessError(f"the workload {workload.name!r} has no jobs: expected at least one")
    submit, procs, work, estimate = (frame[name].to_numpy() for name in ("submit", "procs", "work", "estimate"))
    rules = {
        "a finite submit time": np.isfinite(submit),
        "at least one processor": procs >= 1,
        "a finite amount of work, at least 0": (work >= 0) & np.isfinite(work),
        "a finite estimate, at least its work": (estimate >= work) & np.isfinite(estimate),
    }
    for rule, kept in rules.items():
        if not kept.all():
            number = frame["job"].to_numpy()[np.argmin(kept)]
            raise HarnessError(f"the workload {workload.name!r}, job {number}: expected {rule}")


def build(platform: Platform) -> tuple[Array, Array, Array]:
    """Make the nodes, all idle and awake at full rate; their performance states; their sleep states."""
    nodes = np.zeros(platform.nodes, layouts.NODE)
    paces: list[tuple[float, ...]] = []
    naps: list[tuple[float, ...]] = []
    first = first_draw = 0
    for number, t in enumerate(platform.types):
        part = nodes[first : first + t.count]
        part["type"] = number
        for field in ("cores", "memory", "idle", "peak", "partition"):
            part[field] = getattr(t, field)
        part["speed"] = platform.speed(t)
        part["curve"] = t.curve or 0.0
        part["first_draw"] = first_draw
        first_draw += t.cores + 1 + 3 * len(t.sleep)  # busy, falling asleep, asleep, waking
        states = {state.rate: (state.idle, state.peak) for state in t.performance}
        if states:
            states[1.0] = (t.idle, t.peak)
        part["first_pace"], part["pace_count"] = len(paces), len(states)
        part["first_nap"], part["depths"] = len(naps), len(t.sleep)
        paces += [(rate, *states[rate]) for rate in sorted(states)]
        for nap in t.sleep:
            falling = nap.down_energy / nap.down if nap.down else 0.0
            waking = nap.up_energy / nap.up if nap.up else 0.0
            naps.append((nap.watts, falling, waking, nap.down, nap.up))
        first += t.count
    if len({(t.partition, t.partitions) for t in platform.types}) == 1:
        nodes["partition"] = -1  # partitions of jobs bind nobody where the machine is in one piece
    nodes["free"] = nodes["cores"]
    nodes["until"] = np.inf
    return nodes, np.array(paces, layouts.PACE), np.array(naps, layouts.NAP)


def records(array: Array) -> Any:
    """Return the same memory, whose fields are attributes in plain Python too."""
    return array.view(np.recarray)


def record(layout: Any, **values: Any) -> Any:
    """Return one record of a layout with these values, and zeros elsewhere."""
    made = np.zeros(1, layout).view(np.recarray)[0]
    for name, value in values.items():
        made[name] = value
    return made
