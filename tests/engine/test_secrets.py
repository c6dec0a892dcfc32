"""Policies see what they may know: whatever the hidden truth is, all they can reach is the same, and the same way."""

import math

import numpy as np
import pytest
from numba import types
from numba.core import config
from shared.strategies import POWER, workload

import harness
from harness.engine import run_state
from harness.engine.faults import PolicyError
from harness.engine.policy_kernels import TEMPLATES
from harness.engine.records import node_records, private, public, queue_records
from harness.errors import HarnessError
from harness.numba_support.pointer_tables import Bundle
from harness.numba_support.readonly_types import ReadOnly
from harness.platform.machine import NodeType, Platform
from harness.policy.kinds import KINDS
from harness.policy.permissions import PARTS
from harness.policy.scheduler import Scheduler

MACHINE = Platform("two nodes", (NodeType(2, 2, **POWER),))
LOOK = 100.0  # until then nothing happens that depends on the hidden truth

# (submit, procs, work, estimate): a running job, one that waits, and one that is not there yet.
TRUE = [(0, 3, 200, 900), (10, 4, 50, 700), (150, 2, 30, 60)]
OTHER = [(0, 3, 800, 900), (10, 4, 690, 700, {"cancel": 160.0}), (160, 1, 5, 9), (170, 4, 5, 9, {"user": 7})]

PART = {hook: part for part, hook in Scheduler.HOOKS.items()}


def reachable(thing, path, found, depth=4):
    """Write down every number that public names lead to from `thing`."""
    if isinstance(thing, int | float | np.number):
        found.append((path, float(thing)))
    elif isinstance(thing, np.ndarray):
        found.append((path, thing.tobytes()))
        if thing.base is not None:
            reachable(thing.base, f"{path}.base", found, depth)
    elif isinstance(thing, memoryview):
        found.append((path, thing.tobytes()))
    elif depth > 0:
        if hasattr(thing, "__len__") and not isinstance(thing, str | dict):
            found.append((f"len({path})", len(thing)))
            for k in range(len(thing)):
                reachable(thing[k], f"{path}[{k}]", found, depth - 1)
        names = {*dir(thing), *(name for layout in LAYOUTS for name in layout.names), *run_state.State._fields}
        for name in sorted(name for name in names if not name.startswith("__")):
            part = getattr(thing, name, None)
            if part is not None and not callable(part):
                reachable(part, f"{path}.{name}", found, depth - 1)


LAYOUTS = [getattr(public, name) for name in ("JOB", "NODE", "SLICE", "CLOCK", "PACE", "NAP")]
LAYOUTS += [private.NOTES, private.TRUTH, private.SUMS, queue_records.WAITLIST, node_records.ALLOCATION]


def starts_in_order(state):
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return
    harness.call_again(state, math.floor(state.clock.now) + 5.0)


def takes_the_first(state, job):
    need = state.jobs[job].procs
    node = harness.next_free(state, -1)
    while need > 0 and node >= 0:
        some = min(need, harness.room(state, job, node))
        harness.take(state, job, node, some)
        need -= some
        node = harness.next_free(state, node)
    return need == 0


ANSWERS = {
    "order_queue": lambda job, clock: job.submit,
    "start_jobs": lambda plan, queue, state: starts_in_order(state),
    "select_resources": takes_the_first,
    "set_rate": lambda state: 1.0,
    "set_sleep": lambda state: None,
    "account_energy": lambda node, clock: 1.0,
    "predict_runtime": lambda job, user, clock: job.requested,
    "hold_jobs": lambda state, job: 0.0,
}


def spying(hook, look):
    """A policy of the hook that looks around before it does what it is for."""
    kind = KINDS[hook]

    def function(*given):
        clock = next((thing.clock for thing in given if hasattr(thing, "clock")), given[-1])
        if clock.now < LOOK:
            for thing in given:
                look(thing)
        return ANSWERS[hook](*given)

    names = "plan, queue, state" if hook == "start_jobs" else ", ".join(kind.arguments)
    return kind("spy", eval(f"lambda {names}: function({names})", {"function": function}), compiled=False)


@pytest.mark.parametrize("hook", KINDS)
def test_in_plain_python_nothing_that_can_be_reached_depends_on_the_hidden_truth(run, hook):
    views = []
    for jobs in (TRUE, OTHER):
        seen = []
        policy = spying(hook, lambda thing, seen=seen: reachable(thing, hook, seen))
        run(workload(jobs), MACHINE, **({"start": "easy", "energy": "cores"} | {PART[hook]: policy}))
        views.append(seen)
    assert len(views[0]) > 50
    assert repr(views[0]) == repr(views[1])


def test_the_walk_would_see_what_is_there_to_be_seen(run):
    """Told apart are estimates, which policies may know."""
    views = []
    for estimate in (700, 701):
        seen = []
        policy = spying("start_jobs", lambda thing, seen=seen: reachable(thing, "state", seen))
        run(workload([TRUE[0], (10, 4, 50, estimate)]), MACHINE, start=policy)
        views.append(dict(seen))
    assert {path for path in views[0] if views[0][path] != views[1].get(path)} >= {"state.jobs[1].estimate"}


@pytest.mark.parametrize("hook", KINDS)
def test_compiled_policies_have_no_name_for_more(hook):
    """What the types of compiled policies let them name is what plain ones can reach."""
    kinds = {ReadOnly(kind) for kind in TEMPLATES[hook].signature.args if isinstance(kind, Bundle | types.Record)}
    assert kinds
    hidden = {"truth", "sums", "heap", "cancellations", "events", "notes", "due", "cancels", "work", "whole", "cancel"}
    for kind in kinds:
        assert set(named(kind, depth=3)) & hidden == set()


def named(kind, depth):
    """Every name that leads on from a value of this type."""
    if not isinstance(kind, ReadOnly) or depth == 0:
        return
    every = {*run_state.State._fields, *(name for layout in LAYOUTS for name in layout.names)}
    for name in every:
        part = kind.part(name)
        if part is not None:
            yield name
            yield from named(kind.around(part, name), depth - 1)
            if isinstance(part, ReadOnly):
                yield from named(part, depth - 1)


def test_what_is_shown_is_listed_once():
    assert set(PARTS) < set(run_state.View._fields)


# ---------------------------------------------------------------- cheats, compiled and not


def peeks_at_the_due_time(state):
    if state.clock.due < 1e9:
        harness.start(state, 0)


def peeks_at_the_truth(state):
    if state.truth[0].work < 1e9:
        harness.start(state, 0)


def peeks_at_the_heap(state):
    if state.heap[0].time < 1e9:
        harness.start(state, 0)


def peeks_at_the_next_job(state):
    if state.jobs[state.clock.next].procs > 0:
        harness.start(state, 0)


def counts_all_jobs(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    if len(state.jobs) > state.clock.next or len(state.jobs.procs) > state.clock.next:
        harness.start(state, 10**6)


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
@pytest.mark.parametrize(
    ("cheat", "kind", "words"),
    [
        (peeks_at_the_due_time, HarnessError, "asks for 'due', which"),
        (peeks_at_the_truth, HarnessError, "asks for 'truth', which"),
        (peeks_at_the_heap, HarnessError, "asks for 'heap', which"),
        (peeks_at_the_next_job, PolicyError, "used an index that state.jobs does not have"),
    ],
)
@pytest.mark.filterwarnings("ignore:the policy 'cheat' .* runs as plain Python")
def test_cheats_are_refused(run, cheat, kind, words, plain):
    with pytest.raises(kind, match=words):
        run(workload(TRUE), MACHINE, plain=plain, start=harness.Start("cheat", cheat))


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_there_are_as_many_jobs_as_have_been_submitted(run, plain):
    run(workload(TRUE), MACHINE, plain=plain, start=harness.Start("counting", counts_all_jobs))


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_face_has_no_attribute_that_leads_behind_it(run):
    seen = []
    run(workload(TRUE), MACHINE, start=spying("start_jobs", seen.append))
    plan, queue, state = seen[:3]
    for face in (plan, queue, state, state.jobs, state.jobs[0], state.clock):
        for name in (name for name in dir(face) if not name.startswith("__")):
            part = getattr(face, name, None)
            assert not isinstance(part, np.ndarray | np.record | memoryview | tuple) or name == "curve", name
