"""The arrays of a run: each is listed once, with its type.

`View` is the argument of every policy. `State` adds arrays for the engine alone, and the kernels of all policies. In
compiled code each is one pointer (`pointer_tables`), in plain Python a named tuple. Policies get read-only views of
both (`readonly_types`, `readonly_views`).
"""

from collections import namedtuple
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numba import from_dtype, types

from harness.engine.records import (
    hold_records,
    loop_records,
    node_records,
    plan_records,
    private,
    queue_records,
    recording_records,
    request_records,
)
from harness.engine.records import public as layouts
from harness.engine.records.width_records import SHAPE
from harness.numba_support.addresses import address_of
from harness.numba_support.pointer_tables import TABLE, Bundle, changes_only_the_type, declare, table_of
from harness.numba_support.separate_compilation import CompileGroup
from harness.numba_support.unsigned_index_array import Entries


def _records(layout: Any) -> Any:
    return types.Array(from_dtype(layout), 1, "C")


def _entries(layout: Any) -> Any:
    return Entries(from_dtype(layout))


FLOATS = types.Array(types.float64, 1, "C")
INDICES = TABLE
_NUMBERS, _PLACES = Entries(types.float64), Entries(types.int64)

_VIEW = {
    "jobs": _entries(layouts.JOB),
    "nodes": _entries(layouts.NODE),
    "slices": _entries(layouts.SLICE),
    "clock": from_dtype(layouts.CLOCK),
    "notes": from_dtype(private.NOTES),
    "loop": from_dtype(loop_records.LOOP),
    "timing": from_dtype(loop_records.TIMING),
    "estimates": from_dtype(loop_records.ESTIMATES),
    "hold_state": from_dtype(hold_records.HOLD_STATE),
    "waitlist": from_dtype(queue_records.WAITLIST),
    "usage_sums": from_dtype(queue_records.USAGE_SUMS),
    "allocation": from_dtype(node_records.ALLOCATION),
    "sleep_control": from_dtype(node_records.SLEEP_CONTROL),
    "queue": _PLACES,  # waiting jobs in order, within [waitlist.head, waitlist.tail)
    "plan": _entries(plan_records.ONGOING),  # running jobs by planned end, on shelves, see ongoing.py …
    "shelves": _PLACES,  # … which of these stand one behind the other …
    "stocking": _PLACES,  # … how many jobs stand on each …
    "listed": _PLACES,  # … and scratch: the jobs alone
    "leavers": _PLACES,  # jobs that left at this instant
    "blocks": _PLACES,  # free cores in each block of nodes, to skip full ones
    "paces": _entries(layouts.PACE),  # performance states of the nodes
    "naps": _entries(layouts.NAP),  # sleep states of the nodes
    "then": _entries(layouts.THEN),  # scratch: the nodes at the instant that a plan looks at
    "types": _entries(node_records.TYPE),  # types of nodes; empty unless node classes are kept
    "node_classes": _entries(node_records.NODE_CLASS),  # node classes
    "words": _PLACES,  # bits of the nodes of each class
    "listed_classes": _PLACES,  # classes that have nodes
    "class_of_node": _PLACES,  # the class of each node, −1 none
    "candidates": _PLACES,  # scratch: nodes among which a selection chooses
    "merits": _NUMBERS,  # scratch: the scores that a selection gives them
    "users": _records(layouts.SHARE),  # what is counted by the numbers of users, −1 the last; empty if nobody asks …
    "groups": _records(layouts.SHARE),  # … of groups …
    "queues": _records(layouts.SHARE),  # … of queues …
    "everybody": _records(layouts.SHARE),  # … and of all jobs together
    "shapes": _records(SHAPE),  # between which widths each job may run; empty if none has a choice …
    "curves": FLOATS,  # … and the tables of their speed-ups, see `molding.tabled`
    "firsts": INDICES,  # which jobs are the first of their user, see `shares.firsts`
    "requests": _records(request_records.REQUEST),  # requests besides cores and their memory; empty without any
    "properties": _records(request_records.PROPERTIES),  # properties of nodes that they refer to; empty without any
    "available": _records(request_records.AVAILABLE),  # free resources of nodes and the platform, at four moments
    "reservations": _records(request_records.RESERVATION),  # advance reservations, in the order of nodes and times
}
_INSIDE = {
    "paused": INDICES,  # jobs suspended by this decision
    "ranking": _PLACES,  # scratch: jobs being ranked …
    "scores": _NUMBERS,  # … and their scores
    "planning": from_dtype(plan_records.PLANNING),  # the plan of a start policy, see plan/count_plan.py
    "profile_time": FLOATS,  # future availability, see profile.py
    "profile_free": INDICES,
    "raised_time": FLOATS,  # from when on it rose …
    "raised_version": INDICES,  # … and as what was counted
    "answers": _records(plan_records.ANSWER),  # who would not fit before when, see compression.py
    "promised": FLOATS,  # when each job was promised to begin, see promised_starts.py …
    "nearest": FLOATS,  # … and the first of each block of jobs
    "stands": _records(plan_records.STAND),  # trees of those who may overtake, see overtaking.py …
    "roots": _PLACES,  # … who is on top of each …
    "trail": _PLACES,  # … scratch: a way down …
    "walks": _records(plan_records.WALK),  # who was next, see walks.py …
    "nearing": INDICES,  # … who was scored in each, where scores only fall, see falling.py; else empty …
    "nearing_scores": FLOATS,  # … and how
    "entries": _PLACES,  # … and who came to the queue since they were looked at
    "joined": _PLACES,  # jobs that came to the queue since, if somebody wants to know
    "heap": _entries(private.DUE),
    "truth": _entries(private.TRUTH),
    "wholes": _NUMBERS,  # what each brought, if it may have to begin anew, …
    "first_starts": _NUMBERS,  # … when those first began that had to [s] …
    "patience": _NUMBERS,  # … and when it gives up waiting [s]; empty if nobody does
    "cancellations": INDICES,  # jobs that give up waiting, by the time they do
    "sums": from_dtype(private.SUMS),
    "events": _records(private.EVENT),  # by time
    "signal": _records(private.SIGNAL),  # by time; empty without one
    "known_watts": _NUMBERS,  # what nodes of a kind draw, see `power.known`; not a number until one is asked
    "boots": _PLACES,  # jobs that wait for a sleeping node
    "moving": _PLACES,  # nodes that fall asleep or wake
    "idle_list": _entries(
        node_records.IDLE_NODE
    ),  # idle nodes in the order in which they became idle; empty unless nodes may sleep
    "samples": _records(recording_records.SAMPLE),  # empty, unless a timeline is wanted
    "placements": _records(recording_records.PLACEMENT),  # the same for the places of jobs
    "bookings": _records(plan_records.BOOKING),  # the plan of nodes, empty unless memory or partitions bind …
    "booked": INDICES,  # … the first of each node's bookings, −1 none …
    "lines": _records(plan_records.LINE),  # … what is left of each node from when on …
    "step_time": FLOATS,
    "step_memory": FLOATS,
    "step_free": INDICES,
    "struck": INDICES,  # … of which nodes bookings were struck out last …
    "ready": INDICES,  # … which of them have processors free …
    "near": _records(plan_records.NEAR),  # … which jobs were promised processors of these …
    "rooms": _records(plan_records.ROOM),  # … how much room there is for jobs alike …
    "beside": _records(plan_records.BESIDE),  # … and who would not fit before when
    "held": _records(hold_records.HELD_JOB),  # jobs that are held; empty unless there are holds
    "held_groups": _records(hold_records.HELD_GROUP),  # … groups of jobs for which all holds give the same answer …
    "group_of": _records(hold_records.GROUP_OF),  # … and the group of each job
    "holds": _records(hold_records.HOLD),  # the holds themselves …
    "holds_own": FLOATS,  # … and their numbers, one after the other
}

VIEW = Bundle("View")
STATE = Bundle("State")

# The signatures of the kernels. `own` is a policy's own vector: parameters, memory, random state.
ORDER = types.void(VIEW, INDICES, FLOATS, FLOATS)  # (state, who, scores to fill, own)
SELECT = types.boolean(VIEW, types.int64, FLOATS)  # (state, job, own)
RATE = types.float64(VIEW, FLOATS)
PREDICT = types.float64(VIEW, types.int64, types.int64, FLOATS)  # (state, job, why it is asked, own)
# Fills in `watts` of the nodes of the slices from `piece` on, or of all nodes if that is −1; returns the node for
# which the policy gave no possible power, or −1.
WATTS = types.int64(VIEW, types.int64, FLOATS)  # (state, piece, own)
START = types.void(STATE, FLOATS)
SLEEP = START
MOLD = types.void(STATE, types.int64, types.int64)  # (state, job, procs), see `molding.reshape`
TALLY = types.void(STATE, *[types.int64] * 4)  # (state, job, submitted, queued, running), see `shares.tally`
HOLD = types.float64(VIEW, types.int64, FLOATS)  # (state, job, own): found by its address, for there may be several

KERNELS = {
    "order": ORDER,
    "second": ORDER,  # the order that a start policy may use besides the queue's
    "select": SELECT,
    "watts": WATTS,
    "start": START,
    "rate": RATE,
    "sleep": SLEEP,
    "predict": PREDICT,  # there only in the loop that asks a predictor
    "mold": MOLD,  # nor this: there only where a job has a choice of its width
    "tally": TALLY,  # no policy: there only where one asks for what it counts
}
declare(VIEW, _VIEW, {})
declare(STATE, _VIEW | _INSIDE | {f"{kernel}_own": FLOATS for kernel in KERNELS}, KERNELS)

#: Functions that only runs call in which jobs request more than cores and memory.
DEMANDS = CompileGroup("demands", STATE)

#: Functions that only runs call in which jobs may be held.
HOLDING = CompileGroup("holding", STATE)


def _tuple(name: str, parts: Iterable[str]) -> Any:
    return namedtuple(name, parts, module=__name__)


View = _tuple("View", _VIEW)
Inside = _tuple("Inside", _INSIDE)


class State(_tuple("State", (*STATE.parts, *KERNELS, "hold"))):  # type: ignore[misc]
    """All of a run, in plain Python."""

    @cached_property
    def table(self) -> np.ndarray[Any, Any]:
        """Where all of it lies: what compiled code is entered with."""
        parts = [getattr(self, name) for name in STATE.parts]
        # Where the verbs of a family lie is written down for runs that need them; see `apart.py`.
        found = [getattr(self, name, None) for name in sorted(STATE.kernels)]
        kernels = [address_of(kernel) if kernel else 0 for kernel in found]
        return table_of([*parts, *kernels])


def seen(state: Any) -> Any:
    """Return the `View` in a `State`."""
    state = getattr(state, "real", state)
    return View(*state[: len(View._fields)])


changes_only_the_type(seen, lambda state: VIEW)
