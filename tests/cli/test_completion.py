"""What a shell completes is what there is; help names brackets and all."""

import os
import subprocess
import sys

import pytest

from harness.cli import completion
from harness.policy.kinds import KINDS
from harness.policy.registry import plugins


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run --order f", ["f1", "f2", "f3", "f4", "fairshare", "fcfs"]),
        ("run -s ea", ["easy"]),
        ("run --platform peas", ["peas-table2"]),
        ("run lub", ["lublin"]),
        ("tournament clas", ["classic"]),
        ("run --format mark", ["markdown"]),
        ("run --order nobody", []),
    ],
)
def test_a_shell_completes_what_is_installed(words, expected):
    asked = {
        "_HARNESS_COMPLETE": "complete_bash",
        "COMP_WORDS": f"harness {words}",
        "COMP_CWORD": str(words.count(" ") + 1),
    }
    command = [sys.executable, "-c", "import sys; sys.argv = ['harness']; from harness.cli import main; main()"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == expected, done.stderr


def test_every_policy_is_completed():
    for hook in KINDS:
        assert completion.policies(hook)("") == list(plugins().policies[hook])


def test_what_fails_completes_nothing():
    assert completion.complete_from(lambda: 1 / 0)("x") == []
