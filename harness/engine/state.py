"""The state of a running simulation: numpy record arrays with documented layouts.

In compiled code `state.jobs[i].procs` is a machine load; in plain Python the same expression works, because
every array is a record array. Afterwards the arrays *are* the result table.

Two bundles of these arrays are handed around. `View` is what every policy sees. `State` adds the engine's own arrays
and the kernels that starting a job needs (where to place it, what it draws); only `start_jobs` policies get it.

Two clocks run: `now`, the real time in seconds, and `virtual`, the integral of the service rate. Plans and due
times are virtual, so that switching the rate moves none of them.
"""

from collections import namedtuple
from typing import Any

import numpy as np
from numba import from_dtype, njit, types
from numba.core.types import FunctionType
from numba.extending import intrinsic, overload, register_jitable

# A job's life. Suspended jobs wait again once the decision that suspended them is over.
PENDING, WAITING, RUNNING, SUSPENDED, COMPLETED, CANCELLED, UNACCEPTED, KILLED = range(8)

# What a node is up to. Between AWAKE and ASLEEP lie transitions that take time.
AWAKE, FALLING, ASLEEP, WAKING, DOWN = range(5)

# What may happen to nodes and jobs besides scheduling; see events.py.
NODE_DOWN, NODE_UP, JOB_DELETED, JOB_KILLED, JOB_REQUEUED = range(5)

#: How many levels of load a node's power is measured at: 0, 10, …, 100 %.
LEVELS = 11

INFINITY = float("inf")

# None of these is ever called from Python in compiled form, so the wrappers for that, which cost most of the compile
# time, are left out. The engine does not count references either: passing a bundle of twenty arrays would cost forty
# atomic operations a call. Python holds the arrays for the whole run, and the bundles hold borrowed views of them.
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: Marks a function of the engine that only compiled code calls.
inner = njit(**_NO_WRAPPERS, _nrt=False, error_model="numpy")

#: The same, for those that are called in one place: they become part of their caller.
once = njit(**_NO_WRAPPERS, _nrt=False, error_model="numpy", forceinline=True)

#: Marks a function that policies call: compiled with them, and still plain Python.
verb = register_jitable(**_NO_WRAPPERS, _nrt=False, error_model="numpy")

#: The same, for those that return a part of an array, or make one.
window = register_jitable(**_NO_WRAPPERS, _nrt=True, forceinline=True)


def jit(function: Any) -> Any:
    """Mark a function of a plugin that its policies call: compiled with them, and still plain Python."""
    return register_jitable(**_NO_WRAPPERS, forceinline=True)(function)


#: One record per job, in order of submission, then of the log: a job's index is its place in that order.
#: Here too, what every start and end touches stands first.
JOB = np.dtype(
    [
        ("procs", "i8"),  # processors it needs, all at once
        ("left", "f8"),  # estimated work left [s at reference speed]; of a running job, when last looked at
        ("status", "i4"),  # PENDING … KILLED
        ("nodes", "i4"),  # it last ran on
        ("score", "f8"),  # what the order gave it last; lowest first
        ("submit", "f8"),  # [s]
        ("estimate", "f8"),  # requested time [s at reference speed]
        ("start", "f8"),  # when it first began [s]
        ("planned", "f8"),  # virtual time at which its estimate ends, once placed
        ("end", "f8"),  # when it left [s]
        ("service", "f8"),  # time in service so far [s]
        ("speed", "f8"),  # of its slowest processor, relative to the reference
        ("energy", "f8"),  # its share of the nodes it used [J]
        ("ready", "f8"),  # when the last of its nodes is awake [s]; in service from then on
        ("slices", "i8"),  # first of its slices, −1 none
        ("reserved", "f8"),  # virtual time promised to it, −1 none: room for the start policy
        ("boot", "f8"),  # time it held processors and waited for sleeping ones [s]
        ("lost", "f8"),  # time in service that an interruption made worthless [s]
        ("memory", "f8"),  # requested memory per processor [KB], 0 when unknown
        ("partition", "i4"),  # where it must run, −1 anywhere
        ("user", "i4"),  # who submitted it, −1 unknown
        ("group", "i4"),  # of that user, −1 unknown
        ("queue", "i4"),  # it was submitted to, −1 unknown
        ("number", "i8"),  # in the log
        ("preemptions", "i4"),  # times it was suspended
        ("restarts", "i4"),  # times it was interrupted and had to begin again
    ],
    align=True,
)

#: One record per node. What is looked for among all nodes stands first, then what starts and ends of jobs touch, each
#: within a line of the cache.
NODE = np.dtype(
    [
        ("free", "i8"),  # cores nobody holds
        ("cores", "i8"),  # it has
        ("status", "i4"),  # AWAKE … DOWN
        ("depths", "i4"),  # how many sleep states it has
        ("vacant", "f8"),  # since when none of its cores is held [s]
        ("until", "f8"),  # when its present transition is over [s]
        ("speed", "f8"),  # per core, relative to the reference processor
        ("busy", "i8"),  # cores in service: cores − free, between decisions
        ("watts", "f8"),  # drawn now [W]
        ("settled", "f8"),  # time up to which the sums stand [s]: share and the energies
        ("share", "f8"),  # ∫ watts / busy dt: what one busy core was charged so far [J]
        ("energy", "f8"),  # drawn so far [J]
        ("idle_energy", "f8"),  # of which awake with no busy core [J]
        ("idle", "f8"),  # [W] with no busy core, at the present rate
        ("peak", "f8"),  # [W] with all cores busy, at the present rate
        ("sleep_energy", "f8"),  # drawn asleep so far [J]
        ("transition_energy", "f8"),  # drawn falling asleep and waking so far [J]
        ("asleep", "f8"),  # time it slept so far [s]
        ("resting", "f8"),  # [W] while it is not awake: asleep, on the way there or back, or down
        ("wanted", "i4"),  # 1: it wakes as soon as it has fallen asleep
        ("depth", "i4"),  # which of its sleep states it is in, or was last; 0 is the lightest
        ("naps", "i4"),  # where its sleep states begin in `naps`
        ("paces", "i4"),  # how many performance states it has …
        ("pace", "i4"),  # … and where they begin in `paces`
        ("partition", "i8"),  # it belongs to
        ("memory", "f8"),  # [KB], infinite when unknown
        ("free_memory", "f8"),  # [KB]
        ("curve", "f8", (LEVELS,)),  # [W] at 0, 10, …, 100 % of its cores busy, at full rate
    ],
    align=True,
)

#: What a node draws at a rate [W]; between two such states it is interpolated.
PACE = np.dtype([("rate", "f8"), ("idle", "f8"), ("peak", "f8")], align=True)

#: One way for a node to sleep: [W] while asleep, falling asleep and waking, and how long the two ways take [s].
NAP = np.dtype([("watts", "f8"), ("falling", "f8"), ("waking", "f8"), ("down", "f8"), ("up", "f8")], align=True)

#: Some cores of one node held by one job; a job's slices are a linked list.
SLICE = np.dtype([("node", "i8"), ("cores", "i8"), ("share", "f8"), ("next", "i8")], align=True)

#: What happens now.
CLOCK = np.dtype(
    [
        ("now", "f8"),  # [s]
        ("virtual", "f8"),  # ∫ rate dt
        ("rate", "f8"),  # 1 = full speed
        ("since", "f8"),  # real time of the last rate switch …
        ("origin", "f8"),  # … and the virtual time then
        ("free", "i8"),  # processors nobody holds
        ("cores", "i8"),  # all processors
        ("down", "i8"),  # of which on nodes that are down
        ("booting", "i8"),  # of which held by jobs that wait for a sleeping node
        ("queued", "i8"),  # jobs waiting
        ("running", "i8"),  # jobs in service, or about to be when their nodes are awake
        ("upset", "i8"),  # 1 when something moved the plans of running jobs: nodes failed or woke late
        ("arrived", "i8"),  # jobs that came at this instant
        ("completed", "i8"),  # jobs that finished at this instant
        ("departed", "i8"),  # jobs that finished or were cancelled at this instant
        ("suspended", "i8"),  # jobs suspended by this decision
        ("started", "i8"),  # jobs started by this decision
        ("preemptive", "i8"),  # 1 when the start policy may suspend jobs
        ("constrained", "i8"),  # 1 when memory or partitions may forbid free processors
        ("head", "i8"),  # window of `queue` that is in use
        ("tail", "i8"),  # where that window ends
        ("next", "i8"),  # next job to arrive
        ("cancels", "i8"),  # next entry of `cancellations`
        ("events", "i8"),  # next entry of `events`
        ("boots", "i8"),  # jobs that wait for a sleeping node
        ("moving", "i8"),  # nodes that fall asleep or wake
        ("stirred", "i8"),  # 1 at an instant at which something happens that may matter to a policy
        ("heaped", "i8"),  # jobs in the heap of due times
        ("transition", "f8"),  # when the next node changes its status [s]
        ("due", "f8"),  # when the next job completes [s], while an instant is being applied
        ("start_timer", "f8"),  # when the start policy wants to be called again [s]
        ("rate_timer", "f8"),  # the same of the rate policy
        ("sleep_timer", "f8"),  # the same of the sleep policy
        ("rate_from", "f8"),  # until when the rate policy wants to be left alone [s]
        ("sleep_from", "f8"),  # the same of the sleep policy
        ("level", "f8"),  # the rate policy wants to be called when the work has fallen to it [s], −1 never …
        ("crossing", "f8"),  # … which is then [s], if nothing happens before …
        ("fell", "i8"),  # … and 1 at the instant when it has
        ("slack", "i8"),  # first unused slice
        ("declined", "i8"),  # times the selection declined
        ("held", "i8"),  # processors taken so far by the selection that is being asked …
        ("held_nodes", "i8"),  # … on so many nodes …
        ("held_asleep", "i8"),  # … of which so many are not awake …
        ("held_speed", "f8"),  # … and the speed of the slowest
        ("profile_first", "i8"),  # window of the profile that is in use
        ("profile_last", "i8"),  # where that window ends
        ("demand", "f8"),  # estimated work of the waiting jobs [s]
        ("promised", "f8"),  # Σ planned · speed over the jobs in service, and …
        ("speed", "f8"),  # … Σ speed: together they give the estimated work in service
        ("began", "f8"),  # first instant of the run [s]
        ("instants", "i8"),  # so far, this one too
        # what went wrong, for the message
        ("hook", "i8"),  # whose policy is being asked
        ("fault", "i8"),  # what it did wrong …
        ("culprit", "i8"),  # … to which job …
        ("place", "i8"),  # … on which node …
        ("value", "f8"),  # … and the number it gave
    ],
    align=True,
)

#: What policies may not know, and the engine's own notes on each job.
TRUTH = np.dtype(
    [
        ("work", "f8"),  # left when it last entered service, or will enter it [s at reference speed]
        ("whole", "f8"),  # what it brought
        ("due", "f8"),  # virtual time at which it completes, once in service
        ("begun", "f8"),  # since when it is in service, or waits for sleeping nodes [s]
        ("cancel", "f8"),  # when it gives up waiting [s]
    ],
    align=True,
)

#: The same over all jobs: the true work left, and integrals over the run, see `harness.results.metrics`.
SUMS = np.dtype(
    [
        ("backlog", "f8"),  # work of the jobs that are not in service yet [s]
        ("due_speed", "f8"),  # Σ due · speed over the jobs in service: with `clock.speed`, the work in service
        ("jobs", "f8"),
        ("queued", "f8"),
        ("busy", "f8"),
        ("work", "f8"),
        ("potential", "f8"),
        ("effective", "f8"),
        ("wasted", "f8"),
        ("requeue", "i8"),  # 1: jobs on a node that fails wait again; 0: they are killed
        ("vain", "i8"),  # events that found nothing to change
        ("samples", "i8"),  # how many entries of `samples` and of `placements` are in use
        ("placements", "i8"),
    ],
    align=True,
)

#: Something that happens to a node or a job, not by scheduling.
EVENT = np.dtype([("time", "f8"), ("kind", "i8"), ("subject", "i8")], align=True)

#: The system between one instant and the next, for the timeline.
SAMPLE = np.dtype(
    [
        ("time", "f8"),  # [s]
        ("queued", "i8"),  # jobs
        ("running", "i8"),  # jobs
        ("busy", "i8"),  # processors in service
        ("free", "i8"),  # processors nobody holds, asleep or not
        ("up", "i8"),  # processors of nodes that are not down
        ("rate", "f8"),
        ("work", "f8"),  # left in the system [s at reference speed]
        ("power", "f8"),  # of all nodes [W]
        ("asleep", "i8"),  # nodes
        ("switching", "i8"),  # nodes falling asleep or waking
        ("down", "i8"),  # nodes
    ],
    align=True,
)

#: A job's stay on a node.
PLACEMENT = np.dtype([("job", "i8"), ("node", "i8"), ("cores", "i8"), ("begin", "f8"), ("end", "f8")], align=True)

#: One entry of the heap of due times.
DUE = np.dtype([("time", "f8"), ("job", "i8")], align=True)


def _records(layout: np.dtype[Any]) -> types.Array:
    return types.Array(from_dtype(layout), 1, "C")


def _bundle(name: str, parts: dict[str, Any]) -> Any:
    """A named tuple type, the kind of bundle that numba knows."""
    return namedtuple(name, parts, module=__name__)


FLOATS = types.Array(types.float64, 1, "C")
INDICES = types.Array(types.int64, 1, "C")

_SEEN = {
    "jobs": _records(JOB),
    "nodes": _records(NODE),
    "slices": _records(SLICE),
    "clock": from_dtype(CLOCK),
    "queue": INDICES,  # waiting jobs in order, within [clock.head, clock.tail)
    "plan": INDICES,  # running jobs by planned end
    "leavers": INDICES,  # jobs that left at this instant
    "blocks": INDICES,  # free cores in each block of nodes, to skip full ones
    "paces": _records(PACE),  # performance states of the nodes
    "naps": _records(NAP),  # sleep states of the nodes
}
_INSIDE = {
    "paused": INDICES,  # jobs suspended by this decision
    "ranking": INDICES,  # scratch: jobs being ranked …
    "scores": FLOATS,  # … and their scores
    "profile_time": FLOATS,  # future availability, see profile.py
    "profile_free": INDICES,
    "heap": _records(DUE),
    "truth": _records(TRUTH),
    "cancellations": INDICES,  # jobs that give up waiting, by the time they do
    "sums": from_dtype(SUMS),
    "events": _records(EVENT),  # by time
    "boots": INDICES,  # jobs that wait for a sleeping node
    "moving": INDICES,  # nodes that fall asleep or wake
    "samples": _records(SAMPLE),  # empty, unless a timeline is wanted
    "placements": _records(PLACEMENT),  # the same for the places of jobs
}

View = _bundle("View", _SEEN)
VIEW = types.NamedTuple(tuple(_SEEN.values()), View)
Inside = _bundle("Inside", _INSIDE)
INSIDE = types.NamedTuple(tuple(_INSIDE.values()), Inside)

# The signatures of the kernels. `own` is a policy's own vector: parameters, memory, random state.
ORDER = types.void(VIEW, INDICES, FLOATS, FLOATS)  # (state, who, scores to fill, own)
SELECT = types.boolean(VIEW, types.int64, FLOATS)  # (state, job, own)
RATE = types.float64(VIEW, FLOATS)
# Fills in `watts` of the nodes of the slices from `piece` on, or of all nodes if that is −1; returns the node for
# which the policy gave no possible power, or −1.
WATTS = types.int64(_records(NODE), _records(SLICE), from_dtype(CLOCK), types.int64, FLOATS)

_KERNELS = {
    "order": FunctionType(ORDER),
    "order_own": FLOATS,
    "second": FunctionType(ORDER),  # the order that a start policy may use besides the queue's
    "second_own": FLOATS,
    "select": FunctionType(SELECT),
    "select_own": FLOATS,
    "watts": FunctionType(WATTS),
    "watts_own": FLOATS,
}

State = _bundle("State", _SEEN | _INSIDE | _KERNELS)
STATE = types.NamedTuple((*_SEEN.values(), *_INSIDE.values(), *_KERNELS.values()), State)
START = types.void(STATE, FLOATS)
SLEEP = START

#: What a `State` is put together from.
PARTS = (VIEW, INSIDE, *_KERNELS.values())


def view(state: Any) -> Any:
    """The part of `State` that every policy may see."""
    return View(
        state.jobs,
        state.nodes,
        state.slices,
        state.clock,
        state.queue,
        state.plan,
        state.leavers,
        state.blocks,
        state.paces,
        state.naps,
    )


def borrow(array: Any) -> Any:
    """The same array without a claim on its memory: nothing to count when it is passed on."""
    return array


@intrinsic
def _borrowed(context: Any, array: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(array)(context, builder, value=arguments[0])
        for owner in ("meminfo", "parent"):
            setattr(struct, owner, context.get_constant_null(struct._datamodel.get_type(owner)))
        return struct._getvalue()

    return array(array), lower


@overload(borrow, strict=False, jit_options={"_nrt": True})
def _borrow(array: Any) -> Any:
    return lambda array: _borrowed(array)


def bundle(
    v: Any, i: Any, order: Any, order_own: Any, second: Any, second_own: Any, select: Any, select_own: Any,
    watts: Any, watts_own: Any,
) -> Any:  # fmt: skip
    """`View`, `Inside` and the kernels, as one `State`."""
    return State(
        borrow(v.jobs),
        borrow(v.nodes),
        borrow(v.slices),
        v.clock,
        borrow(v.queue),
        borrow(v.plan),
        borrow(v.leavers),
        borrow(v.blocks),
        borrow(v.paces),
        borrow(v.naps),
        borrow(i.paused),
        borrow(i.ranking),
        borrow(i.scores),
        borrow(i.profile_time),
        borrow(i.profile_free),
        borrow(i.heap),
        borrow(i.truth),
        borrow(i.cancellations),
        i.sums,
        borrow(i.events),
        borrow(i.boots),
        borrow(i.moving),
        borrow(i.samples),
        borrow(i.placements),
        order,
        borrow(order_own),
        second,
        borrow(second_own),
        select,
        borrow(select_own),
        watts,
        borrow(watts_own),
    )


# Records cannot be returned from compiled functions, so these two are copied into their callers.
seen = njit(inline="always")(view)
bundled = njit(inline="always")(bundle)
