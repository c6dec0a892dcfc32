"""Parameters of policies: words for yes and no, tables as lists and from files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.experiment.field import expand
from harness.policy.registry import plugins
from harness.policy.scheduler import Scheduler
from harness.policy.spec import Choice, choose
from harness.policy.table import Table
from harness.policy_api.compiled_policies import own_vector


def by_queue(job, clock, memory, dice, first=False, priority=(0.0, 0.0), factor=2.0, other=(7,)):
    """The queue with the least priority first; `other` says which of the orders counts for nothing."""
    queue = min(max(job.queue, 0), len(priority) - 1)
    memory[0] += 1.0
    return priority[queue] * factor + (0.0 if first else other[0] * 0.0)


POLICY = harness.Order("by-queue", by_queue, memory=1, least={"priority": 0})
KNOWN = {"by-queue": POLICY}
LOG = "lublin(jobs=60, procs=16, seed=3)"


def chosen(spec):
    return choose(spec, "order_queue", KNOWN)


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("no", False), ("true", True), ("false", False), ("1", 1)])
def test_yes_and_no_are_words(word, value):
    assert chosen(f"by-queue(first={word})").values["first"] == value


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("first=yse", "expected yes or no"),
        ("first=on", "expected yes or no"),
        ("first=2", "expected yes or no"),
        ("priority=3", "expected a list of numbers"),
        ("priority=[]", "expected a list of numbers"),
        ("priority=[0, yes]", "expected a list of numbers"),
        ("priority=[0, -1]", "expected at least 0"),
        ("priority=nowhere", "there is no file 'nowhere'"),
        ("factor=[1, 2]", "expected a number"),
    ],
)
def test_what_is_no_such_value_is_refused(spec, words):
    with pytest.raises(harness.HarnessError) as caught:
        chosen(f"by-queue({spec})")
    assert words in str(caught.value)
    assert f"by-queue({spec.partition('=')[0]}=" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [("1.5", "a whole number, at most 2⁵³"), ("many", "a number"), (2**53 + 1, "a whole number, at most 2⁵³")],
)
def test_what_is_no_whole_number_is_refused(given, words):
    with pytest.raises(harness.HarnessError, match=f"expected {words}$"):
        choose(f"easy(reservations={given})", "start_jobs", plugins().policies["start_jobs"])


numbers = st.lists(st.integers(0, 100) | st.floats(0, 1e9), min_size=1, max_size=5)


@given(priority=numbers, other=numbers)
def test_a_table_is_written_as_it_is_read_and_lies_in_the_vector_of_the_policy(priority, other):
    one = chosen(f"by-queue(priority={priority}, other={other})")
    assert chosen(str(one)).values == one.values
    own = own_vector(one, seed=1)
    plain = own_vector(chosen("by-queue"), seed=1)
    assert own[4] == plain[4] == 0.0  # memory
    assert own[5].tobytes() == plain[5].tobytes()  # dice
    for place, table in ((1, priority), (3, other)):
        begin = int(own[place])
        assert own[begin - 1] == len(table)
        assert own[begin : begin + len(table)].tolist() == table


def test_a_file_is_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.csv").write_text("# queue, weight\n0, 10;\n\n5 # the last\n")
    found = chosen("by-queue(priority='weights.csv')")
    assert found.values["priority"] == Table((0.0, 10.0, 5.0))
    assert str(found) == "by-queue(priority='weights.csv')"
    (tmp_path / "weights.csv").write_text("0, ten\n")
    with pytest.raises(harness.HarnessError, match=r"weights\.csv, line 1: expected numbers"):
        chosen("by-queue(priority='weights.csv')")
    with pytest.raises(harness.HarnessError, match="there is no file"):
        chosen(f"by-queue(priority={str(tmp_path)!r})")


def test_a_sweep_takes_tables_out_of_a_list_of_tables():
    assert expand("by-queue(priority=[0, 1])", KNOWN) == ["by-queue(priority=[0, 1])"]
    swept = ["by-queue(priority=[0, 1])", "by-queue(priority=[2, 3])", "by-queue(priority='weights.csv')"]
    assert expand("by-queue(priority=[[0, 1], [2, 3], 'weights.csv'])", KNOWN) == swept
    assert expand("by-queue(factor=[1, 2])", KNOWN) == ["by-queue(factor=1)", "by-queue(factor=2)"]


def test_a_default_that_is_no_table_of_numbers_is_refused():
    def words(job, clock, names=("a", "b")):
        return 0.0

    with pytest.raises(harness.HarnessError, match="expected a list of numbers"):
        harness.Order("words", words)


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_a_table_decides(plain):
    """Queue 0 last: with the table that says so, and not otherwise."""
    log = harness.prepare(harness.read_workload(LOG))
    jobs = log.jobs.assign(queue=[0, 1] * 30, submit=0.0, procs=16)
    workload = type(log)(log.name, jobs, log.procs, log.name)
    harness.register(POLICY)
    try:
        first = {}
        for priority in ("[0, 1]", "[1, 0]"):
            scheduler = Scheduler(order=f"by-queue(priority={priority})", start="none")
            frame = harness.simulate(workload, 16, scheduler, plain=plain).frame
            first[priority] = int(jobs["queue"].to_numpy()[frame["start"].argsort().to_numpy()][:30].sum())
        assert first == {"[0, 1]": 0, "[1, 0]": 30}
    finally:
        harness.unregister(POLICY)


def test_choices_of_words_stay_words():
    policy = harness.Start("worded", lambda state, at=0: None, choices={"at": ("no", "yes")})
    assert Choice.plain(policy).values == {"at": "no"}
    assert choose("worded(at=yes)", "start_jobs", {"worded": policy}).values == {"at": "yes"}
