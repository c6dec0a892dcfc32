"""Forecasts are corrected by what came of earlier ones, as far as that is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.forecasting.correction import ADDED, Correction, calibrated, quantile, with_intervals
from harness.forecasting.forecast_evaluation import evaluated
from harness.forecasting.starts import forecast_starts

HOUR = 3600.0


@given(values=st.lists(st.floats(-5, 5), min_size=1, max_size=30), share=st.sampled_from((0.1, 0.5, 0.9)))
def test_a_quantile_of_known_numbers_is_one_that_so_many_do_not_exceed(values, share):
    found = quantile(np.array(values), np.ones(len(values), dtype=bool), share)
    ordered = sorted(values)
    assert found == ordered[max(0, int(np.ceil(share * len(values) - 1e-9)) - 1)]


@given(
    values=st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30),
    share=st.sampled_from((0.1, 0.5, 0.9)),
)
def test_who_still_waits_makes_no_quantile_smaller(values, share):
    """Beside the same without those that are known only to be larger than so much; and it is a known number."""
    numbers, known = (np.array(column) for column in zip(*values, strict=True))
    numbers = numbers.astype(float)
    found = quantile(numbers, known, share)
    if not known.any():
        assert found == 0
        return
    assert found in numbers[known]
    assert found >= quantile(numbers[known], np.ones(known.sum(), dtype=bool), share)


def test_kaplan_and_meier_by_hand():
    """Of four, one ends at 1, one is lost at 2, one ends at 3, one at 4: a quarter, then half of what is left."""
    numbers, known = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, True])
    assert [quantile(numbers, known, share) for share in (0.25, 0.26, 0.62, 0.63, 1.0)] == [1, 3, 3, 4, 4]


def test_a_machine_that_is_twice_as_late_is_found_out():
    told = np.linspace(0, 10 * HOUR, 200)
    learned = Correction(told, 2 * (told + ADDED) - ADDED, np.ones(200, dtype=bool))
    low, high = learned.interval(np.array([HOUR]), 0.8)
    assert low == HOUR  # the forecast itself is always among what is told
    assert high == pytest.approx(2 * (HOUR + ADDED) - ADDED)


def test_intervals_are_learned_from_forecasts_of_about_the_same_lead_time_if_there_are_enough():
    told = np.repeat([HOUR / 2, 20 * HOUR], 60)
    seen = np.concatenate([np.full(60, 5 * HOUR), np.full(60, 20 * HOUR)])
    learned = Correction(told, seen, np.ones(120, dtype=bool))
    assert [end.tolist() for end in learned.interval(np.array([HOUR / 2, 20 * HOUR]), 0.8)] == [
        [HOUR / 2, 20 * HOUR],
        pytest.approx([5 * HOUR, 20 * HOUR]),
    ]
    few = Correction(told[30:90], seen[30:90], np.ones(60, dtype=bool))
    low, high = few.interval(np.array([20 * HOUR]), 0.8)
    assert high > 100 * HOUR
    assert low == 20 * HOUR


def rows(now, forecast, lead, left=None):
    left = lead if left is None else left
    return pd.DataFrame({"now": now, "forecast": forecast, "lead": lead, "left": left, "low": 0.0, "high": 0.0})


def test_only_what_is_known_by_then_is_learned():
    """What came of a forecast later than the moment at which it is used changes nothing."""
    before = rows([0.0] * 60, [600.0] * 60, np.linspace(600, 9000, 60))
    known = before["lead"] <= 4000.0
    other = before.assign(lead=before["lead"].where(known, 1e9), left=before["left"].where(known, 1e9))
    gone = before.assign(lead=before["lead"].where(known), left=before["left"].where(known, 1e8))
    use = rows([4000.0] * 2, [600.0, 0.0], [1.0, 2.0])
    found = [with_intervals(pd.concat([one, use]), 0.8, 1) for one in (before, other, gone)]
    for one in found[1:]:
        pd.testing.assert_frame_equal(found[0], one)
    assert len(found[0]) == 2


@pytest.fixture(scope="module")
def log():
    """A log of a machine that decides as is assumed, but that every job starts an hour later than it could."""
    plain = harness.lublin(jobs=1500, procs=32, seed=3)
    frame = harness.simulate(plain, 32).frame
    jobs = plain.jobs.assign(wait=frame["wait"] + HOUR, user=1)
    return harness.log_from_frame(jobs, "late", procs=32)


def test_a_calibrated_forecast_knows_of_the_machine_that_it_is_late(log):
    now = float(log.jobs["submit"].quantile(0.8))
    found = forecast_starts(harness.at_instant(log, now), repetitions=3, arrivals="none")
    better = calibrated(found, 12, repetitions=3, arrivals="none")
    assert better.table["median"].tolist() == found.table["median"].tolist()
    assert (better.table["high"] > found.table["high"] + HOUR / 6).all()
    assert (better.table["low"] <= better.table["median"]).all()
    assert better.remarks[0].startswith("calibrated with")


def test_nothing_that_happens_later_changes_what_is_learned(log):
    now = float(log.jobs["submit"].quantile(0.5))
    jobs = log.jobs.copy()
    start = jobs["submit"] + jobs["wait"]
    later = jobs["submit"] > now
    jobs.loc[~later & (start >= now), "wait"] += 777
    jobs.loc[~later & (start + jobs["run"] > now), "run"] += 99
    jobs.loc[later, ["procs", "run"]] = 1
    other = harness.log_from_frame(jobs, "late", procs=32)
    told = []
    for one in (log, other):
        found = forecast_starts(harness.at_instant(one, now), repetitions=2, arrivals="none")
        told.append(calibrated(found, 6, repetitions=2, arrivals="none").table)
    pd.testing.assert_frame_equal(*told)


def test_there_must_be_something_to_learn_from(log):
    first = log.jobs["submit"].min() + 1.0
    jobs = log.jobs[log.jobs["submit"] <= first].assign(submit=0, wait=10, procs=32)
    few = harness.log_from_frame(pd.concat([jobs, jobs]), "few", procs=32)
    found = forecast_starts(harness.at_instant(few, 5.0), repetitions=2)
    with pytest.raises(HarnessError, match="expected a longer log, or no --calibrate"):
        calibrated(found, 3, repetitions=2)


def test_what_is_judged_says_who_left_without_a_start(log):
    jobs = log.jobs.assign(status=1)
    chosen = jobs.index[jobs["wait"] > HOUR][50]
    jobs.loc[chosen, ["run", "status"]] = [0, 5]
    now = float(jobs.loc[chosen, "submit"]) + 1.0
    (found,) = evaluated(harness.log_from_frame(jobs, "one", procs=32), [now], harness.Scheduler(), repetitions=2)
    own = found[found["job"] == jobs.loc[chosen, "job"]].iloc[0]
    assert np.isnan(own["lead"])
    assert own["left"] == jobs.loc[chosen, "wait"] - 1.0
