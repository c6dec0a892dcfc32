"""What numba refuses runs as plain Python, and says so once."""

import re
import warnings

import numpy as np
from broken_cases import JOBS, PAIR, both_ways, needs_numba, policy_of
from shared.running import in_log_order
from shared.strategies import workload

import harness
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler
from harness.policy_api.compiled_policies import PlainPython


def late_score(job, clock):
    table = {name: [object()] for name in ("a", "b")}
    return -job.submit + len(table)


def told(caught):
    return [str(warning.message) for warning in caught if issubclass(warning.category, PlainPython)]


@needs_numba
def test_a_policy_that_numba_refuses_runs_as_plain_python_and_says_so_once(run):
    policy = policy_of("order", late_score, name="object-minded")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcomes = [run(workload(JOBS), PAIR, order=policy) for _ in range(2)]
    (message,) = told(caught)
    assert "'object-minded'" in message
    assert "order_queue" in message
    reason = message.split("because numba refuses it: ")[1]
    assert re.search("[a-z]{4}", reason)
    for outcome in outcomes:
        assert outcome.plain == {"order_queue": "object-minded"}
        expected = run(workload(JOBS), PAIR, order="lcfs")
        assert in_log_order(outcome, "start").tolist() == in_log_order(expected, "start").tolist()


@needs_numba
def test_a_policy_that_says_it_needs_python_is_believed_silently(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = run(workload(JOBS), PAIR, order=policy_of("order", late_score, name="needs-python", compiled=False))
    assert told(caught) == []
    assert outcome.plain == {"order_queue": "needs-python"}


def test_compiled_policies_do_not_count_as_plain(run):
    assert run(workload(JOBS), PAIR).plain == {}


def parameters_seen(state, whole=2, number=0.5, yes=True, word="b"):
    if whole == 3 and number == 0.25 and not yes and word == 1:
        for job in harness.waiting(state):
            if harness.fits(state, job):
                harness.start(state, job)


@both_ways
def test_parameters_arrive_as_the_kinds_of_their_defaults(plain):
    policy = harness.Start("kinds", parameters_seen, choices={"word": ("a", "b")})
    policies = Plugins(extra=[policy]).policies
    chosen = Scheduler(start="kinds(whole=3, number=0.25, yes=false, word=b)", energy="none").choose(policies)
    from harness.engine.simulate import simulate

    assert np.isfinite(simulate(workload(JOBS), PAIR, chosen, plain=plain).jobs.end).all()
