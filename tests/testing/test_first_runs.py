"""State outside a policy's functions that lasts from run to run is found, wherever it is kept; and a score in time."""

from pathlib import Path

import pytest

import harness
from harness.experiment.simulation import FrozenScoreWarning
from harness.policy.registry import plugins
from harness.policy_api.policy_diagnostics import reads_the_time
from harness.testing import PolicyFailure, check_policy

PLUGIN = """
import functools
import numpy as np
import harness

{kept}

def mine(job, clock):
    {count}
    return job.number if count > 6 else -job.number

@harness.hookimpl
def order_queue():
    return [harness.Order("mine", mine, compiled=False)]
"""

#: After some calls nothing changes any more: runs differ from the first one of their process alone.
KEPT = {
    "a list": ("seen = []", "seen.append(job.number); count = len(seen)"),
    "a dict": ("seen = {}", "count = seen['calls'] = seen.get('calls', 0) + 1"),
    "a set": ("seen = set()", "seen.add((len(seen), job.number)); count = len(seen)"),
    "an array": ("seen = np.zeros(1)", "seen[0] += 1; count = seen[0]"),
    "globals": ("", "count = globals()['calls'] = globals().get('calls', 0) + 1"),
    "a global": ("calls = 0\ndef more():\n    global calls\n    calls += 1\n    return calls", "count = more()"),
    "a closure": (
        "def counting():\n    seen = []\n    def more():\n        seen.append(1)\n        return len(seen)\n"
        "    return more\nmore = counting()",
        "count = more()",
    ),
    "a default argument": ("def more(seen=[]):\n    seen.append(1)\n    return len(seen)", "count = more()"),
    "an attribute of a class": ("class Seen:\n    calls = 0", "Seen.calls += 1; count = Seen.calls"),
    "an attribute of a function": ("", "count = mine.calls = getattr(mine, 'calls', 0) + 1"),
    "another module": ("", "import json; count = json.calls = getattr(json, 'calls', 0) + 1"),
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "where", [pytest.param(where, marks=[] if number < 3 else pytest.mark.slow) for number, where in enumerate(KEPT)]
)
def test_what_a_policy_keeps_from_run_to_run_is_found(where: str, tmp_path: Path) -> None:
    path = tmp_path / "leaks.py"
    kept, count = KEPT[where]
    path.write_text(PLUGIN.format(kept=kept, count=count))
    with pytest.raises(PolicyFailure, match=r"the first run of a process and .* differ: for job"):
        check_policy("mine", plugins=[path], checks=["first run"], examples=1)


@pytest.mark.slow
def test_what_it_keeps_without_an_effect_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "sound.py"
    path.write_text(PLUGIN.format(kept="seen = {}", count="count = seen.setdefault(job.number, job.number)"))
    check_policy("mine", plugins=[path], checks=["first run"], examples=1)


@pytest.mark.slow
def test_state_that_changes_only_once_is_found_by_the_first_run_alone(tmp_path: Path) -> None:
    """All cases after the first run in a process that has reached the last state."""
    path = tmp_path / "leaks.py"
    path.write_text(PLUGIN.format(kept="seen = {}", count="count = seen['calls'] = seen.get('calls', 0) + 1"))
    check_policy("mine", plugins=[path], checks=["runs", "fresh"], examples=1)
    with pytest.raises(PolicyFailure) as failure:
        check_policy("mine", plugins=[path], checks=["fresh", "first run"], examples=1)
    assert failure.value.check == "first run"


# ---------------------------------------------------------------- scores that read the time

SCORE = """
import harness

def late(job, clock):
    return clock.now - job.submit

def mine(job, clock):
    return {score}

@harness.hookimpl
def order_queue():
    return [harness.Order("mine", mine, varies={varies}, compiled=False)]
"""


@pytest.mark.parametrize("score", ["clock.now", "job.submit if clock.now < 1e9 else 0.0", "late(job, clock)"])
def test_a_score_that_reads_the_time_without_varies_is_reported(score: str, tmp_path: Path) -> None:
    path = tmp_path / "frozen.py"
    path.write_text(SCORE.format(score=score, varies=False))
    with pytest.raises(PolicyFailure, match=r"the score reads clock\.now, and without varies=True it is computed once"):
        check_policy("mine", plugins=[path], checks=["varies"], examples=1)
    with pytest.warns(FrozenScoreWarning, match=r"'mine' \(order_queue\) reads clock\.now without varies=True"):
        harness.simulate("poisson(jobs=5, procs=4)", 4, harness.Scheduler("mine"), plugins=[path])


def test_a_score_that_declares_that_it_varies_is_not_reported(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    path = tmp_path / "varying.py"
    path.write_text(SCORE.format(score="clock.now", varies=True))
    harness.simulate("poisson(jobs=5, procs=4)", 4, harness.Scheduler("mine"), plugins=[path])
    assert not [one for one in recwarn if issubclass(one.category, FrozenScoreWarning)]


def test_no_bundled_order_is_reported() -> None:
    orders = plugins().policies["order_queue"].values()
    assert [order.name for order in orders if not order.varies and reads_the_time(order)] == []
