"""A predictor from an object with `predict` and `partial_fit`."""

import math
from functools import partial

import numpy as np
import pytest
from shared.strategies import workload

import harness
from harness.engine.simulate import simulate
from harness.numba_support.fingerprint import fingerprint
from harness.platform.machine import plain
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler
from harness.testing import check_policy

POLICIES = Plugins().policies


class Mean:
    """Predicts a share of the mean of what it has seen; counts how many of it there are."""

    made = 0

    def __init__(self, share=1.0):
        type(self).made += 1
        self.share = share
        self.seen = []

    def partial_fit(self, features, answers):
        (self.last,), (answer,) = features, answers
        assert len(self.last) == 5
        self.seen.append(answer)

    def predict(self, features):
        return np.array([np.log(self.share) + np.mean(self.seen)] * len(features))


#: One after another, so that each is predicted when those before it have ended.
ROWS = [(0, 1, 4, 100, {"user": 1}), (10, 1, 9, 100, {"user": 1}), (20, 1, 4, 5, {"user": 2}), (30, 1, 30, 100)]


def run(make, rows=ROWS, **traits):
    known = {**POLICIES, "predict_runtime": {"learnt": harness.learner("learnt", make)}}
    return simulate(workload(rows), plain(2), Scheduler(predict="learnt", energy="none").choose(known), **traits).jobs


def test_it_learns_from_every_job_that_ended_and_begins_each_run_with_a_new_object():
    for run_number in (1, 2):
        before = Mean.made
        jobs = run(Mean)
        assert Mean.made == before + 1, run_number
        geometric = math.expm1((math.log1p(4) + math.log1p(9)) / 2)
        all_three = math.expm1((2 * math.log1p(4) + math.log1p(9)) / 3)
        expected = [100.0, 4.0, min(geometric, 5.0), all_three]
        assert list(jobs["predicted"]) == pytest.approx(expected)
        assert list(jobs["corrections"]) == [0, 1, 0, 1]  # 4 → 68, 6.7 → 73 s


def test_it_is_told_of_the_request_the_width_the_last_job_the_mean_and_the_hour():
    made = []

    class Kept(Mean):
        def __init__(self):
            super().__init__()
            made.append(self)

    run(Kept, [(3600 * k, 2, work, 100, {"user": 1}) for k, work in enumerate((4, 9, 5))])
    *logarithms, hour = made[0].last
    assert np.expm1(logarithms) == pytest.approx([100, 2, 9, 6.5])
    assert hour == 2.0


def test_a_prediction_that_is_no_number_stops_the_run():
    class Lost(Mean):
        def predict(self, features):
            return [math.nan]

    with pytest.raises(harness.HarnessError, match="says that job 2 takes nan s"):
        run(Lost)


@pytest.mark.slow
def test_checks_pass_where_beliefs_end_between_whole_seconds():
    check_policy(harness.learner("learnt", Mean), checks=["runs", "completeness", "fresh"], examples=5)


def test_what_makes_the_object_tells_predictors_apart():
    half, third = (harness.learner("learnt", partial(Mean, share)).fresh for share in (1 / 2, 1 / 3))
    assert fingerprint(half) == fingerprint(harness.learner("learnt", partial(Mean, 1 / 2)).fresh)
    assert fingerprint(half) != fingerprint(third)
    assert fingerprint(partial(Mean, share=1.0)) != fingerprint(partial(Mean, share=2.0))
