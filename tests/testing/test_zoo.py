"""The checker is checked: broken policies are caught, each for the right reason, and sound ones pass."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from malformed import MALFORMED
from zoo_keeping import CAUGHT

import harness
from harness.policy.registry import Plugins, plugins
from harness.testing import PolicyFailure, PolicyTests, check_policy
from harness.testing.declared_checks import CHECKS
from harness.testing.offered import offered_policies

ZOO = Path(__file__).with_name("zoo")
plugins(str(ZOO))  # fills CAUGHT


def failure(name, checks=None):
    with pytest.raises(PolicyFailure) as caught:
        check_policy(name, plugins=[ZOO], checks=checks)
    return caught.value


@pytest.mark.parametrize("name", CAUGHT)
def test_is_caught(name):
    """By the check that is for it; the others, which take the time, are the study's."""
    check, sentence = CAUGHT[name]
    found = failure(name, [known for known in CHECKS if re.fullmatch(check, known)])
    assert re.search(sentence, found.wrong)


@pytest.mark.study
@pytest.mark.parametrize("name", CAUGHT)
def test_is_caught_for_the_right_reason(name):
    """Put to all checks in their order, it fails the one that is for it first."""
    check, sentence = CAUGHT[name]
    found = failure(name)
    assert re.fullmatch(check, found.check)
    assert re.search(sentence, found.wrong)


@pytest.mark.parametrize("what", MALFORMED)
def test_a_plugin_that_cannot_be_loaded_is_refused_in_a_sentence(what, tmp_path):
    text, sentence = MALFORMED[what]
    path = tmp_path / "malformed.py"
    path.write_text(text)
    with pytest.raises(harness.HarnessError, match=re.escape(sentence)) as refused:
        offered_policies(str(path))
    assert "\n" not in str(refused.value)


def test_the_zoo_is_large():
    assert len(CAUGHT) + len(MALFORMED) > 120


def replayed(command, folder):
    """What the command that replays a failing case gives in the folder of the case."""
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = os.environ | {"PYTHONPATH": str(ZOO.parent)}  # where the zoo's keeper is found
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_the_message_explains_and_gives_a_log_and_a_command_that_replay_it(tmp_path):
    found = failure("starts_what_does_not_fit")
    text = str(found)
    assert "why it matters: " in text
    log = re.search(r"^; MaxProcs.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)[0]
    assert len(log.splitlines()) == 3  # the machine and two jobs: one alone would fit
    command = text.splitlines()[-1]
    assert command.startswith("harness run failing.swf --procs 4 --plugins ")
    (tmp_path / "failing.swf").write_text(log + "\n")
    answer = replayed(command, tmp_path)
    assert answer.returncode == 2
    assert "overcommit" in answer.stderr


@pytest.mark.slow
def test_the_command_tells_what_the_policy_heard(tmp_path):
    found = failure("waits_for_clean_power_and_does_not_ask_to_be_called", ["runs"])
    (tmp_path / "failing.swf").write_text(found.case.swf())
    answer = replayed(str(found).splitlines()[-1], tmp_path)
    assert answer.returncode == 2
    assert "'waits_for_clean_power_and_does_not_ask_to_be_called' (start_jobs), at 0 s, left 1 jobs" in answer.stderr


@pytest.mark.quick_cases(1)
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
    @hypothesis.settings(max_examples=5, database=None)
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


@pytest.mark.slow
def test_a_policy_that_nobody_registered_passes():
    check_policy(harness.Order("soonest", soonest), examples=2)


def test_parameters_can_be_fixed_and_checks_named():
    check_policy("preempt(at=departure)", checks=["runs", "capacity"], examples=5)
    check_policy("easy(backfill_order=wfp3(power=2))", checks=["runs"], examples=5)


def one_each(state, job, user, group, queue, most=1):
    full = user.running >= most or group.running_procs >= most + 2 or queue.running >= most + 1
    return harness.INFINITY if full else state.clock.now


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("check", ["rechecked_on", "released_on"])
@pytest.mark.parametrize("hold", [harness.Hold("one-each", one_each), "limits(user_jobs=1, group_procs=2)"])
def test_a_hold_that_reads_the_records_of_the_jobs_user_passes(hold, check):
    """Of one job it is asked about after another, whose user, group and queue are others."""
    check_policy(hold, checks=[check])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"policy": "none"},
            "'none' is a policy of start_jobs and of account_energy and of hold_jobs: choose one with hook=",
        ),
        ({"policy": "fcsf"}, "there is no policy 'fcsf'; did you mean 'fcfs'"),
        ({"policy": "fcfs", "hook": "order"}, "there is no hook 'order'"),
        ({"policy": "easy(reservation=2)"}, "no parameter 'reservation'; did you mean"),
        ({"policy": "fcfs", "checks": ["vary"]}, "there is no check 'vary'"),
    ],
)
def test_what_is_not_clear_is_refused(arguments, sentence):
    with pytest.raises(harness.HarnessError, match=re.escape(sentence)):
        check_policy(**arguments)


class TestEasy(PolicyTests):
    policy = "easy"
    examples = 3


def test_inheriting_gives_one_test_for_each_check():
    class Function:
        fixturenames = ("check",)

        def parametrize(self, name, values):
            self.values = values

    metafunc = Function()
    TestEasy().pytest_generate_tests(metafunc)
    assert {"runs", "capacity", "first reservation"} < set(metafunc.values)
    assert not {"varies", "nobody overtakes", "energy"} & set(metafunc.values)


def test_without_hypothesis_it_says_what_to_install():
    code = "import sys; sys.modules['hypothesis'] = None; sys.argv[1:] = ['plugin', 'check', 'mine.py']\n"
    code += "import harness.cli; harness.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "harness: harness.testing needs hypothesis: pip install 'sched-harness[testing]'\n"
