"""What must hold whatever the policies: every registered policy of every hook is put through it.

Policies are wrapped in plain Python spies, which look at the state while the simulation runs.
"""

import functools
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import PART, bundled, in_log_order
from strategies import POWER, homogeneous, mixed_cases, powered, rows, seeded_rows, workload, workloads

import harness
from harness.engine.state import CANCELLED, COMPLETED, UNACCEPTED
from harness.platform.platform import NodeType, Platform
from harness.policy import Choice, Scheduler

some = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

EVERYONE = [(hook, name) for hook, offered in bundled().items() for name in offered]


def every_policy_but(*others):
    """One test for each policy, but for those, or all of those hooks."""
    pairs = [pair for pair in EVERYONE if not set(pair) & set(others)]
    return pytest.mark.parametrize(("hook", "name"), pairs, ids=["-".join(pair) for pair in pairs])


every_policy = every_policy_but()


def every(hook, **traits):
    """One parameter `policy` for each policy of the hook with these traits."""
    found = [p for p in bundled()[hook].values() if all(getattr(p, k) == v for k, v in traits.items())]
    return pytest.mark.parametrize("policy", found, ids=lambda policy: policy.name)


def spied(policy, before=None, after=None):
    """The policy in plain Python, with something called before and after it: `after(answer, …)` gets its answer."""

    @functools.wraps(policy.function)
    def function(*arguments):
        if before:
            before(*arguments)
        answer = policy.function(*arguments)
        if after:
            after(answer, *arguments)
        return answer

    return replace(policy, function=function, compiled=False)


class Ledger:
    """Who uses what, recomputed from the slices of the running jobs whenever a selection or a rate is asked."""

    def __init__(self):
        self.rates = []  # (since, rate)
        self.slowest = {}  # job number → speed of its slowest processor
        self.checks = 0

    def pieces(self, state, job):
        piece = state.jobs[job].slices
        while piece >= 0:
            yield int(state.slices[piece].node), int(state.slices[piece].cores)
            piece = state.slices[piece].next

    def check(self, state, starting=()):
        cores, memory = Counter(), Counter()
        for job in [*harness.running(state), *starting]:
            record = state.jobs[job]
            pieces = list(self.pieces(state, job))
            assert sum(n for _, n in pieces) == record.procs
            for node, n in pieces:
                assert n >= 1
                cores[node] += n
                memory[node] += n * record.memory
                assert record.partition in (-1, state.nodes[node].partition)
        for number, node in enumerate(state.nodes):
            assert node.free >= 0
            assert node.free + cores[number] == node.cores
            assert memory[number] <= node.memory
        assert state.clock.free == sum(node.free for node in state.nodes) + sum(
            state.jobs[job].procs for job in starting
        )
        self.checks += 1

    def selected(self, answer, state, job, *own):
        if answer:
            self.check(state, [job])
            speeds = [float(state.nodes[node].speed) for node, _ in self.pieces(state, job)]
            self.slowest[int(state.jobs[job].number)] = min(speeds)

    def rated(self, answer, state, *own):
        self.check(state)
        self.rates.append((float(state.clock.now), float(answer)))

    def virtual(self, begin, end):
        """The integral of the rate."""
        changes = [*self.rates, (np.inf, 1.0)]
        return sum(
            rate * max(0.0, min(end, until) - max(begin, since)) for (since, rate), (until, _) in pairwise(changes)
        )


@every_policy
@some
@given(case=mixed_cases())
def test_nothing_is_overcommitted_and_everyone_gets_the_work_done(run, hook, name, case):
    jobs, platform = case
    ledger = Ledger()
    parts = {"energy": "cores", PART[hook]: name}
    parts["select"] = spied(bundled()["select_resources"][parts.get("select", "first-fit")], after=ledger.selected)
    parts["rate"] = spied(bundled()["set_rate"][parts.get("rate", "full")], after=ledger.rated)
    outcome = run(jobs, platform, **parts)
    wanted = jobs.jobs.set_index("job")
    for job in outcome.jobs:
        asked = wanted.loc[job.number]
        assert job.status in (COMPLETED, CANCELLED, UNACCEPTED)
        if job.status == CANCELLED:
            assert job.end == max(asked.cancel, asked.submit)
        elif job.status == COMPLETED:
            assert job.speed == ledger.slowest[job.number] or job.preemptions
            assert job.start >= asked.submit
            assert job.service <= job.end - job.start + 1e-9
            if not job.preemptions:
                assert job.service == pytest.approx(job.end - job.start, abs=1e-9)
                assert ledger.virtual(job.start, job.end) == pytest.approx(asked.work / job.speed)
        else:
            assert np.isnan([job.start, job.end]).all()
    in_service = outcome.nodes.energy.sum()
    assert outcome.jobs.energy.sum() + outcome.nodes.idle_energy.sum() == pytest.approx(in_service)
    assert (outcome.nodes.free == outcome.nodes.cores).all()
    assert (outcome.nodes.busy == 0).all()


@every_policy
@some
@given(data=st.data(), platform=homogeneous())
def test_processors_in_use_never_exceed_the_machine(run, hook, name, data, platform):
    jobs = data.draw(workloads(platform.cores, cancellations=True))
    outcome = run(jobs, platform, **{PART[hook]: name})
    if outcome.jobs.preemptions.any():
        return
    done = outcome.jobs[outcome.jobs.status == COMPLETED]
    for instant in done.start:
        inside = (done.start <= instant) & (instant < done.end)
        assert done.procs[inside].sum() <= platform.cores


@every_policy_but("set_rate")
def test_work_and_completions_are_exact_in_whole_seconds(run, hook, name):
    """Also with suspensions: at full speed, service is the work, to the second."""
    for seed in range(20):
        made, procs = seeded_rows(seed, cancellations=False)
        outcome = run(workload(made), powered(procs), **{"order": "lcfs", PART[hook]: name})
        assert in_log_order(outcome, "service").tolist() == [row[2] for row in made]
        assert (outcome.jobs.status == COMPLETED).all()


# ---------------------------------------------------------------- the same again


def schedule(outcome):
    """Everything that a run decided, as text: not a number is equal to itself."""
    return outcome.jobs.tolist().__repr__(), outcome.nodes.tolist().__repr__(), outcome.place.tolist()


@every_policy
@settings(some, max_examples=10)
@given(case=mixed_cases(), seed=st.integers(0, 9))
def test_the_same_seed_gives_the_same_schedule_compiled_or_not(run, hook, name, case, seed):
    parts = {"energy": "cores", PART[hook]: name}
    outcome = run(*case, seed=seed, **parts)
    assert schedule(run(*case, seed=seed, **parts)) == schedule(outcome)
    assert schedule(run(*case, seed=seed, plain=True, **parts)) == schedule(outcome)
    assert outcome.plain == {}


STEPS = Platform("steps", tuple(NodeType(1, 2, ops=float(k), **POWER) for k in (2, 3, 4, 5)))


@every_policy
def test_only_policies_that_flip_coins_depend_on_the_seed(run, hook, name):
    made = [(k // 2, 1 + k % 3, 5 + k % 7, 12) for k in range(30)]
    results = {schedule(run(workload(made), STEPS, seed=seed, **{PART[hook]: name}))[0] for seed in range(5)}
    assert (len(results) > 1) == bundled()[hook][name].stochastic


# ---------------------------------------------------------------- what policies say about themselves


@every("order_queue")
def test_an_order_varies_exactly_if_it_says_so(policy):
    job = np.zeros(1, [(field, "f8") for field in harness.engine.state.JOB.names]).view(np.recarray)[0]
    job.submit, job.procs, job.estimate, job.left = 3.0, 4, 50.0, 50.0
    clock = np.zeros(1, [("now", "f8"), ("virtual", "f8")]).view(np.recarray)[0]
    scores = set()
    for clock.now in (3.0, 10.0, 400.0):
        scores.add(float(policy.function(job, clock)))
    assert (len(scores) > 1) == policy.varies


@every("start_jobs")
def test_a_start_suspends_exactly_if_it_says_so(run, policy):
    suspensions = 0
    for seed in range(30):
        made, procs = seeded_rows(seed, cancellations=False)
        suspensions += run(workload(made), powered(procs), order="lcfs", start=policy.name).jobs.preemptions.sum()
    assert bool(suspensions) == policy.preemptive


KNOWN_GUARANTEES = {"nobody overtakes", "first reservation", "every reservation"}


@every("start_jobs")
def test_only_guarantees_that_are_tested_are_given(policy):
    assert set(policy.guarantees) <= KNOWN_GUARANTEES


def guaranteeing(guarantee):
    found = [p for p in bundled()["start_jobs"].values() if guarantee in p.guarantees]
    assert found
    return pytest.mark.parametrize("policy", found, ids=lambda policy: policy.name)


orders = pytest.mark.parametrize("order", [p.name for p in bundled()["order_queue"].values() if not p.varies])


@guaranteeing("nobody overtakes")
@some
@given(data=st.data(), platform=homogeneous())
def test_nobody_overtakes(run, policy, data, platform):
    outcome = run(data.draw(workloads(platform.cores)), platform, start=policy.name)
    assert (np.diff(outcome.jobs.start) >= 0).all()


@guaranteeing("first reservation")
@settings(some, max_examples=100)
@given(data=st.data(), platform=homogeneous())
def test_the_first_blocked_job_is_never_delayed(run, policy, data, platform):
    promised = {}

    def promise(state):
        """What is promised to the first waiting job, if it were left alone from now on."""
        for job in harness.waiting(state):
            if state.jobs[job].status == harness.WAITING:
                at, spare = harness.reservation(state, job)
                assert spare >= 0
                assert at <= promised.get(job, np.inf)
                promised[job] = at
                return

    def after(answer, state, *own):
        promise(state)

    def before(state, *own):
        promise(state)

    outcome = run(data.draw(workloads(platform.cores)), platform, start=spied(policy, before, after))
    for job, at in promised.items():
        assert outcome.jobs[job].start <= at


@guaranteeing("first reservation")
@settings(some, max_examples=100)
@given(case=mixed_cases(speeds=False))
def test_the_first_blocked_job_is_not_delayed_where_memory_and_partitions_bind(run, policy, case):
    promised = {}

    def after(answer, state, *own):
        for job in harness.waiting(state):
            if state.jobs[job].status == harness.WAITING:
                at, _ = harness.reservation(state, job)
                assert at <= promised.get(job, np.inf)
                promised[job] = at
                return

    outcome = run(*case, start=spied(policy, after=after))
    for job, at in promised.items():
        assert outcome.jobs[job].start <= at or outcome.jobs[job].status == CANCELLED


@guaranteeing("every reservation")
@orders
@settings(some, max_examples=15)
@given(data=st.data(), platform=homogeneous())
def test_no_reservation_ever_moves_later(run, policy, order, data, platform):
    promised = {}

    def after(answer, state, *own):
        for job in harness.waiting(state):
            record = state.jobs[job]
            if record.status == harness.WAITING:
                assert state.clock.virtual < record.reserved <= promised.get(job, np.inf)
            promised[job] = record.reserved

    jobs = data.draw(workloads(platform.cores, cancellations=True))
    outcome = run(jobs, platform, order=order, start=spied(policy, after=after))
    for job, at in promised.items():
        assert outcome.jobs[job].start <= at or outcome.jobs[job].status == CANCELLED


# ---------------------------------------------------------------- switching the rate, and being asked more often


def switching(state, memory, low=0.75, high=1.3):
    """Another rate whenever it is asked."""
    memory[0] += 1
    return (low, 1.0, high)[int(memory[0]) % 3]


SWITCHING = harness.Rate("switching", switching, memory=1)


@every("start_jobs")
@pytest.mark.parametrize("order", ["fcfs", "lcfs", "wfp3"])
@some
@given(data=st.data(), platform=homogeneous())
def test_switching_the_rate_loses_no_work(run, policy, order, data, platform):
    jobs = data.draw(workloads(platform.cores))
    ledger = Ledger()
    rate = spied(SWITCHING, after=ledger.rated)
    outcome = run(jobs, platform, start=policy.name, order=order, rate=rate)
    assert (outcome.jobs.status == COMPLETED).all()
    for job, work in zip(outcome.jobs, jobs.jobs.work.to_numpy()[outcome.place], strict=True):
        if not job.preemptions:
            assert ledger.virtual(job.start, job.end) == pytest.approx(work)
    assert schedule(run(jobs, platform, start=policy.name, order=order, rate=SWITCHING)) == schedule(outcome)


@every("start_jobs")
@some
@given(data=st.data(), platform=homogeneous())
def test_rates_that_are_powers_of_two_only_stretch_the_schedule(run, policy, data, platform):
    made = data.draw(rows(platform.cores))
    slower = [(4 * row[0], *row[1:]) for row in made]
    outcome = run(workload(made), platform, start=policy.name)
    stretched = run(workload(slower), platform, start=policy.name, rate="fixed(rate=0.25)")
    assert (4 * outcome.jobs.start).tolist() == stretched.jobs.start.tolist()


def impatient(state):
    """Is asked again all the time, and does nothing."""
    if state.clock.queued + state.clock.running > 0:
        harness.call_again(state, state.clock.now + 0.25)


IMPATIENT = harness.Sleep("impatient", impatient)


@every("start_jobs", preemptive=False)  # who suspends may share the time
@orders
@settings(some, max_examples=10)
@given(data=st.data(), platform=homogeneous())
def test_being_asked_more_often_changes_nothing(run, policy, order, data, platform):
    """At an instant at which nothing happened there is nothing to decide, if scores do not vary."""
    jobs = data.draw(workloads(platform.cores, cancellations=True))
    parts = {"start": policy.name, "order": order}
    calm, busy = run(jobs, platform, **parts), run(jobs, platform, sleep=IMPATIENT, **parts)
    assert busy.clock.instants >= calm.clock.instants
    assert calm.jobs.start.tolist().__repr__() == busy.jobs.start.tolist().__repr__()


# ---------------------------------------------------------------- moving the clock, renaming the jobs


@every_policy_but("f1", "f2", "f3", "f4")  # these take the logarithm of the calendar
@some
@given(data=st.data(), procs=st.integers(1, 5), later=st.integers(1, 10**9))
def test_a_later_calendar_changes_nothing(run, hook, name, data, procs, later):
    made = data.draw(rows(procs))
    shifted = [(row[0] + later, *row[1:]) for row in made]
    # No predicted slowdown of whole seconds meets this threshold exactly, where rounding would tip it.
    spec = "bsld(threshold=1.9137)" if name == "bsld" else name
    one, other = (run(workload(case), powered(procs), **{PART[hook]: spec}) for case in (made, shifted))
    if hook == "set_rate":  # other rates than 1 round
        assert other.jobs.start - later == pytest.approx(one.jobs.start, abs=1e-6, nan_ok=True)
    else:
        assert (one.jobs.start + later).tolist() == other.jobs.start.tolist()


def test_every_hook_has_a_part():
    assert set(Scheduler.HOOKS.values()) == {hook for hook, _ in EVERYONE}
    assert isinstance(Scheduler(energy="none").choose(bundled())["order"], Choice)
