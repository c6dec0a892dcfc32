"""A run in steps is the run: whoever decides as a policy does gets the policy's schedule."""

import gc
import math
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.strategies import workload

import harness
from harness.engine.faults import PolicyError
from harness.errors import HarnessError


def in_order(moment: harness.Moment) -> None:
    for job in moment.waiting:
        if not (moment.fits(job) and moment.start(job)):
            return


def whatever_fits(moment: harness.Moment) -> None:
    for job in moment.waiting:
        if moment.fits(job):
            moment.start(job)


def easy_by_verbs(moment: harness.Moment) -> None:
    """The rule of EASY, with the verbs that start policies call."""
    state, head = moment.state, None
    for job in moment.waiting:
        if head is None and moment.fits(job):
            moment.start(job)
        elif head is None:
            head = job
            at, spare = harness.reservation(state, job.index)
        elif job.procs <= moment.free:
            if state.clock.virtual + job.left <= at:
                moment.start(job)
            elif job.procs <= spare:
                spare -= job.procs
                moment.start(job)


HANDS = {"none": in_order, "greedy": whatever_fits, "easy": easy_by_verbs}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(HANDS)),
    st.integers(1, 60),
    st.integers(0, 10**6),
    st.sampled_from(["fcfs", "spf", "wfp3"]),
    st.sampled_from(["never", "timeout(idle=60)"]),
    st.sampled_from(["requested", "recent(n=2)"]),
)
def test_deciding_as_a_policy_does_gives_its_schedule(
    start: str, jobs: int, seed: int, order: str, sleep: str, predict: str
) -> None:
    log = harness.prepare(harness.read_workload(f"lublin(jobs={jobs}, procs=16, seed={seed})"), load=1.2)
    scheduler = {"order": order, "sleep": sleep, "predict": predict}
    platform = "synthetic-11(procs=16)" if sleep != "never" else 16
    run = harness.steps(log, platform, harness.Scheduler(**scheduler))
    last = -1.0
    for moment in run:
        assert moment.now >= last
        assert moment.waiting
        assert moment.free == moment.state.clock.free
        HANDS[start](moment)
        last = moment.now
    expected = harness.simulate(log, platform, harness.Scheduler(start=start, **scheduler))
    assert run.schedule.digest == expected.digest
    assert run.schedule.scheduler["start"] == "by-hand"


LOG = "lublin(jobs=30, procs=16, seed=5)"


def test_an_impossible_start_is_told_as_a_sentence() -> None:
    moment = next(iter(harness.steps(LOG, 16)))
    job = moment.waiting[0].index
    assert moment.start(job)
    with pytest.raises(PolicyError, match=r"by-hand.*started job 1, which is not waiting"):
        moment.start(job)


def test_a_run_goes_on_while_somebody_has_a_moment_of_it() -> None:
    moment = next(iter(harness.steps(LOG, 16)))
    gc.collect()
    assert moment.start(moment.waiting[0])


def test_nobody_started_is_told_where_nothing_else_will_happen() -> None:
    with pytest.raises(PolicyError, match="by-hand"):
        for _ in harness.steps(LOG, 16):
            pass


def test_there_is_no_schedule_before_the_end() -> None:
    run = harness.steps(LOG, 16)
    next(iter(run))
    with pytest.raises(HarnessError, match="the run is not over"):
        _ = run.schedule


def test_a_pass_is_refused() -> None:
    with pytest.raises(HarnessError, match="expected no scheduling interval"):
        harness.steps(LOG, 16, timing=harness.DecisionTiming(backfill_interval=60))


def test_the_timeline_is_kept() -> None:
    run = harness.steps(LOG, 16, timeline=True)
    for moment in run:
        in_order(moment)
    kept = harness.simulate(LOG, 16, harness.Scheduler(start="none"), timeline=True).timeline
    assert run.schedule.timeline["queued"].tolist() == kept["queued"].tolist()


@pytest.mark.parametrize("wrong", [10**6, -1, "1", 0.5, math.nan, None, True, 2**70])
@pytest.mark.parametrize("what", ["fits", "start"])
def test_a_job_that_is_none_is_refused_in_a_sentence_and_another_decided(what, wrong):
    run = harness.steps(workload([(0, 1, 5, 5), (9, 1, 5, 5)]), 2)
    for moment in run:
        with pytest.raises(HarnessError, match=r"not waiting|expected one of moment\.waiting, or its index"):
            getattr(moment, what)(wrong)
        assert moment.start(moment.waiting[0])
    assert run.schedule.frame["start"].tolist() == [0, 9]


REFUSED = {
    "named the job with index 1000000": lambda moment: harness.reservation(moment.state, 10**6),
    "started job with index -1, which is not waiting": lambda moment: harness.start(moment.state, -1),
    "started job 2, which needs 3 processors": lambda moment: harness.start(moment.state, 1),
    "took job 1 off its processors, which only": lambda moment: harness.suspend(moment.state, 0),
    "a plan that was not made": lambda moment: harness.earliest_fit(moment.state, 1, 1.0),
    "called again at -1.0 s": lambda moment: harness.call_again(moment.state, -1.0),
    "called harness.take, which only select policies may": lambda moment: harness.take(moment.state, 0, 0, 1),
    "called harness.wake, which only sleep policies may": lambda moment: harness.wake(moment.state, 0),
    "named node 99": lambda moment: harness.power_at(moment.state, 99, 1.0),
    "harness.nodes_of: OverflowError": lambda moment: harness.nodes_of(moment.state, 2**70),
    "called harness.hour with a state, where a clock": lambda moment: harness.hour(moment.state),
    "called harness.fits with a record, where a state": lambda moment: harness.fits(moment.state.clock, 0),
    "called harness.fits with <Moment": lambda moment: harness.fits(moment, 0),
    "state.jobs does not have: 7": lambda moment: moment.state.jobs[7],
    "no field 'prosc' here; did you mean 'procs'": lambda moment: moment.state.jobs[0].prosc,
    "no field 'clok' here; did you mean 'clock'": lambda moment: moment.state.clok,
    "changed 'procs' of a record": lambda moment: setattr(moment.state.jobs[0], "procs", 1),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_a_verb_or_a_record_refuses_is_a_sentence_and_another_decision_may_be_made(sentence):
    run = harness.steps(workload([(0, 3, 9, 9), (1, 3, 5, 5)]), 4)
    moments = iter(run)
    next(moments).start(0)
    moment = next(moments)
    with pytest.raises(HarnessError, match=re.escape(sentence)) as refused:
        REFUSED[sentence](moment)
    assert "\n" not in str(refused.value)
    for late in moments:
        assert late.start(1)
    assert run.schedule.frame["start"].tolist() == [0, 9]


def test_a_selection_that_raises_by_hand_ends_the_run_as_it_goes_on():
    """What it had taken by then is held for nobody."""

    def raises(state, job):
        harness.take(state, job, 0, 1)
        raise ValueError("no more")

    selection = harness.register(harness.Select("raises", raises, compiled=False))
    moments = iter(harness.steps(workload([(0, 2, 5, 5)]), 2, harness.Scheduler(select="raises")))
    try:
        with pytest.raises(HarnessError, match=r"harness\.start: ValueError: no more"):
            next(moments).start(0)
        with pytest.raises(HarnessError, match=r"'by-hand' .* caught what somebody whom it had asked raised"):
            next(moments)
    finally:
        harness.unregister(selection)


def test_when_the_run_is_over_nothing_is_decided():
    for moment in harness.steps(workload([(0, 1, 5, 5)]), 2):
        moment.start(moment.waiting[0])
    for decide in (moment.start, moment.fits):
        with pytest.raises(HarnessError, match="the run is over"):
            decide(0)
