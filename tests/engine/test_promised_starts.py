"""Promises in the profile are kept, listed and compressed as the plain loops over the whole queue would."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import workload

import harness
from harness.engine.plan.count_profile import earlier_fit
from harness.engine.simulate import simulate
from harness.numba_support.memmove import shift
from harness.platform.machine import plain


@harness.jit
def plainly_promise(state, job):
    record = state.jobs[job]
    record.reserved = harness.earliest_fit(state, record.procs, record.left)
    harness.reserve(state, record.procs, record.reserved, record.reserved + record.left)


@harness.jit
def plainly_compress(state):
    for job in harness.waiting(state):
        record = state.jobs[job]
        begin = record.reserved
        if begin >= 0:
            earlier = earlier_fit(state, record.procs, record.left, begin)
            harness.release(state, record.procs, begin, begin + record.left)
            harness.reserve(state, record.procs, earlier, earlier + record.left)
            record.reserved = earlier


@harness.jit
def given_back(state):
    unused = False
    for job in harness.departed(state):
        record = state.jobs[job]
        completed = record.status == harness.COMPLETED or record.status == harness.KILLED
        begin = state.clock.virtual if completed else record.reserved
        end = record.planned if completed else begin + record.left
        if (completed or begin >= 0) and begin < end:
            harness.release(state, record.procs, begin, end)
            unused = True
    return unused


def plainly_conservative(state):
    """Conservative backfilling in which everybody is asked at every instant, in so many words."""
    harness.forget_past(state)
    if given_back(state):
        plainly_compress(state)
    for job in harness.waiting(state):
        if state.jobs[job].reserved < 0:
            plainly_promise(state, job)
    soonest = harness.INFINITY
    for job in harness.waiting(state):
        reserved = state.jobs[job].reserved
        if harness.when(state, reserved) > state.clock.now:
            soonest = min(soonest, reserved)
        elif harness.fits(state, job):
            harness.start(state, job)
    if soonest < harness.INFINITY:
        harness.call_again(state, harness.when(state, soonest))


PLAINLY = harness.Start("plainly-conservative", plainly_conservative)


def jobs_of(seed, count, procs, kinds, gap):
    """Jobs of a few kinds, so that many alike wait in rows, and some of no kind; few give up waiting."""
    draw = np.random.default_rng(seed)
    widths, lengths = draw.integers(1, procs + 1, kinds), draw.integers(1, 400, kinds)
    rows, submit = [], 0
    for _ in range(count):
        submit += int(draw.exponential(gap))
        kind = draw.integers(kinds)
        alike = draw.random() < 0.8
        width = int(widths[kind]) if alike else int(draw.integers(1, procs + 1))
        length = int(lengths[kind]) if alike else int(draw.integers(1, 400))
        more = {"cancel": submit + int(draw.integers(1, 500))} if draw.random() < 0.05 else {}
        rows.append((submit, width, int(draw.integers(1, length + 1)), length, more))
    return workload(rows)


def agree(jobs, procs, **parts):
    found = simulate(jobs, plain(procs), choose(start="conservative", **parts))
    expected = simulate(jobs, plain(procs), choose(start=PLAINLY, **parts))
    for field in ("start", "end", "reserved"):
        np.testing.assert_array_equal(found.jobs[field], expected.jobs[field])
    assert found.clock.instants == expected.clock.instants


@pytest.mark.parametrize("order", ["fcfs", "spf", "wfp3", "lcfs"])
@pytest.mark.parametrize("rate", ["full", "fixed(rate=0.7)"])
def test_long_queues_are_compressed_as_if_everybody_were_asked(order, rate):
    for seed, (procs, kinds, gap) in enumerate([(4, 1, 20), (7, 3, 30), (16, 2, 8), (16, 40, 12)]):
        agree(jobs_of(seed, 400, procs, kinds, gap), procs, order=order, rate=rate)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 2**31),
    st.integers(2, 60),
    st.integers(1, 9),
    st.integers(1, 4),
    st.floats(0.5, 60),
    st.sampled_from(["fcfs", "spf", "expansion"]),
)
def test_short_queues_are_compressed_as_if_everybody_were_asked(seed, count, procs, kinds, gap, order):
    agree(jobs_of(seed, count, procs, kinds, gap), procs, order=order)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 8))
def test_entries_are_shifted_where_they_overlap_too(to, since, count):
    numbers = np.arange(20)
    expected = numbers.tolist()
    expected[to : to + count] = expected[since : since + count]
    for made in (shift, compiled_shift()):
        found = numbers.copy()
        made(found, to, since, count)
        assert found.tolist() == expected


def compiled_shift():
    from numba import njit

    return njit(lambda array, to, since, count: shift(array, to, since, count))
