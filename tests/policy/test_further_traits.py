"""Orders that learn or wrap another one, memory made anew for each run, further columns of a workload."""

import dataclasses
import math
import re

import pandas as pd
import pytest
from shared.strategies import workload

import harness
from harness import HarnessError, Order, Scheduler, Start
from harness.experiment.run_identity import versions_of
from harness.policy.kinds import KINDS, Energy
from harness.policy.registry import plugins
from harness.policy_api.compiled_policies import own_vector
from harness.testing import PolicyFailure, check_policy

both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


@pytest.fixture
def offered():
    """Register policies for the length of a test."""
    known = []

    def offer(*policies):
        known.extend(map(harness.register, policies))

    yield offer
    for policy in known:
        harness.unregister(policy)


def starts(jobs, procs=4, plain=False, **parts):
    return harness.simulate(jobs, procs, Scheduler(**parts), plain=plain).frame["start"].tolist()


# ---------------------------------------------------------------- orders that learn


def by_mood(job, clock, memory, sign=1.0):
    """Wide jobs first, or last, as `watch` has it."""
    return memory[0] * sign * job.procs


def watch(state, memory, sign=1.0):
    """Count instants, and let completions turn the order round."""
    memory[1] += 1.0
    memory[2] += len(harness.departed(state))
    memory[0] = 1.0 if memory[2] % 2 == 0.0 else -1.0


MOODY = Order("moody", by_mood, memory=3, varies=True, learn=watch)
#: One runs until 10; then wide jobs are first, until the next has left.
MOODS = workload([(0, 4, 10, 10), (1, 1, 5, 5), (2, 4, 5, 5), (3, 3, 5, 5)])


@both_ways
def test_what_is_learnt_at_an_instant_counts_for_its_scores(offered, plain):
    """At 10 the first is gone: the widest is next. At 15 two are gone: the narrowest. At 20: the rest."""
    offered(MOODY)
    assert starts(MOODS, order="moody", start="none", plain=plain) == [0, 15, 10, 15]


@both_ways
def test_it_is_called_once_an_instant_before_anybody_is_scored(offered, plain):
    """Its first call is at the first instant, when no job has been scored yet."""

    def scored(job, clock, memory):
        memory[1] = max(memory[1], memory[0])  # how often it was called before
        return memory[0] - clock.instants  # the same at every instant

    def called(state, memory):
        memory[0] += 1.0

    seen = []

    def look(job, clock, memory):
        seen.append((memory[0], clock.instants))
        return job.submit

    offered(Order("counting", scored, memory=2, varies=True, learn=called))
    offered(Order("looking", look, memory=1, varies=True, learn=called, compiled=False))
    assert starts(MOODS, order="counting", start="none", plain=plain) == [0, 10, 15, 20]
    harness.simulate(MOODS, 4, Scheduler(order="looking", start="none"))
    assert seen
    assert all(calls == instants for calls, instants in seen)


def test_an_order_that_a_start_policy_takes_learns_too(offered):
    offered(MOODY)
    jobs = workload([(0, 3, 10, 10), (1, 4, 9, 9), (1, 1, 9, 9), (2, 1, 2, 2)])
    plainly = starts(jobs, start="easy(backfill_order=moody)")
    assert plainly == starts(jobs, start="easy(backfill_order=moody(sign=1))", plain=True) == [0, 10, 1, 19]


@pytest.mark.parametrize(
    ("learn", "words"),
    [
        (lambda state: None, "its learn"),
        (lambda state, memory, power=1.0: None, "should be written"),
        (lambda job, memory, sign=1.0: None, "(state, memory, sign=1.0)"),
    ],
)
def test_what_learns_takes_what_the_score_takes_besides(learn, words):
    with pytest.raises(HarnessError) as caught:
        Order("wrong", by_mood, memory=3, learn=learn)
    assert words in str(caught.value)


def test_what_learns_may_look_and_not_act(offered):
    def starts_somebody(state, memory, sign=1.0):
        harness.start(state, 0)

    offered(Order("acting", by_mood, memory=3, learn=starts_somebody))
    with pytest.raises(HarnessError, match=r"calls harness\.start, which only policies of start_jobs may call"):
        starts(MOODS, order="acting")


def test_a_mistake_while_learning_is_said_without_a_job(offered):
    def reads_too_far(state, memory, sign=1.0):
        memory[0] = state.jobs[10**6].procs

    offered(Order("far", by_mood, memory=3, learn=reads_too_far))
    for plain in (False, True):
        with pytest.raises(HarnessError, match=r"the policy 'far' \(order_queue\), at 0 s, used an index"):
            starts(MOODS, order="far", plain=plain)


# ---------------------------------------------------------------- orders that wrap another


def aged(job, clock, of="fcfs", weight=0.0):
    """The score of another order, less for those that have waited. `of`: which. `weight`: what a second counts."""
    return of - weight * (clock.now - job.submit)


def among(job, clock, memory, dice, priority=(0.0,), of="spf", factor=1.0):
    """Tables, memory and chance of its own beside what it wraps."""
    memory[0] += 1.0
    return of * factor + priority[len(priority) - 1] + 0.0 * harness.uniform(dice)


AGED = Order("aged", aged, order="of", varies=True)
AMONG = Order("among", among, order="of", memory=1)
LOG = harness.prepare(harness.lublin(jobs=150, procs=16, seed=4))


@both_ways
@pytest.mark.parametrize(
    "spec",
    ["aged", "aged(of=spf)", "aged(of='wfp3(power=2)')", "among(of='among(priority=[1, 2], of=saf)', priority=[3, 5])"],
)
def test_an_order_that_adds_nothing_is_the_order_that_it_wraps(offered, spec, plain):
    offered(AGED, AMONG)
    inner = {"aged": "fcfs", "aged(of=spf)": "spf", "aged(of='wfp3(power=2)')": "wfp3(power=2)"}.get(spec, "saf")
    found = harness.simulate(LOG, 16, Scheduler(order=spec), plain=plain)
    assert found.frame["start"].tolist() == harness.simulate(LOG, 16, Scheduler(order=inner)).frame["start"].tolist()


def test_it_varies_learns_and_is_known_by_what_it_wraps(offered):
    offered(AGED, AMONG, MOODY)
    policies = plugins().policies
    one = Scheduler(order="among(of='aged(of=moody)')").choose(policies)["order"]
    assert [str(choice.policy.name) for choice in one.chain] == ["among", "aged", "moody"]
    assert one.says("varies")
    assert one.says("learn")
    assert not one.says("dice")
    plain = Scheduler(order="among").choose(policies)["order"]
    assert not plain.says("varies")
    assert starts(MOODS, order="aged(of=moody)", start="none") == [0, 15, 10, 15]
    others = [versions_of(Scheduler(order=f"among(of={name})").choose(policies)) for name in ("saf", "laf")]
    assert others[0] != others[1]


def test_numbers_of_what_is_wrapped_lie_behind_the_own_ones(offered):
    offered(AMONG)
    choice = Scheduler(order="among(priority=[3, 5], of='wfp3(power=2)')").choose(plugins().policies)["order"]
    own = own_vector(choice, seed=1)
    assert own[int(own[1])] == 2.0  # power
    assert own[int(own[0]) :][:2].tolist() == [3.0, 5.0]
    assert own[2:4].tolist() == [1.0, 0.0]  # factor, memory


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("aged(of=itself)", "wraps more than 8 orders, or itself"),
        ("aged(of=fcsf)", "there is no order policy 'fcsf'; did you mean 'fcfs'"),
        ("aged(of=3)", "aged(of=3): expected the name of an order policy"),
        ("aged(of='wfp3(pover=2)')", "no parameter 'pover'; did you mean 'power'"),
    ],
)
def test_what_cannot_be_wrapped_is_refused(offered, spec, words):
    def itself(job, clock, of="itself"):
        return of

    offered(AGED, Order("itself", itself, order="of"))
    with pytest.raises(HarnessError) as caught:
        starts(MOODS, order=spec)
    assert words in str(caught.value)


def test_a_parameter_that_names_no_order_is_refused():
    with pytest.raises(HarnessError, match="a parameter of its function with the name of an order"):
        Order("wrong", aged, order="weight")


# ---------------------------------------------------------------- memory made anew for each run


class Seen:
    """Who was served how often."""

    def __init__(self):
        self.starts = {}


def fair(state, memory):
    """In order of how often their users were served."""
    for job in sorted(harness.waiting(state), key=lambda job: memory.starts.get(state.jobs[job].user, 0)):
        if harness.fits(state, job) and harness.start(state, job):
            user = state.jobs[job].user
            memory.starts[user] = memory.starts.get(user, 0) + 1


FAIR = Start("fair", fair, compiled=False, fresh=Seen)


def test_memory_of_any_kind_is_made_for_each_run(offered):
    offered(FAIR)
    rows = [(0, 4, 5, 5), (1, 4, 5, 5), (2, 4, 5, 5), (3, 4, 5, 5)]
    jobs = workload([(*row, {"user": user}) for row, user in zip(rows, (0, 0, 0, 1), strict=True)])
    for _ in range(2):
        assert starts(jobs, start="fair") == [0, 10, 15, 5]
    check_policy("fair", hook="start_jobs", checks=["runs", "fresh", "determinism"], examples=5)


@pytest.mark.slow
def test_memory_that_is_shared_between_runs_is_found():
    shared = Seen()
    with pytest.raises(PolicyFailure, match="the run differs"):
        check_policy(Start("unfair", unfair, compiled=False, fresh=lambda: shared), checks=["fresh"], examples=20)


def unfair(state, memory):
    """Another one first at every second question of its life."""
    memory.starts[0] = memory.starts.get(0, 0) + 1
    for job in harness.waiting(state)[:: -1 if memory.starts[0] % 2 else 1]:
        if harness.fits(state, job):
            harness.start(state, job)


@pytest.mark.parametrize(
    "traits",
    [
        {"fresh": Seen},  # compiled
        {"fresh": Seen, "compiled": False, "memory": 2},
        {"fresh": 3, "compiled": False},
    ],
)
def test_memory_that_cannot_be_is_refused(traits):
    with pytest.raises(HarnessError, match="expected a callable that makes its memory"):
        Start("wrong", fair, **traits)
    with pytest.raises(HarnessError, match="a function that names memory"):
        Start("wrong", lambda state: None, fresh=Seen, compiled=False)


# ---------------------------------------------------------------- further columns


def by_priority(job, clock, columns, sign=1.0):
    """The highest priority first, then the latest deadline."""
    return -sign * columns[0] - 1e-6 * columns[1]


def dear_ones(state, columns):
    """Only those with the highest priority among those that wait."""
    best = -1.0
    for job in harness.waiting(state):
        best = max(best, columns[job, 0])
    for job in harness.waiting(state):
        if columns[job, 0] == best and harness.fits(state, job):
            harness.start(state, job)


PRIORITY = Order("by-priority", by_priority, columns=("x_priority", "x_deadline"))
DEAR = Start("dear", dear_ones, columns=("x_priority",))
TABLE = pd.DataFrame(
    {
        "submit": [0, 2, 1, 3],  # not in order: columns follow the jobs
        "run": [9, 5, 5, 5],
        "procs": [4, 4, 4, 4],
        "x_priority": [0, 1, 5, 5],
        "x_deadline": [0.0, 0.0, 1.0, 2.5],
    }
)


@both_ways
def test_columns_follow_their_jobs(offered, plain):
    offered(PRIORITY, DEAR)
    log = harness.log_from_frame(TABLE, procs=4)
    assert starts(log, order="by-priority", start="none", plain=plain) == [0, 19, 14, 9]
    assert starts(log, order="by-priority(sign=-1)", start="none", plain=plain) == [0, 9, 19, 14]
    assert starts(log, start="dear", plain=plain) == [0, 19, 9, 14]


def test_columns_are_read_from_files_and_kept_by_variations(offered, tmp_path):
    offered(PRIORITY)
    TABLE.to_csv(tmp_path / "jobs.csv", index=False)
    read = harness.prepare(harness.read_workload(tmp_path / "jobs.csv"))
    assert read.jobs["x_priority"].tolist() == [0, 1, 5, 5]
    assert starts(read, order="by-priority", start="none") == [0, 19, 14, 9]
    log = harness.lublin(jobs=300, procs=16, seed=1)
    log = harness.log_from_frame(
        log.jobs.assign(x_priority=log.jobs["job"] % 7, x_deadline=0.0, user=log.jobs["job"] % 5), procs=16
    )
    drawn = harness.resample(harness.prepare(log), 1)
    assert (drawn.jobs["x_priority"] >= 0).all()


def test_nobody_sees_columns_of_jobs_that_are_not_submitted(offered):
    lengths = []

    def look(state, columns):
        lengths.append((columns.shape, len(state.jobs)))
        for job in harness.waiting(state):
            if harness.fits(state, job):
                harness.start(state, job)

    offered(Start("looking", look, columns=("x_priority",), compiled=False))
    starts(harness.log_from_frame(TABLE, procs=4), start="looking")
    assert all(shape == (count, 1) for shape, count in lengths)
    assert lengths[0][1] == 1


def test_columns_that_are_not_there_are_refused(offered):
    offered(PRIORITY, DEAR)
    with pytest.raises(HarnessError, match=r"asks for the column 'x_priority', which the workload .* does not have"):
        starts(MOODS, order="by-priority")
    log = harness.log_from_frame(TABLE.rename(columns={"x_priority": "x_priorty"}), procs=4)
    with pytest.raises(HarnessError, match="did you mean 'x_priorty'"):
        starts(log, start="dear")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Order("wrong", by_priority), "a function that names columns"),
        (lambda: Order("wrong", aged, columns=("x_a",)), "a function that names columns"),
        (
            lambda: Order("wrong", by_priority, columns=("work",)),
            "expected a further one, with a name that begins with x_",
        ),
        (lambda: Order("wrong", by_priority, columns="x_a"), "expected several"),
        (lambda: Energy("wrong", lambda node, clock, columns: 1.0, columns=("x_a",)), "account_energy may not"),
    ],
)
def test_columns_that_cannot_be_are_refused(make, words):
    with pytest.raises(HarnessError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.slow
def test_checks_make_up_columns(offered):
    offered(PRIORITY)
    check_policy("by-priority", examples=3)


# ---------------------------------------------------------------- traits of another kind than they are of

SOUND = {
    "order_queue": lambda job, clock: 1.0,
    "start_jobs": lambda state: None,
    "select_resources": lambda state, job: True,
    "set_rate": lambda state: 1.0,
    "set_sleep": lambda state: None,
    "account_energy": lambda node, clock: 1.0,
    "predict_runtime": lambda job, user, clock: 1.0,
    "hold_jobs": lambda state, job: 0.0,
}
ODD = [3, "word", (), (1, 2), {"a": 1}, {1: 2}, None, 1.5, math.nan, b"x", lambda: 0, [1], ("x",), True, object()]


@pytest.mark.parametrize("hook", SOUND)
def test_a_trait_of_whatever_kind_is_taken_or_refused_in_a_sentence(hook):
    kind, refusals = KINDS[hook], []
    kind("sound", SOUND[hook])
    for trait in dataclasses.fields(kind):
        for odd in ODD:
            if trait.name in ("name", "function"):
                continue
            try:
                kind("odd", SOUND[hook], **{trait.name: odd})
            except HarnessError as refused:
                refusals.append(str(refused))
    assert len(refusals) > 50
    assert all("'odd'" in refusal and "\n" not in refusal for refusal in refusals)


@pytest.mark.parametrize(
    ("trait", "sentence"),
    [
        ({"choices": {"a": "bc"}}, "expected the words of each parameter, as in"),
        ({"least": 3}, "least=3: expected a number for each parameter, as in {'power': 1}"),
        ({"rising": ("low", "high")}, "expected pairs of parameters, as in (('low', 'high'),)"),
        ({"needs": None}, "needs=None: expected several words, as in"),
        ({"learn": 3}, "learn=3: expected a function"),
        ({"order": ["fcfs"]}, "order=['fcfs']: expected the name of a parameter"),
    ],
)
def test_the_sentence_says_of_which_kind_it_is(trait, sentence):
    with pytest.raises(HarnessError, match=re.escape(sentence)):
        Order("odd", SOUND["order_queue"], **trait)
