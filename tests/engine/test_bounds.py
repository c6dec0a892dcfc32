"""No plugin reads or writes beyond what it is given, whatever it does with public names; the sentence names it."""

import inspect

import numpy as np
import pytest
from shared.strategies import POWER, workload

import harness
from harness.engine.faults import PolicyError
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform
from harness.policy.kinds import KINDS
from harness.policy.scheduler import Scheduler

PAIR = Platform("pair", (NodeType(2, 2, **POWER),))
JOBS = [(10, 2, 5, 5), (12, 3, 5, 5), (12, 1, 5, 5), (30, 4, 5, 5)]
FAR = (7, 2_000, 10**9, 2**53, -7, -(2**53))

both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


@harness.jit
def serve(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


@harness.jit
def helper(memory, at):
    return memory[at]


def reads_jobs(state, at=0):
    serve(state)
    return state.jobs[at].procs


def reads_nodes(state, at=0):
    serve(state)
    return state.nodes[at].free


def reads_slices(state, at=0):
    serve(state)
    return state.slices[at].node


def reads_a_column(state, at=0):
    serve(state)
    return state.jobs.procs[at]


def reads_a_curve(state, at=0):
    serve(state)
    return state.nodes[0].curve[at + 11 if at > 0 else at - 11]


def reads_the_queue(state, at=0):
    waiting = harness.waiting(state)
    serve(state)
    return waiting[at]


def reads_the_running(state, at=0):
    serve(state)
    return harness.running(state)[at]


def reads_memory(state, memory, at=0):
    serve(state)
    return memory[at]


def writes_memory(state, memory, at=0):
    serve(state)
    memory[at] = 1.0


def reads_memory_in_a_helper(state, memory, at=0):
    serve(state)
    return helper(memory, at)


def reads_dice(state, dice, at=0):
    serve(state)
    return dice[at]


def asks_whether_it_fits(state, at=0):
    serve(state)
    return harness.fits(state, at)


def asks_for_room(state, at=0):
    serve(state)
    return harness.room(state, at, 0)


def asks_for_a_reservation(state, at=0):
    serve(state)
    return harness.reservation(state, at)[0]


def asks_for_power(state, at=0):
    serve(state)
    return harness.power_at(state, at, 1.0)[0]


def starts(state, at=0):
    harness.start(state, at)


def suspends(state, at=0):
    harness.suspend(state, at)


BEYOND = [
    *(reads_jobs, reads_nodes, reads_slices, reads_a_column, reads_a_curve, reads_the_queue, reads_the_running),
    *(reads_memory, writes_memory, reads_memory_in_a_helper, reads_dice, asks_whether_it_fits, asks_for_room),
    *(asks_for_a_reservation, asks_for_power, starts, suspends),
]


def start_policy(function, **traits):
    named = inspect.signature(function).parameters
    return harness.Start(function.__name__, function, memory=2 if "memory" in named else 0, **traits)


def chosen(run, function, at, plain):
    """Run the start policy with this index."""
    from shared.running import choose

    from harness.engine.simulate import simulate
    from harness.policy.spec import Choice

    policy = start_policy(function, preemptive=function is suspends)
    parts = choose()
    parts["start"] = Choice(policy, {"at": at})
    return simulate(workload(JOBS), PAIR, parts, plain=plain)


@both_ways
@pytest.mark.parametrize("function", BEYOND, ids=lambda function: function.__name__)
def test_an_index_that_is_not_there_stops_the_run(run, function, plain):
    for at in FAR:
        with pytest.raises(PolicyError, match=f"'{function.__name__}.*start_jobs.* at 1. s, "):
            chosen(run, function, at, plain)


@both_ways
def test_the_last_entry_is_minus_one_and_what_is_there_is_read(run, plain):
    def reads(state, memory):
        serve(state)
        if state.nodes[-1].cores == 2 and len(state.nodes) == 2 and len(state.nodes[0].curve) == 11:
            memory[-1] = state.jobs[-1].procs
        total = 0
        for node in state.nodes:
            total += node.cores
        for procs in state.jobs.procs[:1]:
            total += procs
        state.jobs[0].reserved = total + memory[1]

    outcome = run(workload(JOBS), PAIR, plain=plain, start=harness.Start("reads", reads, memory=2))
    assert outcome.jobs.reserved[0] == 4 + 2 + 4


def asks_about_nodes_that_are_not_there(state):
    serve(state)
    for at in (2, 10**12, -1, -(10**12), 2**63 - 1, -(2**63)):
        if harness.room(state, 0, at) != 0:
            state.jobs[0].reserved = 1.0
        node = harness.next_free(state, at)
        if node < -1 or node > 1:
            state.jobs[0].reserved = 2.0


def asks_about_loads_that_are_none(state):
    serve(state)
    for busy in (-5, -(10**15), 10**15):
        harness.drawn(state.nodes[0], busy)
        harness.load_share(state.nodes[0], busy)


@both_ways
@pytest.mark.parametrize("function", [asks_about_nodes_that_are_not_there, asks_about_loads_that_are_none])
def test_questions_that_have_an_answer_everywhere(run, function, plain):
    outcome = run(workload(JOBS), PAIR, plain=plain, start=start_policy(function))
    assert (outcome.jobs.reserved == -1).all()


# ---------------------------------------------------------------- writing


def writes_a_node(state):
    serve(state)
    state.nodes[0].free = state.nodes[0].cores


def writes_a_user(state):
    serve(state)
    state.jobs[0].user = 7


@harness.jit
def change(job):
    job.user = 7


def writes_in_a_helper(state):
    serve(state)
    change(state.jobs[0])


def writes_the_clock(state):
    state.clock.free = 1000
    serve(state)


def writes_a_slice(state):
    serve(state)
    state.slices[0].next = 10**9


WRITING = [writes_a_node, writes_a_user, writes_in_a_helper, writes_the_clock, writes_a_slice]


def writes_the_queue(state):
    serve(state)
    for k in range(len(harness.waiting(state))):
        harness.waiting(state)[k] = 10**6


def sorts_the_queue(state):
    serve(state)
    harness.waiting(state).sort()


def fills_the_running(state):
    serve(state)
    harness.running(state).fill(10**6)


def shuffles_the_queue(state):
    serve(state)
    np.random.shuffle(harness.waiting(state))  # noqa: NPY002 - the one that numba knows


def adds_into_the_queue(state):
    serve(state)
    waiting = harness.waiting(state)
    np.add(waiting, 10**6, waiting)


def bends_a_curve(state):
    serve(state)
    state.nodes[0].curve[0] = 5.0


WRITING += [writes_the_queue, sorts_the_queue, fills_the_running, shuffles_the_queue, adds_into_the_queue]
WRITING += [bends_a_curve]


@both_ways
@pytest.mark.filterwarnings("ignore:the policy .* runs as plain Python")
@pytest.mark.parametrize("function", WRITING, ids=lambda function: function.__name__)
def test_what_is_not_the_policys_own_is_not_written(run, function, plain):
    with pytest.raises((PolicyError, ValueError), match=r"changed|read-only") as caught:
        run(workload(JOBS), PAIR, plain=plain, start=start_policy(function))
    assert function.__name__ in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


@both_ways
@pytest.mark.parametrize("hook", sorted(set(KINDS) - {"start_jobs"}))
def test_only_start_policies_write_what_they_reserved(run, hook, plain):
    def order(job, clock):
        job.reserved = 5.0
        return job.submit

    def watts(node, clock):
        node.watts = 5.0
        return 1.0

    def select(state, job):
        state.jobs[job].reserved = 5.0
        return False

    def rate(state):
        for job in harness.waiting(state):
            state.jobs[job].reserved = 5.0
        for job in harness.running(state):
            state.jobs[job].reserved = 5.0
        return 1.0

    def predict(job, user, clock):
        job.reserved = 5.0
        return 1.0

    def hold(state, job):
        state.jobs[job].reserved = 5.0
        return 0.0

    functions = {"order_queue": order, "account_energy": watts, "select_resources": select, "predict_runtime": predict}
    functions |= {"hold_jobs": hold}
    policy = KINDS[hook]("writer", functions.get(hook, rate))
    part = next(part for part, of in Scheduler.HOOKS.items() if of == hook)
    with pytest.raises(PolicyError, match=r"'writer' .* changed '(reserved|watts)' of a record"):
        run(workload(JOBS), PAIR, plain=plain, **({"energy": "cores"} | {part: policy}))


# ---------------------------------------------------------------- verbs of others


def takes(state):
    serve(state)
    harness.take(state, 0, 0, 1)


def puts_to_sleep(state):
    serve(state)
    harness.put_to_sleep(state, 0)


@both_ways
@pytest.mark.parametrize(
    ("function", "words"),
    [(takes, "take, which only policies of select"), (puts_to_sleep, "only policies of set_sleep")],
)
def test_a_verb_of_another_hook_is_refused(run, function, words, plain):
    with pytest.raises(HarnessError, match=f"calls harness.*{words}.* may"):
        run(workload(JOBS), PAIR, plain=plain, start=start_policy(function))


def test_memory_that_is_named_must_be_declared():
    with pytest.raises(HarnessError, match=r"names memory, and it declares none: .*memory=2"):
        harness.Start("forgetful", reads_memory)
