"""Jobs that are suspended in place: their memory stays where it is, and so do they."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from requesting_jobs import machine as machine_with_resources
from requesting_jobs import made
from shared.running import choose, in_log_order
from shared.strategies import rows, workload

import harness
from harness import HarnessError, Start
from harness.engine.resources.suspend_in_place import MOST
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform
from harness.testing import check_policy
from harness.workload.events import Events


def urgent(state, most=2, place=True):
    """User 1 first: whoever runs makes room, unless that has happened to it so often. `place`: and stays in place."""
    for job in harness.waiting(state):
        if state.jobs[job].user != 1 or harness.fits(state, job):
            continue
        for other in harness.running(state).copy():
            record = state.jobs[other]
            if record.user != 1 and record.preemptions < most:
                harness.suspend(state, other, 0.0, place)
                harness.call_again(state, state.clock.now + 1.0)
        if harness.fits(state, job):
            harness.start(state, job)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


URGENT = Start("urgent", urgent, preemptive=True)
both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


def machine(*nodes):
    """The platform of (cores, memory)."""
    return Platform("small", tuple(NodeType(1, cores, float(cores), memory) for cores, memory in nodes))


def run(jobs, nodes, values=(), events=None, plain=False):
    chosen = choose(start=URGENT)
    chosen["start"] = harness.Choice(URGENT, {**URGENT.parameters, **dict(values)})
    return simulate(workload(jobs), machine(*nodes), chosen, plain=plain, extras=Extras(events=events))


def starts_and_ends(outcome):
    return [[None if np.isnan(t) else int(t) for t in in_log_order(outcome, field)] for field in ("start", "end")]


# ---------------------------------------------------------------- a slow twin


class Job:
    def __init__(self, place, row):
        self.place, (self.submit, self.procs, self.left, _, more) = place, row
        self.memory, self.user = max(more["memory"], 0), more["user"]
        self.start = self.end = None
        self.suspended, self.held = 0, {}


class Slow:
    """Nodes, who runs on them, and who keeps a place: second by second, every list searched anew."""

    def __init__(self, made, nodes, most):
        self.nodes, self.most = nodes, most
        jobs = [Job(place, row) for place, row in enumerate(made)]
        self.jobs = jobs
        self.coming = [job for job in jobs if sum(self.rooms(job, jobs=())) >= job.procs]
        self.waiting, self.running, self.called = [], [], None

    def rooms(self, job, jobs=None):
        """What it could have of each node."""
        there = self.running + self.waiting if jobs is None else jobs
        found = []
        for node, (cores, memory) in enumerate(self.nodes):
            cores -= sum(other.held.get(node, 0) for other in there if other in self.running) if there else 0
            memory -= sum(other.held.get(node, 0) * other.memory for other in there)
            found.append(int(min(cores, memory // job.memory) if job.memory else cores))
        return found

    def fits(self, job):
        if job.held:
            taken = {node: sum(other.held.get(node, 0) for other in self.running) for node in job.held}
            return all(self.nodes[node][0] - taken[node] >= cores for node, cores in job.held.items())
        return sum(self.rooms(job)) >= job.procs

    def begin(self, job, now):
        if not job.held:
            need = job.procs
            for node, room in enumerate(self.rooms(job)):
                if min(need, room) > 0:
                    job.held[node] = min(need, room)
                    need -= job.held[node]
        self.waiting.remove(job)
        self.running.append(job)
        job.start = now if job.start is None else job.start

    def decide(self, now):
        suspended = []
        queue = sorted(self.waiting, key=lambda job: (job.submit, job.place))
        for job in queue:
            if job.user != 1 or self.fits(job):
                continue
            for other in list(self.running):
                if other.user != 1 and other.suspended < self.most:
                    other.suspended += 1
                    self.running.remove(other)
                    self.waiting.append(other)  # where its memory counts
                    suspended.append(other)
            if self.fits(job):
                self.begin(job, now)
        for job in queue:
            if job in self.waiting and self.fits(job):
                self.begin(job, now)
        self.called = now + 1 if suspended else None

    def simulate(self):
        now = 0
        while self.coming or self.waiting or self.running:
            ended = [job for job in self.running if job.left == 0]
            for job in ended:
                self.running.remove(job)
                job.end, job.held = now, {}
            came = [job for job in self.coming if job.submit == now]
            self.coming = [job for job in self.coming if job.submit > now]
            self.waiting += came
            if ended or came or self.called == now:
                self.decide(now)
            now += 1
            for job in self.running:
                job.left -= 1
        return [[job.start for job in self.jobs], [job.end for job in self.jobs]]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.lists(st.tuples(st.integers(1, 3), st.sampled_from((4.0, 6.0, 9.0))), min_size=1, max_size=3))
def test_agrees_with_the_obvious_simulator(data, nodes):
    made = data.draw(rows(sum(cores for cores, _ in nodes), most=9, memory=True))
    users = data.draw(st.lists(st.integers(0, 1), min_size=len(made), max_size=len(made)))
    made = [(*row[:4], {**row[4], "user": user}) for row, user in zip(made, users, strict=True)]
    most = data.draw(st.integers(1, 3))
    outcome = run(made, nodes, {"most": most})
    found, expected = starts_and_ends(outcome), Slow(made, nodes, most).simulate()
    done = [end is not None for end in expected[1]]
    assert [k for k, there in zip(found[0], done, strict=True) if there] == [k for k in expected[0] if k is not None]
    assert [k for k, there in zip(found[1], done, strict=True) if there] == [k for k in expected[1] if k is not None]
    records, clock = outcome.jobs, outcome.clock
    assert (clock.queued, clock.running, clock.free) == (0, 0, clock.cores)
    assert outcome.view.allocation.suspended_in_place == 0
    assert (outcome.view.available.memory[: len(outcome.nodes)] == outcome.nodes.memory).all()
    assert (records.slices == -1).all()


# ---------------------------------------------------------------- by hand

TWO = ((2, 8.0), (2, 8.0))
#: The first job makes room for the second, which takes node 0; from 6 on, node 1 is free, and from 9 on node 0.
GANG = [
    (0, 2, 10, 10, {"user": 0, "memory": 1.0}),
    (0, 2, 6, 6, {"user": 1, "memory": 1.0}),
    (4, 2, 5, 5, {"user": 1, "memory": 1.0}),
]


@both_ways
def test_who_is_suspended_in_place_resumes_on_the_same_nodes(plain):
    stays = run(GANG, TWO, plain=plain)
    goes = run(GANG, TWO, {"place": False}, plain=plain)
    assert starts_and_ends(stays) == [[0, 0, 4], [15, 6, 9]]
    assert starts_and_ends(goes) == [[0, 0, 4], [12, 6, 9]]
    assert in_log_order(stays, "preemptions").tolist() == [1, 0, 0]


@both_ways
def test_its_memory_stays_held(plain):
    """The urgent job needs more memory than the suspended one leaves: it waits for it, having suspended it in vain."""
    hungry = [(0, 2, 10, 10, {"user": 0, "memory": 3.0}), (4, 2, 5, 5, {"user": 1, "memory": 2.0})]
    assert starts_and_ends(run(hungry, [(2, 8.0)], {"most": 1}, plain=plain)) == [[0, 11], [11, 16]]
    freed = starts_and_ends(run(hungry, [(2, 8.0)], {"most": 1, "place": False}, plain=plain))
    assert freed == [[0, 4], [15, 9]]


def happening(*events, **fate):
    return Events(pd.DataFrame(events, columns=["time", "event", "subject"]), **fate)


@pytest.mark.parametrize("requeue", [True, False])
def test_a_node_that_fails_takes_the_place_with_it(requeue):
    """At 5 node 0 fails, on which the suspended job has its place and the urgent one runs: both begin anew, or go."""
    events = happening((5.0, "node-down", 0), (30.0, "node-up", 0), interrupted="requeue" if requeue else "kill")
    outcome = run(GANG, TWO, events=events)
    assert outcome.view.allocation.suspended_in_place == 0
    assert in_log_order(outcome, "slices").tolist() == [-1, -1, -1]
    assert (outcome.view.available.memory[: len(outcome.nodes)] == outcome.nodes.memory).all()
    if requeue:
        assert in_log_order(outcome, "restarts").tolist() == [1, 0, 1]
    else:
        assert in_log_order(outcome, "status").tolist() == [harness.KILLED, harness.COMPLETED, harness.KILLED]


def test_who_is_deleted_gives_its_place_back():
    outcome = run(GANG, TWO, events=happening((5.0, "job-deleted", 1)))
    assert in_log_order(outcome, "status").tolist() == [harness.CANCELLED, harness.COMPLETED, harness.COMPLETED]
    assert outcome.view.allocation.suspended_in_place == 0
    assert (outcome.view.available.memory[: len(outcome.nodes)] == outcome.nodes.memory).all()


@both_ways
@pytest.mark.parametrize(
    ("cores", "first", "second", "third", "expected"),
    [
        # Its GPU stays with it: the third job has to wait for that.
        (2, (2, {"needs_gpu": 1}), (1, 20), (3, {"needs_gpu": 1}), [[0, 4, 30], [30, 24, 33]]),
        # Its licence does not: it has to wait until the third job gives it back.
        (3, (2, {"needs_licence": 1}), (2, 20), (30, {"needs_licence": 1}), [[0, 4, 5], [41, 24, 35]]),
        # It shares its node while it is suspended, and resumes when it has it for itself.
        (4, (2, {"exclusive": 1}), (2, 5), (30, {}), [[0, 4, 5], [41, 9, 35]]),
    ],
    ids=["resources", "licences", "exclusive"],
)
def test_what_it_keeps_and_what_it_gives_back(cores, first, second, third, expected, plain):
    jobs = [
        (0, first[0], 10, 10, {"user": 0, **first[1]}),
        (4, second[0], second[1], second[1], {"user": 1}),
        (5, 1, third[0], third[0], {"user": 0, **third[1]}),
    ]
    platform = machine_with_resources([(cores, 8.0, (0,), 0, 1)], licences=1)
    outcome = simulate(made(jobs), platform, choose(start=URGENT), plain=plain)
    assert starts_and_ends(outcome) == expected


def test_nodes_of_tells_where_its_place_is():
    seen = []

    def watching(state, most=2, place=True):
        urgent(state, most, place)
        waits = [job for job in harness.waiting(state) if state.jobs[job].status == harness.WAITING]
        seen.append([(int(job), list(harness.nodes_of(state, job))) for job in waits])

    start = Start("watching", watching, preemptive=True, compiled=False)
    simulate(workload(GANG), machine(*TWO), choose(start=start))
    assert [(0, [0])] in seen


# ---------------------------------------------------------------- what is refused


make_room = harness.jit(urgent)


def plans(state):
    make_room(state, 2, True)
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING:
            harness.reservation(state, job)


@both_ways
def test_a_plan_for_a_job_that_keeps_its_place_is_refused(plain):
    with pytest.raises(HarnessError, match="planned for job 1, which was suspended in place: only the nodes that keep"):
        simulate(workload(GANG), machine(*TWO), choose(start=Start("plans", plans, preemptive=True)), plain=plain)


def everybody_stays(state):
    for job in harness.running(state).copy():
        harness.suspend(state, job, 0.0, True)
    for job in harness.waiting(state):
        if state.jobs[job].slices < 0 and harness.fits(state, job):
            harness.start(state, job)


def test_there_is_an_end_to_places():
    crowd = [(second, 1, 9, 9) for second in range(MOST + 9)]
    start = Start("stays", everybody_stays, preemptive=True)
    with pytest.raises(HarnessError, match=r"suspended job .* in place, where jobs suspended before"):
        simulate(workload(crowd), machine((1, 99.0)), choose(start=start))


@pytest.mark.slow
def test_such_a_policy_passes_the_checks():
    for check in ("runs", "capacity", "completeness", "switching", "foresight"):
        check_policy(URGENT, checks=[check], examples=5)
