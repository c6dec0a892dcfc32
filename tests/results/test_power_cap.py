"""A platform that draws more than the cap of a policy is reported, whatever the kind of the policy."""

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.policy.kinds import Rate
from harness.results.power_cap import CapWatch, PowerCapWarning

WORKLOAD = "lublin(jobs=60, procs=128, seed=1, load=0.9)"

SAMPLE = np.dtype([("time", "f8"), ("power", "f8")])


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), min_size=1, max_size=20),
    st.integers(0, 20),
    st.integers(1, 20),
)
def test_the_time_above_a_cap_against_a_slow_twin(steps: list[tuple[int, int]], cap: int, piece: int) -> None:
    """However the engine hands the samples over."""
    times = np.cumsum([apart for apart, _ in steps])
    samples = np.array([(time, watts) for time, (_, watts) in zip(times, steps, strict=True)], SAMPLE)
    watch = CapWatch("capped", cap)
    for begin in range(0, len(samples), piece):
        watch.add(samples[begin : begin + piece])
    spans = [(later[0] - now[0], now[1]) for now, later in pairwise(samples.tolist())]
    above, whole = sum(span for span, watts in spans if watts > cap), sum(span for span, _ in spans)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        watch.warn()
    assert len(told) == (above > 0)
    if above:
        most = max(watts for _, watts in samples.tolist())
        assert f"draws up to {most:,.6g} W, and more than {cap:,} W for {above / whole:.3g} of" in str(told[0].message)


@pytest.mark.filterwarnings("error:.*does not keep its cap")
def test_a_cap_that_cannot_be_kept_is_reported_and_one_that_can_is_not() -> None:
    harness.simulate(WORKLOAD, "synthetic-11", harness.Scheduler(rate="powercap(watts=1e5)"))
    with pytest.warns(
        PowerCapWarning, match=r"'powercap\(watts=500\)' does not keep its cap: the platform draws up to"
    ):
        harness.simulate(WORKLOAD, "synthetic-11", harness.Scheduler(rate="powercap(watts=500)"))


PLUGIN = """
import harness

def start(state, budget=700.0):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)

@harness.hookimpl
def start_jobs():
    return [harness.Start("frugal", start, cap="budget", compiled=False)]
"""


@pytest.mark.filterwarnings("error:.*does not keep its cap")
def test_the_cap_of_any_policy_is_watched_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "frugal.py"
    path.write_text(PLUGIN)
    with pytest.warns(PowerCapWarning, match="the policy 'frugal' does not keep its cap"):
        told = harness.simulate(WORKLOAD, "synthetic-11", harness.Scheduler(start="frugal"), plugins=[path])
    kept = harness.simulate(WORKLOAD, "synthetic-11", harness.Scheduler(start="frugal(budget=1e6)"), plugins=[path])
    assert kept.digest == told.digest
    assert kept.measures() == pytest.approx(told.measures(), nan_ok=True)


@pytest.mark.parametrize(
    ("cap", "words"), [("wats", "declares a parameter 'wats'"), ("how", "expected a parameter that is a number")]
)
def test_a_cap_that_is_no_number_is_refused(cap: str, words: str) -> None:
    def capped(state, watts=1.0, how=0):  # type: ignore[no-untyped-def]
        return 1.0

    with pytest.raises(HarnessError, match=words):
        Rate("capped", capped, cap=cap, choices={"how": ("a", "b")})
