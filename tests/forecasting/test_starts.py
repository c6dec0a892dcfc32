"""When waiting jobs will start: by what is known at the instant, and by nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.forecasting.arrivals import WEEK, Arrivals, with_history
from harness.forecasting.forecast_evaluation import as_similar, errors, evaluated, ratio
from harness.forecasting.starts import forecast_starts, ranks
from harness.forecasting.usage import TOGETHER, Usage

PROCS = 6


def log_of(rows, procs=PROCS):
    """A log of (submit, wait, run, procs, limit, user)."""
    names = ("submit", "wait", "run", "procs", "estimate", "user")
    frame = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return harness.log_from_frame(frame.assign(status=1), "small", procs=procs)


#: Submit, wait, run, procs, limit, user; some run for longer than their limit.
ROWS = st.tuples(
    st.integers(0, 60),
    st.integers(0, 40),
    st.integers(1, 40),
    st.integers(1, PROCS),
    st.integers(1, 40),
    st.integers(1, 2),
)


def told(log, now, **how):
    """What is forecast, or why nothing is."""
    try:
        found = forecast_starts(harness.at_instant(log, now), repetitions=3, **how)
    except HarnessError as error:
        return str(error)
    return found.table.to_dict(), found.starts.tolist(), found.remarks


@settings(max_examples=60)
@given(
    rows=st.lists(ROWS, min_size=2, max_size=14),
    now=st.integers(0, 100),
    other=st.lists(ROWS, min_size=14, max_size=14),
)
def test_nothing_that_happens_later_changes_a_forecast(rows, now, other):
    """Jobs of later, starts of those who wait, and runtimes of those who run: whatever they are."""
    changed = []
    for (submit, wait, run, procs, limit, user), (_, more, longer, *else_) in zip(rows, other, strict=False):
        row = (submit, wait, run, procs, limit, user)
        if submit > now:
            row = (now + 1 + more, more, longer, *else_)
        elif submit + wait >= now:
            row = (submit, now - submit + more, longer, procs, limit, user)
        elif submit + wait + run > now:
            row = (submit, wait, now - submit - wait + longer, procs, limit, user)
        changed.append(row)
    assert told(log_of(rows), now) == told(log_of(changed), now)


@settings(max_examples=40)
@given(rows=st.lists(ROWS, min_size=4, max_size=12), place=st.integers(0, 99), part=st.floats(0, 0.99))
def test_jobs_that_take_their_limits_start_as_in_the_run_from_there(rows, place, part):
    """Where all have used their limits up, there is one course of things: the state continued."""
    first, wide = (0, 0, 1, 1, 1, 1), (1, 0, 30, PROCS, 30, 1)
    late = [(2 + submit, 0, limit, procs, limit, user) for submit, _, _, procs, limit, user in rows]
    log = log_of([first, wide, *late])
    frame = harness.simulate(log).frame
    log = harness.log_from_frame(log.jobs.assign(wait=frame["wait"]), "small", procs=PROCS)
    waited = np.flatnonzero(frame["wait"] > 0)
    assume(len(waited))
    chosen = waited[place % len(waited)]
    now = np.floor(frame["submit"][chosen] + part * frame["wait"][chosen])
    state = harness.at_instant(log, float(now))
    found = forecast_starts(state, arrivals="none", repetitions=2)
    starts = harness.simulate(state.workload()).frame["start"]
    assert found.starts.tolist() == 2 * [starts[~state.running].tolist()]


@settings(max_examples=60)
@given(
    rows=st.lists(ROWS, max_size=30),
    jobs=st.lists(st.tuples(st.integers(-1, 3), st.integers(1, 50), st.integers(0, 80)), min_size=1, max_size=6),
)
def test_runtimes_are_longer_than_what_is_done_and_within_the_limit(rows, jobs):
    past = log_of(rows).jobs if rows else log_of([(0, 0, 1, 1, 1, 1)]).jobs.iloc[:0]
    user, limit, elapsed = (np.array(column, dtype=float) for column in zip(*jobs, strict=True))
    drawn = Usage(past).runtimes(user.astype(int), limit, elapsed, np.random.default_rng(0), 20)
    assert (drawn > elapsed).all()
    assert (drawn == np.floor(drawn)).all()
    assert (drawn <= limit)[:, elapsed < limit].all()


def test_runtimes_are_those_of_the_narrowest_class_that_suffices():
    same, whose, others = (
        [(k, 0, run, 1, limit, user) for k in range(20)] for run, limit, user in ((5, 10, 1), (50, 200, 1), (1, 10, 2))
    )
    usage = Usage(log_of([*others, *whose, *same]).jobs)
    ask = lambda user, limit, done: set(  # noqa: E731
        usage.runtimes(np.array([user]), np.array([limit]), np.array([done]), np.random.default_rng(1), 30).ravel()
    )
    assert ask(1, 10.0, 0.0) == {5}  # user and limit
    assert ask(1, 400.0, 0.0) == {100, 200}  # user: quarters and halves
    assert ask(9, 9.0, 0.0) == {1, 5}  # limits of that size
    assert ask(1, 10.0, 4.0) == {5}
    assert ask(1, 10.0, 5.0) <= {6, 7, 8, 9, 10}  # nobody has taken that long


def test_jobs_of_one_user_are_drawn_together():
    past = log_of([(k, 0, 1 + k, 1, 100, 1) for k in range(60)]).jobs
    drawn = Usage(past).runtimes(np.array([1, 1]), np.full(2, 100.0), np.zeros(2), np.random.default_rng(0), 400)
    apart = np.abs(drawn[:, 0] - drawn[:, 1])
    assert (np.minimum(apart, 60 - apart) < TOGETHER).all()
    assert len(np.unique(drawn[:, 0])) == 60


@given(count=st.integers(1, 60), level=st.sampled_from((0.5, 0.8, 0.9)))
def test_an_interval_holds_one_more_of_the_same_kind_as_often_as_it_says(count, level):
    """Among count + 1 exchangeable numbers each place of the last one is as likely as any other."""
    low, middle, high = ranks(count, level)
    assert 0 <= low <= middle <= high < count
    held = (high - low) / (count + 1)
    enough = (1 - level) / 2 * (count + 1) >= 1 - 1e-9
    assert held >= level - 1e-9 if enough else (low, high) == (0, count - 1)
    assert held <= level + 2 / (count + 1) + 1e-9 or not enough


def test_who_comes_later_is_who_came_a_week_before():
    day = 86400
    rows = [(k * day, 0, 100, 1, 200, 1) for k in range(17)] + [(16 * day, 10, 100, 6, 200, 1)]
    state = harness.at_instant(log_of(rows), 16 * day + 5)
    later = Arrivals(state, Usage(state.past), "weeks", np.random.default_rng(0))
    assert later.weeks == 2
    for seed in range(5):
        jobs, moved = later.drawn(np.random.default_rng(seed))
        submit = jobs.jobs["submit"] + moved
        assert moved in (WEEK, 2 * WEEK)
        assert ((submit > state.now) & (submit <= state.now + WEEK)).all()
        assert len(jobs) == (8 if moved == WEEK else 7)  # the other one was submitted within a week
    assert Arrivals(state, Usage(state.past), "none", np.random.default_rng(0)).drawn(np.random.default_rng(0)) is None


def test_a_history_from_another_file_ends_before():
    history = log_of([(k, 1, 10, 1, 20, 1) for k in range(30)])
    state = harness.at_instant(log_of([(0, 0, 50, 6, 60, 1), (5, 60, 5, 1, 60, 2)]), 20)
    longer = with_history(state, history)
    ended = longer.past[longer.past["run"] > 0]
    assert len(ended) == 30
    assert (ended["submit"] + ended["wait"] + ended["run"] <= state.now).all()
    assert not set(ended["user"]) & {1, 2}
    assert forecast_starts(longer, repetitions=2).table["job"].tolist() == ["2"]


def test_who_does_not_fit_is_left_out_of_those_who_run_and_who_never_fits_never_starts():
    rows = [(0, 0, 50, 4, 60, 1), (1, 0, 50, 4, 60, 1), (2, 90, 5, 2, 60, 2), (3, 90, 5, 9, 60, 2)]
    found = forecast_starts(harness.at_instant(log_of(rows), 20), repetitions=2)
    assert found.table[["job", "median"]].to_numpy().tolist() == [["3", 0.0], ["4", np.inf]]
    assert "1 running jobs left out: earlier ones fill the machine" in found.remarks
    assert any("jobs wait although" in remark for remark in found.remarks)


def test_the_wait_of_the_last_similar_job():
    rows = [
        (0, 7, 1, 1, 16, 1),
        (0, 9, 1, 1, 16, 2),
        (1, 30, 1, 4, 16, 2),
        (15, 99, 1, 1, 17, 1),  # as the first
        (15, 99, 1, 1, 16, 3),  # width and limit of the second, which started later
        (15, 99, 1, 4, 900, 3),  # nobody like it: the last who started
        (39, 99, 1, 4, 16, 2),
    ]
    state = harness.at_instant(log_of(rows), 40)
    assert as_similar(state).tolist() == [0, 0, 5, 29]


def test_errors_are_counted_by_lead_time():
    rows = pd.DataFrame(
        {"lead": [1800.0, 7200.0], "forecast": [900.0, 0.0], "similar": [0.0, 7200.0], "at_once": [0.0, 0.0],
         "low": [0.0, 0.0], "high": [1800.0, 60.0], "now": [1.0, 1.0]}
    )  # fmt: skip
    first, second, both = errors(rows)
    assert (first.below, first.jobs, first.means["forecast"], first.covered, first.width) == (3600, 1, 900, 1, 1800)
    assert (second.medians["similar"], second.covered) == (0, 0)
    assert (both.jobs, both.moments, both.means["at_once"], both.covered) == (2, 1, 4500, 0.5)
    assert ratio(rows, "similar") == (4.5, 4.5, 4.5)


def test_what_is_judged_is_who_waited_and_started():
    rows = [(k, 0, 10, 1, 20, 1) for k in range(20)] + [(30, 0, 40, 6, 40, 2), (35, 35, 5, 6, 40, 2)]
    (found,) = evaluated(log_of(rows), [40.0, 500.0], harness.Scheduler(), repetitions=4)
    assert found[["job", "lead", "at_once", "now"]].to_numpy().tolist() == [[22, 30.0, 0.0, 40.0]]


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"repetitions": 0}, "repetitions 0: expected at least 1"),
        ({"level": 1.0}, "level 1: expected a share"),
        ({"arrivals": "week"}, "did you mean 'weeks'"),
        ({"scheduler": harness.Scheduler(hold="limits(user_jobs=1)")}, "expected no hold"),
    ],
)
def test_what_cannot_be_forecast(how, complaint):
    state = harness.at_instant(log_of([(0, 0, 50, 6, 60, 1), (5, 60, 5, 1, 60, 2)]), 20)
    with pytest.raises(HarnessError, match=complaint):
        forecast_starts(state, **how)


def test_somebody_must_wait():
    with pytest.raises(HarnessError, match="no job waits then"):
        forecast_starts(harness.at_instant(log_of([(0, 0, 50, 6, 60, 1)]), 20))
