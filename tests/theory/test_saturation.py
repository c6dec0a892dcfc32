"""Saturated machines: a log's own throughput, and 1/C for service times that are not exponential."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Scheduler, lublin, prepare, simulate
from harness.errors import HarnessError
from harness.theory import saturated_constant, saturated_load, stability_constant


@settings(max_examples=10)
@given(st.integers(0, 99))
def test_the_load_of_a_log_is_what_a_replay_from_time_zero_takes(seed: int) -> None:
    """The simulator, given all jobs at time 0, takes as long as the recursion says."""
    workload = prepare(lublin(jobs=80, procs=32, seed=seed))
    jobs = workload.jobs
    found = saturated_load(jobs["submit"], jobs["work"], jobs["procs"], 32)
    at_once = prepare(lublin(jobs=80, procs=32, seed=seed))
    at_once.jobs["submit"] = 0.0
    schedule = simulate(at_once, 32, Scheduler(start="none", energy="none"))
    assert found * np.ptp(jobs["submit"]) == pytest.approx(schedule.frame["end"].max())


def test_all_at_one_instant_has_no_load() -> None:
    with pytest.raises(HarnessError, match="all arrive at one instant"):
        saturated_load([0, 0], [1, 1], [1, 1], 2)


@pytest.mark.parametrize(
    ("law", "expected"), [("exponential", 8 / 7), ("deterministic", 6 / 5), ("lognormal", 1.056), ("uniform", None)]
)
def test_the_constant_depends_on_the_law(law: str, expected: float | None) -> None:
    found = saturated_constant([0.5, 0.5], 2, law)
    if expected is None:
        assert found.high < 6 / 5
        assert found.low > 8 / 7
    else:
        assert found.low - 0.003 < expected < found.high + 0.003
    if law == "exponential":
        assert 1 / stability_constant([0.5, 0.5]) == pytest.approx(8 / 7)
    elif law != "uniform":
        assert not found.low < 8 / 7 < found.high


def test_an_unknown_law_is_refused() -> None:
    with pytest.raises(HarnessError, match="no law of service times 'determinstic'; did you mean 'deterministic'"):
        saturated_constant([1.0], 1, "determinstic")
