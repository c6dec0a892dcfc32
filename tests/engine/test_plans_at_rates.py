"""Plans at rates: what is decided depends on what is so, not on how the sums of the two clocks were rounded."""

import dataclasses
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
import slow
from shared.strategies import seeded_rows, workload

from harness import Scheduler, prepare, read_workload, simulate
from harness.engine.time_comparison import ROUNDING, later

#: Whose decisions are the same when all work is divided by one number.
ORDERS = ("fcfs", "lcfs", "spf", "lpf", "sjf-width", "saf")

STARTS = [start for start in slow.STARTS if start != "lull"]  # that one is refused without a signal

RATINGS = {
    "fixed(rate=0.7)": partial(slow.fixed, rate=Fraction(7, 10)),
    "fixed(rate=1.1)": partial(slow.fixed, rate=Fraction(11, 10)),
    "coin(up=1, down=1, slow=0.7, fast=0.9)": partial(slow.coin, slow=Fraction(7, 10), fast=Fraction(9, 10)),
    "hysteresis(low=1, high=3, slow=0.7)": partial(
        slow.hysteresis, low=1, high=3, slow=Fraction(7, 10), fast=Fraction(1)
    ),
    # No work that is left at an instant is exactly as much: rounding would tip the switch itself, not a plan.
    "workload(low=7.0123, high=19.0123, slow=0.7)": partial(
        slow.by_workload,
        low=Fraction(70123, 10000),
        high=Fraction(190123, 10000),
        slow=Fraction(7, 10),
        fast=Fraction(1),
    ),
}


def starts_and_ends(made, procs, order, start, rate):
    frame = simulate(workload(made), procs, Scheduler(order=order, start=start, rate=rate, energy="none")).frame
    return frame[["start", "end"]].to_numpy()


def test_later_is_by_more_than_rounding():
    assert not later(0.1 + 0.2, 0.3)
    assert not later(1e8 + 1e-7, 1e8)
    assert later(1e8 + 1e-4, 1e8)
    assert later(1e-300, 0.0)
    assert not later(np.inf, np.inf)
    assert later(np.inf, 1e300)
    assert ROUNDING < 1e-13


@pytest.mark.parametrize("rate", RATINGS)
@pytest.mark.parametrize("start", STARTS)
def test_decides_as_in_numbers_that_are_not_rounded(start, rate):
    """Small cases, in which nearly everything is tied with something. Scores are not plans: where jobs are preempted
    by what remains of them, equal remains may differ by rounding."""
    orders = [order for order in ORDERS if not ("preempt" in start and order in ("spf", "lpf"))]
    for seed in range(12):
        order = orders[seed % len(orders)]
        made, procs = seeded_rows(1000 * list(slow.STARTS).index(start) + seed, cancellations="preempt" not in start)
        exact = slow.simulate(made, procs, order, start, rating=RATINGS[rate])
        expected = np.array([[np.nan if time is None else float(time) for time in row[:2]] for row in exact])
        found = starts_and_ends(made, procs, order, start, rate)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6, err_msg=f"seed {seed}: {procs}, {order}, {made}")


def test_a_job_that_fits_starts_now():
    """Four of eight processors are free, nobody waits: its reservation is for now, and not for one rounding later."""
    made = [(0, 4, 100, 100), *((3 * k + 1, 3, 1, 1) for k in range(30))]
    for start in ("easy", "easy(reservations=2)", "conservative", "conservative(replan=true)"):
        found = starts_and_ends(made, 8, "fcfs", start, "fixed(rate=0.7)")[:, 0]
        assert found.tolist() == [submit for submit, *_ in made]


def waits_at(log, rate, work, order, start):
    jobs = log.jobs.assign(work=work * log.jobs["work"], estimate=work * log.jobs["estimate"])
    scheduler = Scheduler(order=order, start=start, rate=f"fixed(rate={rate})", energy="none")
    return simulate(dataclasses.replace(log, jobs=jobs), 100, scheduler).frame["start"].to_numpy()


@pytest.fixture
def kth(data):
    return first_jobs()


@cache
def first_jobs():
    return prepare(read_workload("KTH-SP2"), jobs=2000)


@pytest.mark.data
@pytest.mark.parametrize("rate", [0.7, 0.85, 0.9])
@pytest.mark.parametrize("start", STARTS)
def test_a_rate_is_the_same_as_divided_runtimes(kth, start, rate):
    slowed, divided = waits_at(kth, rate, 1, "fcfs", start), waits_at(kth, 1, 1 / rate, "fcfs", start)
    assert np.count_nonzero(np.abs(slowed - divided) > 1e-3) == 0


@pytest.mark.data
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("start", STARTS)
def test_a_rate_is_the_same_as_whole_runtimes(kth, start, order):
    """Scores of both are whole, and as often equal: submissions times ten, runtimes times 10 r at rate r."""
    tens = (3, 7, 9, 17)[(list(slow.STARTS).index(start) + ORDERS.index(order)) % 4]
    later_on = dataclasses.replace(kth, jobs=kth.jobs.assign(submit=10 * kth.jobs["submit"]))
    slowed, whole = waits_at(later_on, tens / 10, tens, order, start), waits_at(later_on, 1, 10, order, start)
    assert np.count_nonzero(np.abs(slowed - whole) > 1e-3) == 0
