"""The checker is checked: broken policies are caught, each for the right reason, and sound ones pass."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.plugins import Plugins
from harness.testing import PolicyFailure, PolicyTests, check_policy

ZOO = Path(__file__).with_name("zoo.py")

#: Policy → the check it fails, and what is said.
CAUGHT = {
    "not_a_number": ("runs", "gave job 1 the score nan"),
    "divides_by_the_estimate": ("runs", "ZeroDivisionError: division by zero"),
    "asks_for_a_record_it_lacks": ("runs", "no attribute 'priority' in the policy .* for job 1, at 0 s"),
    "halves_the_estimate": ("runs", "changed 'estimate'"),
    "edits_the_job": ("read-only", "changes job.score"),
    "secretly_varies": ("varies", "had the score .* and has .* does not say varies=True"),
    "global_coins": ("determinism", "two runs of the same case with the same seed differ"),
    "remembers_too_long": ("determinism", "two runs of the same case with the same seed differ"),
    "two_languages": ("plain", "compiled and as plain Python, the runs differ"),
    "starts_what_does_not_fit": ("runs", "would overcommit the nodes"),
    "starts_twice": ("runs", "started job 1, which is not waiting"),
    "forgets_the_wide": ("runs", "left 1 jobs waiting, the first of them job 1"),
    "suspends_unasked": ("runs", "only policies declared preemptive=True may do"),
    "never_done": ("runs", "does not come to an end"),
    "calls_in_the_past": ("runs", "asked to be called again at"),
    "widens_the_machine": ("runs", "changed the count of free processors"),
    "shortens_the_wide": ("runs", "changed 'procs'"),
    "takes_turns": ("fresh", "differs with another one in its middle"),
    "overtakes": ("nobody overtakes", r"job \d starts although job \d is before it"),
    "reserves_nothing": ("first reservation", r"job \d was promised"),
    "later_and_later": ("every reservation", r"job \d was promised .* s, and later"),
    "promises_the_moon": ("guarantees", "guarantees 'everybody is happy'"),
    "takes_without_asking": ("runs", "would overcommit the node"),
    "one_too_few": ("runs", "chose 1 processors for job 1, which needs 2"),
    "always_declines": ("runs", "'always_declines' declined"),
    "ignores_memory": ("runs", "has room for 0 of its processors"),
    "stands_still": ("runs", "set the rate 0.0"),
    "changes_its_mind": ("constant", "asked once and asked at every instant"),
    "goes_to_sleep_later": ("runs", "ValueError: nobody was to ask again"),
    "negative": ("runs", "draws -.* W, where a number of at least 0"),
    "by_the_hour": ("energy", "changes with the time alone"),
    "charges_nobody": ("read-only", "changes node.busy"),
}


def failure(name):
    with pytest.raises(PolicyFailure) as caught:
        check_policy(name, plugins=[ZOO])
    return caught.value


@pytest.mark.parametrize("name", CAUGHT)
def test_is_caught_for_the_right_reason(name):
    check, sentence = CAUGHT[name]
    found = failure(name)
    assert found.check == check
    assert re.search(sentence, found.wrong)


def test_everybody_in_the_zoo_is_looked_at():
    there = {n for h, offered in Plugins([ZOO]).policies.items() for n in offered if n not in Plugins().policies[h]}
    assert there == set(CAUGHT)


def test_the_message_explains_and_gives_a_log_and_a_command_that_replay_it(tmp_path):
    found = failure("starts_what_does_not_fit")
    text = str(found)
    assert "why it matters: " in text
    log = re.search(r"^; MaxProcs.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)[0]
    assert len(log.splitlines()) == 3  # the machine and two jobs: one alone would fit
    command = text.splitlines()[-1]
    assert command.startswith("harness run failing.swf --procs 4 --plugins ")
    (tmp_path / "failing.swf").write_text(log + "\n")
    words = [sys.executable, "-m", *shlex.split(command)]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2
    assert "overcommit" in answer.stderr


@pytest.mark.parametrize(
    ("name", "error"), [("ignores_memory", harness.PolicyError), ("divides_by_the_estimate", ZeroDivisionError)]
)
def test_a_case_that_no_command_can_replay_is_given_in_python(tmp_path, monkeypatch, name, error):
    """Nodes that differ, and jobs that no log can hold."""
    found = failure(name)
    lines = str(found).partition("replayed by:\n")[2]
    monkeypatch.chdir(tmp_path)
    Path("failing.swf").write_text(found.case.swf())
    with pytest.raises(error):
        exec(lines, {})


@pytest.mark.parametrize("seed", range(20))
def test_a_case_and_its_log_are_the_same_jobs(seed, tmp_path):
    """What the command replays is what failed."""
    import hypothesis

    from harness.testing import cases

    offered = Plugins().policies["select_resources"]["first-fit"]

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=5, database=None, deadline=None)
    @hypothesis.given(cases.cases(offered, {}))
    def compare(case):
        path = tmp_path / "case.swf"
        path.write_text(case.swf())
        read = harness.prepare(harness.read_swf(path), unknown="cancel").jobs
        made = case.workload().jobs
        for column in ("job", "submit", "procs", "work", "estimate", "memory", "partition", "cancel"):
            assert read[column].tolist() == made[column].tolist(), column

    compare()


# ---------------------------------------------------------------- sound policies, and how they are named


def soonest(job, clock):
    return job.submit


def test_a_policy_that_nobody_registered_passes():
    check_policy(harness.Order("soonest", soonest), examples=5)


def test_parameters_can_be_fixed_and_checks_named():
    check_policy("preempt(at=departure)", checks=["runs", "capacity"], examples=5)
    check_policy("easy(backfill_order=wfp3(power=2))", checks=["runs"], examples=5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"policy": "none"}, "'none' is a policy of start_jobs and of account_energy: say which with hook="),
        ({"policy": "fcsf"}, "there is no policy 'fcsf'; did you mean 'fcfs'"),
        ({"policy": "fcfs", "hook": "order"}, "there is no hook 'order'"),
        ({"policy": "easy(reservation=2)"}, "no parameter 'reservation'; did you mean"),
        ({"policy": "fcfs", "checks": ["vary"]}, "there is no check 'vary'"),
    ],
)
def test_what_is_not_clear_is_refused(arguments, sentence):
    with pytest.raises(harness.HarnessError, match=re.escape(sentence)):
        check_policy(**arguments)


class TestFcfs(PolicyTests):
    policy = "fcfs"


class TestEasy(PolicyTests):
    policy = "easy"


class TestBestFit(PolicyTests):
    policy = "best-fit"


class TestFixed(PolicyTests):
    policy = "fixed"


class TestNever(PolicyTests):
    policy = "never"


class TestCores(PolicyTests):
    policy = "cores"


def test_inheriting_gives_one_test_for_each_check():
    class Function:
        fixturenames = ("check",)

        def parametrize(self, name, values):
            self.values = values

    metafunc = Function()
    TestEasy().pytest_generate_tests(metafunc)
    assert metafunc.values == [
        *("runs", "capacity", "completeness", "determinism", "fresh", "plain", "read-only", "guarantees"),
        "first reservation",
    ]


def test_without_hypothesis_it_says_what_to_install():
    code = "import sys; sys.modules['hypothesis'] = None; sys.argv[1:] = ['plugin', 'check', 'zoo.py']\n"
    code += "import harness.cli; harness.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "harness: harness.testing needs hypothesis: pip install 'sched-harness[testing]'\n"
