"""What an author reads who misspells a field, calls what is not there, or returns what is no answer."""

import inspect
import re

import pytest
from shared.running import choose

import harness
from harness.engine import policy_kernels
from harness.engine.records import docs
from harness.engine.simulate import simulate
from harness.policy import records
from harness.policy.kinds import KINDS, Energy, Order, Rate, Select, Sleep, Start
from harness.policy.registry import plugins
from harness.policy.spec import Choice
from harness.policy.vocabulary import VERBS, described
from harness.policy_api.policy_diagnostics import refuse_misuse

LOG = harness.prepare(harness.lublin(jobs=20, procs=4, seed=1))
SLEEPY = harness.Platform(
    "sleepy",
    (harness.NodeType(4, 1, idle=50.0, peak=100.0, sleep=(harness.SleepState("off", 1.0, 2.0, 3.0, 4.0, 5.0),)),),
)


@harness.jit
def helper(state):
    return state.clock.virtul


def misspelt_job(job, clock):
    return job.prcos * 1.0


def misspelt_clock(job, clock):
    return clock.noww - job.submit


def another_record(job, clock):
    return float(job.cores)


def misspelt_part(state):
    return state.jbos[0].procs


def misspelt_record(state, job):
    record = state.jobs[job]
    return record.memroy > 0


def misspelt_column(state):
    return state.nodes.spede.max()


def misspelt_in_a_helper(state):
    return helper(state)


def misspelt_written(state):
    state.jobs[0].reservd = 1.0


def misspelt_node(node, clock):
    return node.peek * 1.0


MISSPELT = [
    (Order, misspelt_job, "'prcos', which the job does not have; did you mean 'procs'?"),
    (Order, misspelt_clock, "'noww', which the clock does not have; did you mean 'now'?"),
    (Order, another_record, "'cores', which the job does not have; "),
    (Start, misspelt_part, "'jbos', which the state does not have; did you mean 'jobs'?"),
    (Select, misspelt_record, "'memroy', which the job does not have; did you mean 'memory'?"),
    (Rate, misspelt_column, "'spede', which the node does not have; did you mean 'speed'?"),
    (Rate, misspelt_in_a_helper, "'virtul', which the clock does not have; did you mean 'virtual'?"),
    (Start, misspelt_written, "'reservd', which the job does not have; did you mean 'reserved'?"),
    (Energy, misspelt_node, "'peek', which the node does not have; did you mean 'peak'?"),
]


def no_such_verb(state):
    harness.fist(state, 0)


def no_such_constant(state):
    return 1.0 if state.nodes[0].status == harness.AWAEK else 2.0


def starts(state):
    harness.start(state, 0)


def starts_in_a_helper(state):
    starts(state)
    return 1.0


def takes(state):
    harness.take(state, 0, 0, 1)


def sleeps(state, job):
    harness.put_to_sleep(state, 0)
    return True


def plans(state):
    return harness.earliest_fit(state, 1, 1.0)


def levels(state):
    harness.call_at_work(state, 1.0)


MISCALLED = [
    (Start, no_such_verb, "harness.fist, which does not exist; did you mean 'fits'?"),
    (Rate, no_such_constant, "harness.AWAEK, which does not exist; did you mean 'AWAKE'?"),
    (Sleep, starts, "calls harness.start, which only policies of start_jobs may call"),
    (Rate, starts_in_a_helper, "calls harness.start, which only policies of start_jobs may call"),
    (Start, takes, "calls harness.take, which only policies of select_resources may call"),
    (Select, sleeps, "calls harness.put_to_sleep, which only policies of set_sleep may call"),
    (Rate, plans, "calls harness.earliest_fit, which only policies of start_jobs may call"),
    (Start, levels, "calls harness.call_at_work, which only policies of set_rate may call"),
]


def nothing_for_a_job(job, clock):
    job.submit + clock.now


def a_word(job, clock):
    return "soon"


def nothing_taken(state, job):
    harness.take(state, job, harness.next_free(state, -1), 1)


def sometimes_nothing(state, job):
    if state.clock.now < 0:
        return True
    return None


def nothing_of_a_rate(state):
    state.clock.now + 1


def nothing_of_watts(node, clock):
    node.peak + 1


SCORE, TAKEN = "where a number was expected", "where True (taken) or False (declined) was expected"
MISANSWERED = [
    (Order, nothing_for_a_job, "nothing", SCORE),
    (Order, a_word, "", SCORE),
    (Select, nothing_taken, "nothing", TAKEN),
    (Select, sometimes_nothing, "nothing", TAKEN),
    (Rate, nothing_of_a_rate, "nothing", "where a number was expected"),
    (Energy, nothing_of_watts, "nothing", "where a number of watts was expected"),
]


def refused(kind, function, plain):
    """The sentence that an author sees."""
    policy = kind(function.__name__.replace("_", "-"), function)
    chosen = choose(**({"energy": "cores"} | {kind.part: policy}))
    with pytest.raises(harness.HarnessError) as caught:
        simulate(LOG, SLEEPY, chosen, plain=plain)
    sentence = str(caught.value)
    assert sentence.startswith(f"the policy {policy.name!r} ({policy.hook})")
    assert "\n" not in sentence
    return sentence


both_ways = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


@both_ways
@pytest.mark.parametrize(("kind", "function", "words"), MISSPELT, ids=lambda value: getattr(value, "__name__", ""))
def test_a_field_that_does_not_exist_is_refused_with_the_nearest(kind, function, words, plain):
    sentence = refused(kind, function, plain)
    assert words in sentence
    assert plain or re.search(r"\(test_misuse\.py, line \d+\)$", sentence)


@both_ways
@pytest.mark.parametrize(("kind", "function", "words"), MISCALLED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_may_not_be_called_is_refused_before_anything_runs(kind, function, words, plain):
    sentence = refused(kind, function, plain)
    assert words in sentence
    assert re.search(r"\(test_misuse\.py, line \d+\)", sentence)


@both_ways
@pytest.mark.parametrize(
    ("kind", "function", "returned", "words"), MISANSWERED, ids=lambda value: getattr(value, "__name__", "")
)
def test_an_answer_of_a_wrong_kind_is_refused(kind, function, returned, words, plain):
    sentence = refused(kind, function, plain)
    assert returned in sentence
    assert words in sentence


def test_the_line_is_that_of_the_mistake():
    sentence = refused(Order, misspelt_job, plain=False)
    lines, first = inspect.getsourcelines(misspelt_job)
    wrong = first + next(place for place, line in enumerate(lines) if "prcos" in line)
    assert sentence.endswith(f"(test_misuse.py, line {wrong})")


@pytest.mark.parametrize("hook", KINDS)
def test_no_bundled_policy_is_refused(hook):
    for policy in plugins().policies[hook].values():
        refuse_misuse(policy)


def test_answers_may_be_numbers_of_any_kind():
    for answer in (True, 3, 2.5):
        policy = Order("fixed", lambda job, clock, answer=answer: answer)
        assert policy_kernels.kernel_of(Choice.plain(policy), 0).python is None


def test_every_function_that_policies_call_is_listed_and_no_other():
    engine = {
        name
        for name in harness.__all__
        if str(getattr(getattr(harness, name), "__module__", "")).startswith("harness.engine.")
        and not inspect.isclass(getattr(harness, name))
    }
    assert engine - {"jit", "described"} == set(
        VERBS
    )  # `described`: what learners see of a job, for orders like `network`
    assert {hook for hooks in VERBS.values() for hook in hooks} == set(KINDS)


@pytest.mark.parametrize(("signature", "meaning", "hooks"), list(described()), ids=lambda text: text.split("(")[0])
def test_every_function_says_what_it_does(signature, meaning, hooks):
    assert re.fullmatch(r"\w+\(.+\)", signature)
    assert ":" not in signature  # no types, no Any
    assert len(meaning) > 10
    assert hooks


def test_every_field_of_every_record_says_what_it_means():
    assert [(record, name) for record, name, _, meaning in docs.fields() if not meaning] == []
    assert {record for record, *_ in docs.fields()} == set(docs.RECORDS)
    listed = {record.capitalize() for record in docs.RECORDS} | {"State"}
    assert {name for name, kind in vars(records).items() if hasattr(kind, "__dataclass_fields__")} == listed
