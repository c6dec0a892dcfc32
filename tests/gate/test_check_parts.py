"""What a check is made of: the first difference, what was decided there, how measures move, and the words for it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.strategies import workloads

import harness
from harness.gate.baseline import pack, unpack
from harness.gate.comparison import ComparedRun, MeasureChange, measure_changes
from harness.gate.comparison_text import details, largest_change, outcome_text
from harness.gate.difference import Candidate, Decision, Difference, decision_at, first_difference
from harness.gate.verdict import Verdict
from harness.platform.machine import plain
from harness.results.measures import MEASURES

LOWER = MEASURES["mean_wait"]  # less is better
HIGHER = MEASURES["utilisation"]  # more is
NEITHER = MEASURES["killed"]

#: Of starts: often equal, sometimes never.
INSTANTS = st.sampled_from((0.0, 1.0, 2.5, 7.0, math.nan))


@given(st.lists(st.tuples(INSTANTS, INSTANTS), max_size=20))
def test_the_first_difference_is_the_first(pairs: list[tuple[float, float]]) -> None:
    before, now = (np.array([pair[k] for pair in pairs], float) for k in (0, 1))
    jobs = harness.read_workload("poisson(jobs=20, procs=4)").jobs.head(len(pairs))
    found = first_difference(before, now, jobs)
    differing = [
        (min(x for x in pair if x == x), k)
        for k, pair in enumerate(pairs)
        if str(pair[0]) != str(pair[1])  # in words, not a number is not a number
    ]
    if not differing:
        assert found is None
    else:
        instant, row = min(differing)
        assert found is not None
        assert (found.instant, found.job) == (instant, jobs["job"].iloc[row])
        assert str((found.before, found.now)) == str(pairs[row])


@settings(max_examples=25)
@given(workloads(4, cancellations=True), st.data())
def test_any_single_changed_start_is_found(workload: harness.Workload, data: st.DataObject) -> None:
    schedule = harness.simulate(workload, 4)
    starts = schedule.frame["start"].to_numpy()
    row = data.draw(st.integers(0, len(starts) - 1))
    other = starts.copy()
    other[row] = data.draw(st.sampled_from((0.25, 1e9, math.nan)).filter(lambda x: str(x) != str(starts[row])))
    found = first_difference(starts, other, workload.jobs)
    assert found is not None
    assert found.job == workload.jobs["job"].iloc[row]


@settings(max_examples=25)
@given(workloads(4, cancellations=True))
def test_packed_starts_are_all_there(workload: harness.Workload) -> None:
    schedule = harness.simulate(workload, 4)
    submit = workload.jobs["submit"].to_numpy()
    np.testing.assert_array_equal(unpack(pack(schedule), submit), schedule.frame["start"])
    thirds = replace(workload, jobs=workload.jobs.assign(submit=submit / 3, cancel=workload.jobs["cancel"] / 3))
    schedule = harness.simulate(thirds, 4)
    np.testing.assert_array_equal(unpack(pack(schedule), thirds.jobs["submit"].to_numpy()), schedule.frame["start"])


@settings(max_examples=40)
@given(workloads(4, cancellations=True), st.sampled_from(["none", "conservative", "greedy"]))
def test_what_was_decided_is_the_same_from_either_side(workload: harness.Workload, other: str) -> None:
    """Nothing but the decision itself depends on which of two schedules it is looked at from."""
    one, two = (
        harness.simulate(workload, plain(4), harness.Scheduler(start=start), placements=True)
        for start in ("easy", other)
    )
    starts = [schedule.frame["start"].to_numpy() for schedule in (one, two)]
    found = first_difference(*starts, workload.jobs)
    if found is None:
        assert one.digest == two.digest
        return
    there = decision_at(one, starts[1], found.instant, common=True)
    here = decision_at(two, starts[0], found.instant, common=True)
    turned = tuple(replace(job, before=job.now, now=job.before) for job in there.queue)
    assert replace(there, queue=turned) == here
    for starting in ("before", "now"):
        assert sum(job.procs for job in here.queue if getattr(job, starting)) <= here.free


@pytest.mark.parametrize("order", ["spf", "lcfs"])
def test_who_is_suspended_at_the_instant_held_processors_until_then(order: str) -> None:
    workload = harness.prepare(harness.read_workload("poisson(jobs=80, procs=8, seed=3, load=0.9)"))
    schedule = harness.simulate(workload, 8, harness.Scheduler(order, "preempt"), placements=True)
    suspended = schedule.frame[schedule.frame["preemptions"] > 0]
    places = schedule.placements
    stay = places[places["job"].isin(suspended["job"])].groupby("job")["end"].min()
    instant = next(end for job, end in stay.items() if end < suspended.set_index("job")["end"][job])
    held = places[(places["begin"] < instant) & (places["end"] >= instant)].merge(schedule.frame, on="job")
    held = held[~((held["end_x"] == instant) & (held["end_y"] == instant))]
    starts = schedule.frame["start"].to_numpy()
    assert decision_at(schedule, starts, float(instant), common=False).free == 8 - held["cores"].sum()
    assert held["cores"].sum() > 0


def test_who_waits_for_sleeping_nodes_holds_processors() -> None:
    scheduler = harness.Scheduler(sleep="timeout(idle=60)")
    schedule = harness.simulate(
        "lublin(jobs=200, procs=128, seed=1, load=0.5)", "synthetic-11", scheduler, placements=True
    )
    frame = schedule.frame
    starts = frame["start"].to_numpy()
    woken = frame[frame["boot"] > 0]
    assert len(woken) > 10
    for instant in woken["start"] + woken["boot"] / 2:
        held = frame["procs"][(frame["start"] < instant) & (frame["end"] > instant)].sum()
        assert decision_at(schedule, starts, float(instant), common=False).free == 128 - held


VALUES = st.floats(0, 1e12, allow_nan=False)


@given(VALUES, VALUES, st.floats(0, 1))
def test_moves_follow_tolerance_and_direction(old: float, new: float, tolerance: float) -> None:
    measures = [LOWER, HIGHER, NEITHER]
    found = {
        move.measure.name: move.outcome
        for move in measure_changes(
            {measure.name: old for measure in measures},
            {measure.name: new for measure in measures},
            measures,
            {measure.name: tolerance for measure in measures},
        )[0]
    }
    if abs(new - old) <= tolerance * max(old, new):
        assert found == {}
    else:
        less, more = ("better", "worse") if new < old else ("worse", "better")
        assert found == {"mean_wait": less, "utilisation": more, "killed": "changed"}


@pytest.mark.parametrize(
    ("before", "now", "outcome"),
    [(None, 1.0, "changed"), (1.0, None, "worse"), (0.0, 1e-300, "worse"), (1.0, 1.0 + 2e-9, "worse")],
)
def test_moves_where_there_is_no_number_and_where_there_was_nothing(
    before: float | None, now: float | None, outcome: str
) -> None:
    (move,), within = measure_changes({"mean_wait": before}, {"mean_wait": now}, [LOWER], {})
    assert (move.outcome, within) == (outcome, ())
    assert measure_changes({"mean_wait": before}, {"mean_wait": before}, [LOWER], {}) == ((), ())
    assert measure_changes({}, {"mean_wait": now}, [LOWER], {}) == ((), ())


@given(VALUES, VALUES, st.floats(0, 1))
def test_every_measure_that_moved_is_beyond_its_tolerance_or_within(old: float, new: float, tolerance: float) -> None:
    beyond, within = measure_changes({"mean_wait": old}, {"mean_wait": new}, [LOWER], {"mean_wait": tolerance})
    assert len(beyond) + len(within) == (old != new)
    assert all(move.tolerance == tolerance for move in within)


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_moves_within_tolerance_are_named_with_the_tolerance(format: str) -> None:
    run = compared(rescheduled=True, within=(MeasureChange(LOWER, 100.0, 103.0, 0.05),))
    text = "\n".join(details(run, format))
    assert "within tolerance: mean wait (+3 %, of 5 %)" in text
    assert "No measure moved" not in text
    assert (outcome_text(run), largest_change(run)) == ("changed, within tolerance", "within tolerance")


def compared(**more: object) -> ComparedRun:
    return ComparedRun(("w", "p", 0, 0, ()), "fcfs + easy", **more)  # type: ignore[arg-type]


GOOD, BAD = MeasureChange(LOWER, 2.0, 1.0), MeasureChange(LOWER, 1.0, 2.0)


@pytest.mark.parametrize(
    ("runs", "written", "outcome", "status"),
    [
        ([], 0, "same", 0),
        ([compared()], 5, "same", 0),
        ([compared(rescheduled=True)], 0, "changed", 0),
        ([compared(rescheduled=True)], 5, "changed", 1),
        ([compared(moves=(GOOD,), rescheduled=True), compared()], 0, "better", 0),
        ([compared(moves=(GOOD,))], 5, "better", 1),
        ([compared(), compared(moves=(BAD, GOOD))], 0, "worse", 1),
        ([compared(moves=(BAD,)), compared(problem="no")], 0, "not compared", 2),
        ([compared(problem="no")], 5, "not compared", 1),
    ],
)
def test_the_gravest_run_decides(runs: list[ComparedRun], written: int, outcome: str, status: int) -> None:
    verdict = Verdict(Path("gate.json"), tuple(runs), written=written)
    assert (verdict.outcome, verdict.status) == (outcome, status)


def moved(*pairs: tuple[str, float, float]) -> ComparedRun:
    return compared(moves=tuple(MeasureChange(MEASURES[name], before, now) for name, before, now in pairs))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (compared(), "no measure"),
        (moved(("mean_wait", 4, 5), ("max_wait", 4, 6), ("p95_wait", 9, 1)), "max_wait: +50 %"),
        (moved(("utilisation", 0.8, 0.2), ("mean_wait", 4, 5)), "utilisation: -75 %"),
        (moved(("max_wait", 4, 60), ("mean_wait", 0, 3), ("p95_wait", 1, 3)), "mean_wait: from 0 to 3"),
    ],
)
def test_the_largest_of_the_gravest_moves_is_named(run: ComparedRun, words: str) -> None:
    assert largest_change(run) == words


@pytest.mark.parametrize(("free", "common", "words"), [(1, True, "was free"), (2, False, "were free")])
def test_the_first_difference_in_words(free: int, common: bool, words: str) -> None:
    queue = (Candidate(7, 3, 600.0, 40.0, True, False), Candidate(9, 1, 60.0, 15.0, False, True))
    decision = Decision(free, 8, 5, queue, common)
    run = compared(rescheduled=True, difference=Difference(7, 3, 100.0, 140.0, math.nan, 140.0, decision))
    nothing, _, sentence, state, table = details(run, "markdown")
    assert nothing == "No measure moved."
    assert sentence == (
        "The first to differ is job 7 (3 processors, submitted at 100 s): it started at 140 s, now it never starts."
    )
    where = "in both" if common else "in the new schedule"
    assert state == f"At 140 s, {free} of 8 processors {words} and 5 jobs waited, {where}; among them:"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[2:] == [["7", "3", "600", "40", "starts", "waits"], ["9", "1", "60", "15", "waits", "starts"]]


def test_a_run_is_named_by_all_that_tells_it_apart() -> None:
    one, other = (ComparedRun(("w", "p", variation, variation, ()), "s") for variation in (0, 3))
    assert (one.where, other.where) == ("w on p", "w, variation 3 on p, seed 3")
    assert MeasureChange(LOWER, -2.0, 1.0).share == 1.5
