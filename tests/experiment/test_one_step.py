"""Decisions asked one at a time, in logged states; ranks with their intervals; and the verdict that may be: none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Likeness, Scheduler, Workload, identify, log_from_frame, lublin, prepare, simulate
from harness.experiment.decision_agreement import agreement_by_state, draw_states
from harness.experiment.identity_verdict import identity_verdict, scheduler_in_header
from harness.experiment.rank_intervals import blocks_of, rank_intervals
from harness.results.export import simulated_log

PROCS = 64
ORDERS, STARTS = ("fcfs", "spf", "laf"), ("none", "easy")


def written_by(order: str, start: str, seed: int = 1) -> Workload:
    generated = prepare(lublin(jobs=400, procs=PROCS, seed=seed, load=0.95), estimates="factor(3)")
    return prepare(simulated_log(simulate(generated, PROCS, Scheduler(order, start, energy="none"))))


def asked(workload: Workload, order: str, start: str, states: int = 60) -> tuple[float, int]:
    states_asked = draw_states(workload, PROCS, states)
    schedule = simulate(states_asked.workload, PROCS, Scheduler(order, start, energy="none"))
    return float(agreement_by_state(states_asked, schedule).mean()), len(states_asked)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("order", "start"), [("fcfs", "none"), ("spf", "easy"), ("laf", "easy")])
def test_the_author_takes_every_decision_of_its_log(order: str, start: str) -> None:
    workload = written_by(order, start)
    assert asked(workload, order, start)[0] == 1
    others = [asked(workload, o, s)[0] for o in ORDERS for s in STARTS if (o, s) != (order, start)]
    assert max(others) < 0.95


def test_a_state_is_the_logged_one() -> None:
    """Who runs, who waits, and what is free at the instant are what the log says."""
    workload = written_by("fcfs", "easy")
    found = draw_states(workload, PROCS, 20, seed=3)
    assert len(found) == 20
    jobs, table = workload.jobs, found.workload.jobs
    start = jobs["submit"] + jobs["logged_wait"]
    end = start + jobs["logged_run"]
    for state, instant in enumerate(found.instants):
        rows = found.state == state
        waiting = rows & ~np.isnan(found.decided)
        queue = (jobs["submit"] <= instant) & (start >= instant)
        assert sorted(table["procs"][waiting]) == sorted(jobs["procs"][queue])
        ages = found.decided[waiting] - table["submit"][waiting]
        assert sorted(ages) == pytest.approx(sorted(instant - jobs["submit"][queue]))
        assert table["procs"][rows & ~waiting].sum() == PROCS  # those that run, and who holds the rest
        assert int(found.started[rows].sum()) == int((start[queue] == instant).sum()) > 0
        running = (start < instant) & (end > instant)
        assert (rows & ~waiting).sum() - running.sum() in (0, 1)


def test_without_a_choice_there_is_nothing_to_ask() -> None:
    idle = prepare(lublin(jobs=20, procs=PROCS, seed=1, load=0.01))
    workload = prepare(simulated_log(simulate(idle, PROCS, Scheduler(energy="none"))))
    assert len(draw_states(workload, PROCS)) == 0
    (one,) = identify(workload, orders=("fcfs",), starts=("easy",))
    assert one.one_step != one.one_step
    assert identity_verdict(workload, None, [one], lambda *_: pytest.fail("nothing to replay")) is None


def test_nothing_is_told_where_nobody_would_have_to_decide() -> None:
    """The log's jobs wait for no reason: on an empty machine all policies start them at once."""
    jobs = pd.DataFrame({"submit": range(20), "run": 5, "procs": 1, "wait": 60})
    workload = prepare(log_from_frame(jobs, procs=PROCS))
    found = identify(workload, orders=("fcfs",), starts=("easy",))

    def replay(jobs: Workload, one: Likeness):
        return simulate(jobs, PROCS, Scheduler(one.order, one.start, energy="none"))

    still = "constant(seconds=0)"
    verdict = identity_verdict(workload, None, found, replay, launch=still, completion=still, repetitions=1)
    assert not verdict.named
    assert verdict.attainable != verdict.attainable
    assert str(verdict).startswith("The author of the log cannot be identified: the nearest is fcfs + easy, ")
    assert "nan" not in str(verdict)


@given(st.integers(2, 6), st.integers(1, 30), st.integers(0, 99))
def test_rank_intervals_hold_the_rank(combinations: int, blocks: int, seed: int) -> None:
    squares = np.random.default_rng(seed).exponential(1, (combinations, blocks)).cumsum(axis=0)
    first, last, tied = rank_intervals(squares, np.ones(blocks, int))
    assert (first <= last).all()
    assert (first[0], last[0], tied[0]) == (1, 1, True)  # the sums grow with each row, in every block
    assert not tied[1:].any() or blocks == 0
    assert first.tolist() == last.tolist() == list(range(1, combinations + 1))


def test_noise_is_a_tie_and_a_difference_is_none() -> None:
    draw = np.random.default_rng(1)
    base = draw.exponential(1, 60)
    squares = np.array([base, base * draw.uniform(0.5, 1.51, 60), 3 * base])
    _, _, tied = rank_intervals(squares, np.full(60, 10))
    assert tied.tolist() == [True, True, False]


def test_blocks_are_weeks_of_long_logs_and_parts_of_short_ones() -> None:
    week = 7 * 86400.0
    assert blocks_of(np.array([0, week - 1, week, 30 * week])).tolist() == [0, 0, 1, 30]
    assert blocks_of(np.arange(13.0)).tolist() == [*range(13)]
    assert blocks_of(np.zeros(3)).tolist() == [0, 0, 0]


def verdict_on(workload: Workload):
    found = identify(workload, PROCS, orders=ORDERS[:2], starts=STARTS, states=60)

    def replay(jobs: Workload, one: Likeness):
        return simulate(jobs, PROCS, Scheduler(one.order, one.start, energy="none"))

    return identity_verdict(workload, PROCS, found, replay, states=60, repetitions=1)


def test_the_author_is_named_and_nobody_for_a_strangers_log() -> None:
    verdict = verdict_on(written_by("spf", "easy"))
    assert verdict.named
    assert (verdict.nearest.order, verdict.nearest.start) == ("spf", "easy")
    assert str(verdict).startswith("spf + easy: it takes 100% of the decisions")
    stranger = verdict_on(written_by("laf", "greedy"))
    assert not stranger.named
    assert str(stranger).startswith("None of these: even ")


def test_what_the_header_claims() -> None:
    assert (
        scheduler_in_header(("; MaxProcs: 100", "; Note: uses the EASY scheduler")) == "Note: uses the EASY scheduler"
    )
    assert scheduler_in_header(("; MaxProcs: 100",)) == ""
    workload = replace(written_by("fcfs", "easy"), header=("; Note: Scheduler is X",))
    assert scheduler_in_header(workload.header) == "Note: Scheduler is X"
