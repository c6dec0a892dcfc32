"""Comparisons that cannot fail show nothing: start rules with the mistakes people make must fail them.

This file is its own plugin: it offers the broken rules, copies of `none` with one thing wrong, to the runs below.
"""

from functools import partial

import pytest

import harness
from harness.cli.study_command import load

Subject, comparisons = load("theory").Subject, load("theory").comparisons

EXACT = {"recursion, powers of two", "recursion, many at one instant", "recursion, overloaded", "recursion, HPC-like"}
QUEUES = {"M/M/4 at 50 %", "M/M/4 at 80 %", "M/M/16 at 80 %"}
FULL = {"saturated, 1 or 2 on 2", "saturated, uniform on 10", "saturated, powers of two on 64"}
OVERLOAD = {"growth at 120 %"}
NEARLY_FULL = {"growth at 90 %"}  # a stable stream, which stays stable if jobs overtake


def off_by_one(state):
    """Start a job only if a processor is left over."""
    for job in harness.waiting(state):
        if not (state.jobs[job].procs < state.clock.free and harness.fits(state, job) and harness.start(state, job)):
            return


def one_overtakes(state):
    """Let the job behind the first that does not fit start if it does."""
    blocked = 0
    for job in harness.waiting(state):
        if not (harness.fits(state, job) and harness.start(state, job)):
            blocked += 1
            if blocked > 1:
                return


def second_first(state):
    """Start the second job before the first."""
    first = -1
    for job in harness.waiting(state):
        if first < 0:
            first = job
            continue
        if not (harness.fits(state, job) and harness.start(state, job)):
            return
        break
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and not (harness.fits(state, job) and harness.start(state, job)):
            return


def one_at_a_time(state):
    """Start one job at an instant, and forget that there may be room for another."""
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        return


@harness.hookimpl
def start_jobs():
    return [
        harness.Start("off-by-one", off_by_one),
        harness.Start("one-overtakes", one_overtakes),
        harness.Start("second-first", second_first),
        harness.Start("one-at-a-time", one_at_a_time),
    ]


def fails(compare, subject):
    """Does the comparison fail, or the run not even end?"""
    try:
        return not compare(subject).agrees
    except harness.PolicyError:
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "caught_by"),
    [
        ("off-by-one", EXACT | QUEUES | FULL | OVERLOAD | NEARLY_FULL | {"no processor idles"}),
        ("one-overtakes", EXACT | FULL | OVERLOAD),
        ("second-first", EXACT | OVERLOAD),
        ("one-at-a-time", EXACT | FULL | OVERLOAD | NEARLY_FULL),
    ],
)
def test_broken_start_rule_fails(start, caught_by):
    subject = Subject(partial(harness.simulate, plugins=[__file__]), start, scale=0.2)
    failed = {name for name, compare in comparisons().items() if fails(compare, subject)}
    assert caught_by <= failed


@pytest.mark.slow
def test_sound_rule_passes_the_same_way():
    subject = Subject(partial(harness.simulate, plugins=[__file__]), "none", scale=0.2)
    assert [name for name, compare in comparisons().items() if fails(compare, subject)] == []
