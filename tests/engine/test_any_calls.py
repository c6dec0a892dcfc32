"""Whatever policies call, with whatever arguments, no array of the engine is left, and nobody else is blamed."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from shared.running import bundled
from shared.strategies import POWER, workload

import harness
from harness.engine.faults import PolicyError
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform

ANY_CALLS = Path(__file__).with_name("any_calls.py")
PAIR = Platform("pair", (NodeType(2, 2, **POWER),))
#: Slow nodes of one partition, fast ones of another, little memory.
MIXED = Platform("mixed", (NodeType(2, 3, 3.0, 6.0, **POWER), NodeType(3, 2, 4.0, 9.0, **POWER, partition=1)))
JOBS = [(10, 2, 5, 5), (12, 3, 5, 5), (12, 1, 5, 5), (30, 4, 5, 5)]

both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


def beyond(first, last):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ANY_CALLS.parents[1])}
    command = [sys.executable, str(ANY_CALLS), str(first), str(last)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600 + last - first)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_call_leaves_the_arrays_of_the_engine():
    assert beyond(0, 250) == ""


@pytest.mark.study
def test_no_call_of_twenty_thousand_policies_leaves_the_arrays_of_the_engine():
    assert beyond(1000, 21_000) == ""


# ---------------------------------------------------------------- what was found, as policies compiled and not


@harness.jit
def serve(state):
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


def goes_on_behind_nobody(state):
    harness.next_overtaker(state, -1, 10**9, 100.0, 4)


def draws_from_the_queue(state):
    harness.uniform(harness.waiting(state))


def draws_from_numbers_of_jobs(state):
    harness.uniform(state.jobs.number)


def draws_from_its_memory(state, memory):
    harness.uniform(memory)


def draws_from_nothing(state, dice):
    harness.uniform(dice[1:])


REFUSED = {
    goes_on_behind_nobody: "named the job with index 1000000000",
    draws_from_the_queue: "something else than its dice",
    draws_from_numbers_of_jobs: "something else than its dice",
    draws_from_its_memory: "something else than its dice",
    draws_from_nothing: "something else than its dice",
}


@pytest.mark.quick_cases(4)
@both_ways
@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_it_is_refused_in_the_name_of_who_called(run, function, plain):
    policy = harness.Start(function.__name__, function, memory=2 if "memory" in function.__code__.co_varnames else 0)
    with pytest.raises(PolicyError, match=f"'{function.__name__}' .*{REFUSED[function]}"):
        run(workload(JOBS), PAIR, plain=plain, start=policy)


@both_ways
def test_numbers_are_drawn_from_dice(run, plain):
    def draws(state, dice):
        serve(state)
        state.jobs[0].reserved = harness.uniform(dice)

    outcome = run(workload(JOBS), PAIR, plain=plain, start=harness.Start("draws", draws))
    assert 0.0 < outcome.jobs.reserved[0] < 1.0


@both_ways
@pytest.mark.parametrize("verb", ["start", "suspend"])
def test_what_a_policy_was_refused_it_cannot_catch(run, verb, plain):
    """Whatever was half done then stays so: the run ends, in its name and not in that of whoever is asked next."""

    def starts(state):
        try:  # noqa: SIM105 - numba knows no suppress
            harness.start(state, 0)  # fits once; then it does not wait any more
        except Exception:
            pass
        serve(state)

    def suspends(state):
        try:  # noqa: SIM105
            harness.suspend(state, 0)
        except Exception:
            pass
        serve(state)

    function = {"start": starts, "suspend": suspends}[verb]
    with pytest.raises(PolicyError, match=r"'catches' .*(started job 1, which|job 1 off)"):
        run(workload(JOBS), PAIR, plain=plain, start=harness.Start("catches", function))


@pytest.mark.parametrize("verb", ["reject", "call_again"])
def test_it_is_blamed_for_what_it_was_refused_first(run, verb):
    """Though it caught that and went on: the selection is asked then, and stopped by what was noted."""

    def catches(state):
        with contextlib.suppress(Exception):
            harness.reject(state, 10**6) if verb == "reject" else harness.call_again(state, -1.0)
        with contextlib.suppress(Exception):
            harness.start(state, 0)
            harness.fits(state, 1)
        with contextlib.suppress(Exception):
            harness.fits(state, 1)
        with contextlib.suppress(Exception):
            harness.call_again(state, -2.0)

    first = {"reject": "rejected job with index 1000000", "call_again": "called again at -1.0 s"}[verb]
    for select in ("first-fit", "whole-nodes"):
        policy = harness.Start("catches", catches, compiled=False, rejects=True)
        with pytest.raises(PolicyError, match=rf"'catches' \(start_jobs\), at 10 s, .*{first}"):
            run(workload(JOBS), PAIR, start=policy, select=select)


def test_what_a_selection_raised_a_start_policy_cannot_catch(run):
    """What was taken by then is held for nobody: the run would go on with fewer processors."""
    asked = [0]

    def shaky(state, job):
        asked[0] += 1
        harness.take(state, job, harness.next_free(state, -1), 1)
        if asked[0] == 2:
            raise ValueError("shaky")
        return state.jobs[job].procs == 1

    def catches(state):
        for job in harness.waiting(state):
            with contextlib.suppress(Exception):
                if harness.fits(state, job):
                    harness.start(state, job)

    rows = [(10 + k, 1, 5, 5) for k in range(6)]
    parts = {"start": harness.Start("catches", catches, compiled=False), "select": harness.Select("shaky", shaky)}
    with pytest.raises(PolicyError, match=r"'catches' .* caught what somebody whom it had asked raised"):
        run(workload(rows), PAIR, plain=True, **parts)


@pytest.mark.slow
@both_ways
def test_of_several_holds_the_one_that_erred_is_named(run, plain):
    from shared.running import choose

    from harness.policy.spec import Choice

    def errs(state, job):
        harness.power_at(state, 4, 1.0)
        return 0.0

    first = harness.Hold("errs", errs)
    second = Choice(harness.Hold("sound", lambda state, job: 0.0), {})
    parts = choose(start="greedy")
    parts["hold"] = Choice(first, {}, inner=second)
    with pytest.raises(PolicyError, match=r"'errs.* \(hold_jobs\), at 10 s, named node 4"):
        simulate(workload(JOBS), PAIR, parts, plain=plain)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["easy", "easy(reservations=3)", "conservative", "conservative(replan=true)"])
def test_plans_of_nodes_of_different_speed_ask_selections_for_what_can_be_had(run, start):
    """Who runs on slow nodes reaches into the next promise: what is left there then is nothing, and not less."""
    assert start.split("(")[0] in bundled()["start_jobs"]
    for seed in range(60):
        dice = np.random.default_rng(seed)
        now, rows = 10, []
        for _ in range(12):
            now += int(dice.choice((0, 0, 1, 2, 5)))
            work = int(dice.integers(1, 10))
            asked = {"memory": float(dice.choice((-1, 1, 2))), "partition": int(dice.integers(-1, 2))}
            rows.append((now, int(dice.integers(1, 5)), work, work + int(dice.choice((0, 0, 3, 8))), asked))
        outcome = run(workload(rows), MIXED, start=start)
        assert not np.isnan(outcome.jobs.start[outcome.jobs.status == harness.COMPLETED]).any()
