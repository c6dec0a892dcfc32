"""Tests of `reads=`: what policies declare to read, the check of it, and the work that the engine leaves out."""

import pytest
from shared.running import choose

import harness
from harness.engine.policy_analysis import draws_by_load, falls_unseen, judges_by_stock
from harness.errors import HarnessError
from harness.policy.reads import all_names, may_read
from harness.policy.registry import plugins
from harness.policy.spec import Choice
from harness.policy_api.policy_diagnostics import MisuseError, refuse_misuse
from harness.testing import PolicyFailure, check_policy


def by_user(job, clock):
    """Serve by the number of the user."""
    return job.user


def peeking(state, job):
    """Take the first nodes, and look at their status."""
    if state.nodes[0].status != harness.AWAKE:
        return False
    harness.take(state, job, harness.next_free(state, -1), state.jobs[job].procs)
    return True


def in_order(state):
    """Start every job that fits, and give up at the first that does not."""
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            return


def by_class(state):
    """Look which nodes are alike."""
    for node in harness.unlike(state):
        harness.count_alike(state, node)


def draw(node, clock):
    """Draw more at a higher rate."""
    return 10.0 * node.busy * clock.rate


BROKEN = [
    (harness.Order("by-user", by_user, reads=("job.procs",)), "job.user"),
    (harness.Order("by-user", by_user, reads=()), "job.user"),
    (harness.Select("peeking", peeking, reads=("job.procs",)), "node.status"),
    (harness.Energy("draw", draw, reads=("node.busy",)), "clock.rate"),
    (harness.Predict("like", lambda job, user, clock: job.requested / clock.cores, reads=("job",)), "clock.cores"),
    (harness.Hold("column", lambda state, job: state.jobs.submit[job], reads=("clock.now",)), "job.submit"),
]


@pytest.mark.parametrize(("policy", "name"), BROKEN, ids=lambda one: getattr(one, "hook", one))
def test_a_policy_that_declares_too_little_is_refused_with_one_sentence(policy, name):
    sentence = f"it reads {name}, which its reads= does not name: expected '{name}' there, or no reads="
    with pytest.raises(PolicyFailure, match=sentence):
        check_policy(policy, checks=["reads"], examples=5)


@pytest.mark.parametrize(
    ("policy", "verb", "name"),
    [
        (harness.Start("in-order", in_order, reads=("job",)), "waiting", "queue"),
        (harness.Sleep("by-class", by_class, reads=("node",)), "unlike", "node_classes"),
    ],
)
def test_a_function_that_reads_more_than_declared_is_refused_before_the_run(policy, verb, name):
    with pytest.raises(MisuseError, match=f"calls harness.{verb}, and its reads= lacks '{name}': expected it there"):
        refuse_misuse(policy)


@pytest.mark.parametrize(
    ("reads", "sentence"),
    [
        ("job", "expected several names"),
        (("job.height",), "there is no 'job.height'; did you mean"),
        (("jobs",), "there is no 'jobs'; did you mean 'job'"),
        ((1,), "expected several names"),
    ],
)
def test_a_declaration_of_what_does_not_exist_is_refused(reads, sentence):
    with pytest.raises(HarnessError, match=sentence):
        harness.Order("odd", by_user, reads=reads)


def test_without_a_declaration_a_policy_may_read_all_that_its_arguments_give():
    order, start = harness.Order("plain", by_user), harness.Start("plain", in_order)
    assert may_read(order, "job.user", "clock.queued")
    assert not may_read(order, "node.status")
    assert not may_read(order, "queue")
    assert all(may_read(start, name) for name in all_names())


def test_every_bundled_policy_declares_what_it_reads():
    offered = [one for known in plugins().policies.values() for one in known.values()]
    assert [one.name for one in offered if one.reads is None] == []


def test_the_engine_leaves_work_out_by_the_declaration_alone():
    """The same function, declared and not."""
    for reads, quick in ((None, False), (("node.busy", "clock.rate"), True), (("node", "clock.rate"), False)):
        energy = harness.Energy("draw", draw, reads=reads)
        assert draws_by_load(Choice(energy, {})) is quick
    for reads, quick in ((None, False), (("node.free",), True), (("node.vacant",), False), (("node",), False)):
        assert judges_by_stock(harness.Prefer("free", lambda node, job: node.free, reads=reads)) is quick
    for reads, quick in ((None, False), (("queue",), True), (("node.status",), False)):
        assert falls_unseen(choose(start=harness.Start("in-order", in_order, reads=reads))) is quick
