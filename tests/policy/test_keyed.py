"""Memory by key: a record of a policy's own for each job, user, group, queue or node."""

import numpy as np
import pytest
from shared.strategies import workload

import harness
from harness.errors import HarnessError
from harness.policy.kinds import Order, Start
from harness.policy.per_key_memory import sizes


def counts(job, clock, memory, per_user, per_job, per_queue, weight=1.0):
    """Fewest earlier jobs of the user first; what the other records hold is only looked at."""
    memory[0] += 1.0
    mine = per_user[job.user]
    mine.jobs += weight
    per_job[job.index].seen += 1.0
    per_queue[job.queue].last = per_job[job.index].seen
    return mine.jobs


KEPT = (2, harness.per_user(("jobs", "unused")), harness.per_job(("seen",)), harness.per_queue(("last",)))
USERS = [3, 3, 3, -1, 0, 3, 0, -1]
ROWS = [(0, 1, 9, 9, {"user": 7})] + [(1, 1, 2, 2, {"user": user}) for user in USERS]


@pytest.fixture
def registered():
    offered = [
        Order("counts", counts, memory=KEPT),
        Order("counts-in-python", counts, memory=KEPT, compiled=False),
    ]
    for policy in offered:
        harness.register(policy)
    yield
    for policy in offered:
        harness.unregister(policy)


@pytest.mark.parametrize("order", ["counts", "counts-in-python", "counts(weight=2)"])
def test_records_are_kept_apart_by_key_and_begin_with_zeros(registered, order):
    for _ in range(2):  # nothing is left of the first run
        run = harness.simulate(workload(ROWS), 1, harness.Scheduler(order=order, start="none"))
        turn = dict.fromkeys(USERS, 0)
        expected = []
        for place, user in enumerate(USERS, 1):
            turn[user] += 1
            expected.append((turn[user], place))
        assert [place for _, place in sorted(expected)] == list(np.argsort(run.frame["start"][1:]) + 1)


def test_each_key_has_as_many_records_as_the_workload_has_and_one_for_the_unknown():
    jobs = {name: np.array(values) for name, values in {"user": [4, -1], "group": [-1, -1], "queue": [0, 1]}.items()}

    class Jobs(dict):
        def __len__(self):
            return 2

    assert sizes(Jobs(jobs), 3) == {"job": 2, "node": 3, "user": 6, "group": 1, "queue": 3}


def averages(job, clock, per_user):
    """The most and the mean of what the user asked for so far, in fields that records of numpy have methods for."""
    mine = per_user[job.user]
    mine.size += 1.0
    mine.max = max(mine.max, job.estimate)
    mine.mean += (job.estimate - mine.mean) / mine.size
    mine.dtype = mine.setfield = mine.mean
    return mine.max + mine.dtype


def test_fields_may_be_called_as_what_records_of_numpy_have():
    memory = harness.per_user(("mean", "max", "size", "dtype", "setfield"))
    harness.register(policy := Order("averages", averages, memory=memory))
    rows = [(0, 1, 9, 9, {"user": 7}), *[(1, 1, 2, time, {"user": time % 2}) for time in (9, 2, 8, 2, 3, 30, 5)]]
    try:
        starts = [
            harness.simulate(workload(rows), 1, harness.Scheduler(order="averages", start="none"), plain=plain).frame[
                "start"
            ]
            for plain in (False, True)
        ]
    finally:
        harness.unregister(policy)
    scores = [9 + 9, 2 + 2, 8 + 5, 8 + 4, 9 + 6, 30 + 10.5, 9 + 17 / 3]
    assert list(np.argsort(starts[0][1:])) == list(np.argsort(scores))
    assert list(starts[0]) == list(starts[1])


def beyond(job, clock, per_user):
    return per_user[job.user + 3].jobs


@pytest.mark.parametrize("compiled", [True, False])
def test_another_users_record_that_is_not_there_stops_the_run(compiled):
    harness.register(policy := Order("beyond", beyond, memory=harness.per_user(("jobs",)), compiled=compiled))
    try:
        with pytest.raises(HarnessError, match="used an index that one of its arrays does not have"):
            harness.simulate(workload(ROWS), 1, harness.Scheduler(order="beyond"))
    finally:
        harness.unregister(policy)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (0, "names per_user, and its memory has no such part"),
        (harness.per_queue(("jobs",)), "names per_user, and its memory has no such part"),
        ((1, 2, harness.per_user(("jobs",))), "expected a number of floats, harness.per_user"),
        (-1, "expected a number of floats"),
        ("jobs", "expected a number of floats"),
        ((harness.per_user(("a",)), harness.per_user(("b",))), "names a key twice"),
    ],
)
def test_declarations_that_cannot_be_are_refused(declared, words):
    with pytest.raises(HarnessError, match=words):
        Order("beyond", beyond, memory=declared)


@pytest.mark.parametrize("fields", [(), ("a", "a"), ("a b",), ("for",), (3,)])
def test_records_need_names(fields):
    with pytest.raises(HarnessError, match="expected different names of fields"):
        harness.per_user(fields)


def test_a_start_policy_keeps_records_of_nodes_and_groups():
    def once(state, per_node, per_group):
        per_node[0].asked += 1.0
        if len(per_node) != 2 or state.clock.departed > 0:
            for place in range(len(per_group)):
                per_group[place].begun = 0.0
        for job in harness.waiting(state):
            if harness.fits(state, job) and per_group[state.jobs[job].group].begun < 1.0:
                per_group[state.jobs[job].group].begun += harness.start(state, job)

    memory = (harness.per_node(("asked",)), harness.per_group(("begun",)))
    harness.register(policy := Start("once", once, memory=memory))
    try:
        run = harness.simulate(workload([(0, 1, 2, 2), (0, 1, 3, 3), (0, 1, 1, 1)]), 2, harness.Scheduler(start="once"))
    finally:
        harness.unregister(policy)
    assert list(run.frame["start"]) == [0, 2, 5]
