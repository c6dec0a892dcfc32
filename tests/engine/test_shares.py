"""What is counted of users, groups, queues and everybody: equal to a recount, and to the closed form of decay."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import NEVER, workload

import harness
from harness import HarnessError, Order, Start
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState
from harness.platform.machine import plain as processors
from harness.policy.timing import DecisionTiming
from harness.workload.events import Events

KEYS = ("user", "group", "queue")


def recount(state, belongs):
    """What should be counted of the jobs for which `belongs` says so, looked up one by one."""
    there = [job for job in state.jobs if job.status != harness.UNACCEPTED or not math.isnan(job.end)]
    ours = [job for job in there if belongs(job)]
    running = [job for job in ours if job.status == harness.RUNNING]
    waiting = [job for job in ours if job.status == harness.WAITING]
    return (
        len(running),
        sum(job.procs for job in running),
        sum(job.nodes for job in running),
        len(waiting),
        sum(job.procs for job in waiting),
        len(ours),
        len({job.user for job in ours}),
        len({job.group for job in ours}),
    )


def counted(share):
    return (
        *(share.running, share.running_procs, share.running_nodes),
        *(share.queued, share.queued_procs, share.submitted, share.users, share.groups),
    )


class Watch:
    """A start policy in plain Python that looks at every record whenever it is asked, and adds usage up itself."""

    def __init__(self, half_life, unruly):
        self.half_life = half_life
        self.dice = np.random.default_rng(1) if unruly else None
        self.seen = 0
        self.usage = {}  # (kind, number) → up to `then`
        self.held = {}
        self.then = None

    def __call__(self, state, users, groups, queues, everybody, half_life=1.0):
        self.elapse(state.clock.now)
        self.look(state, users, groups, queues, everybody)
        if self.dice is not None:
            self.make_trouble(state)
            harness.call_again(state, state.clock.now + 1.0)  # whoever was suspended must not be forgotten
            self.look(state, users, groups, queues, everybody)
        for job in harness.waiting(state):
            if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
                harness.start(state, job)
                self.look(state, users, groups, queues, everybody)

    def elapse(self, now):
        gone = 0.0 if self.then is None else now - self.then
        keeps = 0.5 ** (gone / self.half_life)
        adds = self.half_life / math.log(2) * (1 - keeps) if self.half_life < math.inf else gone
        for key, procs in self.held.items():
            self.usage[key] = self.usage.get(key, 0.0) * keeps + procs * adds
        self.then = now

    def look(self, state, users, groups, queues, everybody):
        self.seen += 1
        for kind, records in zip(KEYS, (users, groups, queues), strict=True):
            for number in range(-1, len(records) - 1):
                found = recount(state, lambda job: getattr(job, kind) == number)  # noqa: B023 - called at once
                self.hold((kind, number), records[number], found)
        self.hold(("all", 0), everybody, recount(state, lambda job: True))

    def hold(self, key, share, found):
        assert counted(share) == found, key
        assert share.usage == pytest.approx(self.usage.get(key, 0.0), rel=1e-9, abs=1e-6), key
        self.held[key] = found[1]

    def make_trouble(self, state):
        for job in harness.running(state).copy():
            what = self.dice.integers(0, 6)
            if what == 0 and state.jobs[job].preemptions + state.jobs[job].restarts < 2:
                harness.suspend(state, int(job), 1.0, bool(self.dice.integers(0, 2)))
            elif what == 1 and state.jobs[job].preemptions + state.jobs[job].restarts < 2:
                harness.requeue(state, int(job))
        for job in harness.waiting(state):
            if math.isnan(state.jobs[job].start) and self.dice.integers(0, 12) == 0:
                harness.reject(state, int(job))


def watching(half_life, unruly):
    watch = Watch(half_life, unruly)

    def watched(state, users, groups, queues, everybody, half_life=1.0):
        """Greedy."""
        watch(state, users, groups, queues, everybody)

    start = Start("watched", watched, preemptive=unruly, rejects=unruly, compiled=False)
    return watch, harness.Choice(start, {"half_life": 0.0 if half_life == math.inf else half_life})


@st.composite
def jobs(draw, most=14):
    now, made = 0, []
    for _ in range(draw(st.integers(1, most))):
        now += draw(st.sampled_from((0, 0, 1, 2, 9)))
        work = draw(st.integers(1, 9))
        whose = {key: draw(st.integers(-1, 2)) for key in KEYS}
        patience = draw(st.sampled_from((NEVER, NEVER, NEVER, 0, 3, 12)))
        row = (now, draw(st.integers(1, 5)), work, work + draw(st.integers(0, 5)), whose | {"cancel": now + patience})
        made.append(row)
    return workload(made)


NAP = SleepState("nap", watts=1.0, down=1.0, up=2.0, down_energy=1.0, up_energy=1.0)
SLEEPY = Platform("sleepy", (NodeType(4, 1, idle=5.0, peak=9.0, sleep=(NAP,)),))

#: Failures, repairs and interventions, in small cases mostly of jobs that are there.
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sampled_from(("node-down", "node-up", "job-deleted", "job-killed", "job-requeued")),
        st.integers(0, 3),
    ),
    max_size=6,
)


PASSES = DecisionTiming(backfill_interval=20, main_interval=0, backfill_depth=3)


def events(rows, many):
    """Events of `rows`; those about jobs name one that there is."""
    named = [(time, what, subject if "node" in what else 1 + subject % many) for time, what, subject in rows]
    return Events(pd.DataFrame(named, columns=["time", "event", "subject"]))


def test_whose_node_fails_in_the_second_in_which_it_would_end_begins_anew_wherever_everything_is_decided_on():
    """With `per-event`, events are before completions."""
    table = pd.DataFrame({"time": [3.0, 4.0], "event": ["node-down", "node-up"], "subject": [0, 0]})
    for instants, end in (("per-event", 7.0), ("batch", 3.0)):
        extras = Extras(Events(table), timing=DecisionTiming(instants))
        (job,) = simulate(workload([(0, 1, 3, 3)]), processors(1), choose(), extras=extras).jobs
        assert (job.end, job.status) == (end, harness.COMPLETED), instants


@settings(max_examples=40, deadline=None)
@given(
    jobs(),
    st.sampled_from((0.5, 7.0, 604800.0, math.inf)),
    st.booleans(),
    st.sampled_from(("batch", "per-event")),
    st.sampled_from(("requested", "recent(n=1)")),
    st.booleans(),
    EVENTS,
)
def test_what_is_counted_is_what_a_recount_finds_whenever_anybody_is_asked(
    small, half_life, unruly, instants, predict, naps, happening
):
    watch, start = watching(half_life, unruly)
    chosen = choose(predict=predict, sleep="timeout(idle=1)" if naps else "never") | {"start": start}
    extras = Extras(events(happening, len(small.jobs)), timing=DecisionTiming(instants))
    simulate(small, SLEEPY, chosen, extras=extras)
    assert watch.seen > 0 or (small.jobs["procs"] > 4).all()


def closed_form(frame, now, half_life):
    """The usage of jobs that held processors from `start` to `end`, each second of it decayed since."""
    began, ended = np.minimum(frame["start"], now), np.minimum(frame["end"], now)
    if half_life == 0.0:
        return (frame["procs"] * (ended - began)).sum()
    decayed = 0.5 ** ((now - ended) / half_life) - 0.5 ** ((now - began) / half_life)
    return (frame["procs"] * half_life / math.log(2) * decayed).sum()


def of_user(job, clock, user, half_life=1.0):
    """Who has used least, when the job is submitted."""
    return user.usage


def of_group(job, clock, group, half_life=1.0):
    """Whose group has used least."""
    return group.usage


def of_queue(job, clock, queue, half_life=1.0):
    """Whose queue has used least."""
    return queue.usage


def of_everybody(job, clock, everybody, half_life=1.0):
    """First come, first served, by what has been used."""
    return everybody.usage


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("score", [of_user, of_group, of_queue, of_everybody])
def test_usage_is_the_closed_form_of_what_the_schedule_says(score, compiled):
    """Under a pass nobody is asked when jobs end: what is counted goes on all the same."""
    dice = np.random.default_rng(4)
    count = 150
    sizes = (np.cumsum(dice.integers(0, 9, count)), *(dice.integers(1, most, count) for most in (4, 30)))
    made = workload([(int(t), int(n), int(w), int(w)) for t, n, w in zip(*sizes, strict=True)])
    for key in KEYS:
        made.jobs[key] = dice.integers(-1, 3, count)
    key = score.__name__.removeprefix("of_")
    policy = Order(score.__name__, score, compiled=compiled)
    for half_life in (30.0, 1e6, 0.0, 0.5):  # the last is so short that the origin moves on several times
        for timing in (DecisionTiming(), DecisionTiming(backfill_interval=7), PASSES):
            choice = harness.Choice(policy, {"half_life": half_life})
            chosen = choose(order=policy) | {"order": choice, "second": choice}
            found = simulate(made, processors(4), chosen, extras=Extras(timing=timing)).jobs
            for job in found:
                ours = found[found[key] == job[key]] if key in KEYS else found
                assert job["score"] == pytest.approx(closed_form(ours, job["submit"], half_life), rel=1e-9, abs=1e-6)


def test_a_function_is_told_what_it_cannot_ask_for():
    def start(state, user):
        """Nobody."""

    with pytest.raises(HarnessError, match=r"names user, but is not called for a job: expected users, as in"):
        Start("asks", start)


def test_one_half_life_in_a_run():
    def start(state, users, half_life=2.0):
        """Nobody."""

    with pytest.raises(HarnessError, match=r"half-lives are 1 s and 2 s: expected the same half-life in a run"):
        simulate(
            workload([(0, 1, 1, 1)]),
            processors(1),
            choose(order=Order("of-user", of_user), start=Start("idle", start)),
        )


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("field", ["usage", "running"])
def test_nobody_writes_into_what_is_counted(field, compiled):
    def running(job, clock, user):
        """A cheat."""
        user.running = 3
        return 0.0

    def usage(job, clock, user):
        """A cheat."""
        user.usage = 0.0
        return 0.0

    cheat = Order("cheat", running if field == "running" else usage, compiled=compiled)
    with pytest.raises(HarnessError, match=f"changed '{field}' of a record: expected it to be only read"):
        simulate(workload([(0, 1, 1, 1)]), processors(1), choose(order=cheat))


@harness.jit
def after_others(job, user, users, group, everybody):
    """As long as the user has jobs running, and one more; what is counted is a predictor's under the plural."""
    user.asked += 1.0
    return 1.0 + users[job.user].running + 10.0 * group.running + 100.0 * everybody.queued


def predicted(job, user, clock, users, group, everybody, per_user):
    """As above."""
    return after_others(job, user, users, group, everybody)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
def test_a_predictor_s_user_is_its_own_and_the_others_are_counted(compiled):
    rows = [(0, 1, 9, 500), (1, 1, 9, 500), (2, 1, 9, 500), (2, 1, 9, 500)]
    made = workload([(*row, {"user": k % 2, "group": 0}) for k, row in enumerate(rows)])
    kept = harness.per_user(("asked",))
    policy = harness.Predict("watching", predicted, memory=kept, compiled=compiled)
    found = simulate(made, processors(2), choose(predict=policy)).jobs
    # The first finds nobody; the second one of its group running; the others two, one of them their user's.
    assert list(found["predicted"]) == [1, 11, 22, 22]


def test_nothing_is_counted_where_nobody_asks():
    outcome = simulate(workload([(0, 1, 1, 1)]), processors(1), choose())
    assert outcome.view.usage_sums.counted == 0
