"""A schedule is found to keep its promise by whoever gave it, and to break it where one start is moved."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Scheduler, log_from_frame, prepare, simulate
from harness.errors import HarnessError
from harness.results.guarantee_check import verify
from harness.workload.log import Log

PROCS = 8


def log_of(rows: list[tuple[float, float, float, float, int]]) -> Log:
    """Jobs of submit, wait, run, estimate and procs."""
    frame = pd.DataFrame(rows, columns=["submit", "wait", "run", "estimate", "procs"])
    return log_from_frame(frame, "made")


#: Submit, run, what is requested beyond it, and width.
JOB = st.tuples(st.integers(0, 60), st.integers(1, 30), st.integers(0, 20), st.integers(1, PROCS))
JOBS = st.lists(JOB, min_size=1, max_size=25)


def replayed(jobs: list[tuple[int, int, int, int]], start: str) -> Log:
    submit, run, more, procs = (np.array(column, dtype=float) for column in zip(*jobs, strict=True))
    frame = pd.DataFrame({"submit": submit, "run": run, "estimate": run + more, "procs": procs.astype(int)})
    schedule = simulate(prepare(log_from_frame(frame, "made")), PROCS, Scheduler(start=start))
    return log_from_frame(schedule.frame[["job", "submit", "wait", "run", "estimate", "procs"]], "replayed")


#: Who gives which promises. Without backfilling a job may start later than a reservation would let it.
GIVEN = (("none", ("fcfs", "easy")), ("easy", ("easy",)), ("conservative", ("conservative",)))


@settings(max_examples=60)
@given(JOBS)
def test_who_gives_a_promise_keeps_it(jobs: list[tuple[int, int, int, int]]) -> None:
    for start, promises in GIVEN:
        log = replayed(jobs, start)
        for promise in promises:
            assert verify(log, promise, procs=PROCS).kept, (start, promise)


@settings(max_examples=60)
@given(JOBS, st.integers(1, PROCS))
def test_overcommitment_against_a_slow_twin(jobs: list[tuple[int, int, int, int]], procs: int) -> None:
    rows = [(float(submit), float(more), float(run), float(run), width) for submit, run, more, width in jobs]
    spans = [(submit + wait, submit + wait + run, width) for submit, wait, run, _, width in rows]
    used = {start: sum(w for s, e, w in spans if s <= start < e) for start, _, _ in spans}
    over = [instant for instant, busy in used.items() if busy > procs]
    found = verify(log_of(rows), "fcfs", procs=procs).overcommitted
    assert (found.instant if found else None) == (min(over) if over else None)


def test_the_first_to_be_overtaken_is_named_with_the_queue() -> None:
    rows = [(0.0, 0.0, 10.0, 10.0, 8), (1.0, 9.0, 5.0, 5.0, 8), (2.0, 20.0, 5.0, 5.0, 1), (3.0, 8.0, 5.0, 5.0, 1)]
    broken = verify(log_of(rows), "fcfs", procs=16).broken
    assert broken is not None
    assert (broken.job, broken.instant, broken.start) == (3, 11.0, 22.0)
    assert (broken.queue, broken.waiting) == ((3,), 1)
    assert "job 4, submitted later, starts before it" in broken.why
    assert verify(log_of(rows), "fcfs", procs=16, slack=11.0).kept


@pytest.mark.parametrize("submits", [(3.0, 3.0), (3.0, 3.5)])
def test_jobs_of_one_second_queue_in_the_order_of_the_log(submits: tuple[float, float]) -> None:
    first, second = submits
    rows = [(0.0, 0.0, 10.0, 10.0, 8), (first, 20.0 - first, 5.0, 5.0, 8), (second, 10.0 - second, 5.0, 5.0, 1)]
    broken = verify(log_of(rows), "fcfs", procs=PROCS).broken
    assert broken is not None
    assert (broken.job, broken.instant, broken.start) == (2, 10.0, 20.0)
    later = "submitted at the same time but later in the log" if first == second else "submitted later"
    assert broken.why == f"job 3, {later}, starts before it"
    in_order = [rows[0], (first, 10.0 - first, 5.0, 5.0, 8), (second, 15.0 - second, 5.0, 5.0, 1)]
    assert verify(log_of(in_order), "fcfs", procs=PROCS).kept


@settings(max_examples=60)
@given(JOBS)
def test_overtaking_against_a_slow_twin(jobs: list[tuple[int, int, int, int]]) -> None:
    rows = [(float(submit), float(more), float(run), float(run), width) for submit, run, more, width in jobs]
    queue = sorted(range(len(rows)), key=lambda row: (rows[row][0], row))
    starts = [rows[row][0] + rows[row][1] for row in queue]
    overtaking = [later for place, start in enumerate(starts) for later in starts[place + 1 :] if later < start]
    found = verify(log_of(rows), "fcfs", procs=PROCS).broken
    assert (found.instant if found else None) == (min(overtaking) if overtaking else None)


#: The first takes all for 10 s of the 12 it asks for, the second waits for it; the third backfills, or so it should.
DELAYED = [(0.0, 0.0, 10.0, 12.0, 6), (1.0, 19.0, 5.0, 5.0, 8), (2.0, 0.0, 18.0, 18.0, 2)]


def test_the_first_to_be_delayed_is_named_with_what_it_could_count_on() -> None:
    broken = verify(log_of(DELAYED), "easy", procs=PROCS).broken
    assert broken is not None
    assert (broken.job, broken.instant, broken.start) == (2, 12.0, 20.0)
    assert "when it became the first of the queue, at 1 s" in broken.why


@settings(max_examples=60)
@given(JOBS, st.integers(1, 40), st.data())
def test_a_start_moved_beyond_its_reservation_is_found(
    jobs: list[tuple[int, int, int, int]], late: int, data: st.DataObject
) -> None:
    """The reservation at submission bounds every start; who is moved beyond its own is found, or one before it."""
    log = replayed(jobs, "conservative")
    row = data.draw(st.integers(0, len(jobs) - 1))
    moved = log.jobs.copy()
    moved.loc[row, "wait"] += late
    found = verify(log_from_frame(moved, "moved"), "conservative", procs=PROCS)
    # The plan up to the instant at which it was to start is that of the schedule as it was: it had this place then.
    assert found.broken is not None
    assert found.broken.instant <= log.jobs["submit"][row] + log.jobs["wait"][row]


def test_who_is_delayed_beyond_a_reservation_is_named() -> None:
    # EASY lets the last, which is in nobody's way but the second of the queue's, start at once.
    rows = [
        (0.0, 0.0, 10.0, 10.0, 4),
        (1.0, 9.0, 10.0, 10.0, 6),
        (2.0, 101.0, 5.0, 5.0, 8),
        (3.0, 0.0, 100.0, 100.0, 2),
    ]
    assert verify(log_of(rows), "easy", procs=PROCS).kept
    broken = verify(log_of(rows), "conservative", procs=PROCS).broken
    assert broken is not None
    assert (broken.job, broken.instant, broken.start, broken.queue) == (3, 20.0, 103.0, (3,))
    assert verify(log_of(rows), "conservative", procs=PROCS, slack=83.0).kept


def test_who_leaves_the_queue_held_a_reservation_until_then() -> None:
    rows = [(0.0, 0.0, 10.0, 10.0, 8), (1.0, 4.0, -1.0, 50.0, 8), (2.0, 8.0, 5.0, 5.0, 8)]
    assert verify(log_of(rows), "conservative", procs=PROCS).kept
    late = [*rows[:2], (2.0, 20.0, 5.0, 5.0, 8)]
    broken = verify(log_of(late), "conservative", procs=PROCS).broken
    assert broken is not None
    assert (broken.job, broken.instant) == (3, 10.0)


def test_a_job_that_runs_longer_than_it_was_to_voids_promises() -> None:
    longer = [(0.0, 0.0, 15.0, 12.0, 6), (1.0, 14.0, 5.0, 5.0, 8)]
    for promise in ("easy", "conservative"):
        found = verify(log_of(longer), promise, procs=PROCS)
        assert (found.kept, found.void) == (True, 1), promise


@pytest.mark.parametrize("promise", ["easy", "conservative"])
@pytest.mark.parametrize("known", [0, 1, 2])
@settings(max_examples=10)
@given(JOBS)
def test_requested_times_are_never_guessed(promise: str, known: int, jobs: list[tuple[int, int, int, int]]) -> None:
    """Without them nothing is verified; with those of the workload the schedule keeps the promise that it was given."""
    log = replayed(jobs, promise)
    bare = replace(log, jobs=log.jobs.assign(estimate=log.jobs["estimate"].where(log.jobs.index < known, -1)))
    if len(jobs) > known:
        with pytest.raises(HarnessError, match=r"job \d+ has no requested time .*--workload LOG"):
            verify(bare, promise, procs=PROCS)
    assert verify(bare, promise, procs=PROCS, workload=log).kept
    assert verify(bare, "fcfs", procs=PROCS).jobs == len(jobs)


def test_a_workload_that_has_not_the_jobs_or_their_requests_is_refused() -> None:
    log = log_of(DELAYED)
    with pytest.raises(HarnessError, match=r"made: job 3 is not in made \(1 such job\)"):
        verify(log, "easy", procs=PROCS, workload=log_of(DELAYED[:2]))
    unknown = replace(log, jobs=log.jobs.assign(estimate=-1))
    with pytest.raises(HarnessError, match=r"job 1 has no requested time \(3 such jobs\)"):
        verify(log, "easy", procs=PROCS, workload=unknown)


def test_what_is_not_known_is_counted_and_refused() -> None:
    unknown: list[Any] = [(0.0, -1.0, 10.0, 10.0, 1), (0.0, 0.0, 10.0, 10.0, 1)]
    assert verify(log_of(unknown), "fcfs", procs=1).left_out == 1
    with pytest.raises(HarnessError, match="none of its 1 jobs"):
        verify(log_of(unknown[:1]), "fcfs", procs=1)
    with pytest.raises(HarnessError, match="does not state how many processors"):
        verify(log_of(unknown), "fcfs")
    with pytest.raises(HarnessError, match="did you mean 'easy'"):
        verify(log_of(unknown), "eazy", procs=1)
