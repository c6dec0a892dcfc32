"""Where a replay departs from its log: the cells share out all of the error, and a planted rule is found."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Scheduler, lublin, prepare, simulate
from harness.results import breakdown_words as words
from harness.results.breakdown import breakdown
from harness.results.export import simulated_log
from harness.workload.frame import log_from_frame
from harness.workload.occupation import Occupation, periods

jobs = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 30), st.integers(1, 20), st.integers(1, 6)), min_size=1, max_size=14
)


def logged(rows):
    submit, wait, run, procs = zip(*rows, strict=True)
    return log_from_frame(pd.DataFrame({"submit": submit, "wait": wait, "run": run, "procs": procs}))


@given(jobs)
def test_the_occupation_second_by_second(rows) -> None:
    """Against counting who is there in every second."""
    machine = Occupation.of(logged(rows).jobs)
    busy = [
        sum(procs for submit, wait, run, procs in rows if submit + wait <= second < submit + wait + run)
        for second in range(120)
    ]
    assert machine.peak == max(busy)
    free = [7 - held for held in busy]
    expected = [
        sum(free[second] >= procs for second in range(submit, submit + wait)) for submit, wait, _, procs in rows
    ]
    assert machine.fitting(7).tolist() == pytest.approx(expected)
    running = [second for second in range(120) if busy[second]]
    if running:
        span = max(s + w + r for s, w, r, _ in rows) - min(s + w for s, w, _, _ in rows)
        assert machine.above(3) == pytest.approx(sum(held > 3 for held in busy) / span)
    for second in range(120):
        before = sum(p for s, w, r, p in rows if s + w < second < s + w + r)
        assert machine.busy_at(np.array([float(second)]))[0] == before


def test_periods_of_waits() -> None:
    draw = np.random.default_rng(1)
    assert periods(draw.integers(1, 5000, 400).astype(float)) == []
    assert periods(np.zeros(100)) == []
    assert periods(60.0 * draw.integers(0, 50, 400))[0] == (60, 1.0)
    assert periods(300.0 * draw.integers(0, 50, 400))[0] == (300, 1.0)


@pytest.fixture(scope="module")
def planted():
    """A machine like ours, but jobs of more than 8 h begin at 18 h only, and what they would take stays idle."""
    generated = prepare(lublin(jobs=1500, procs=256, seed=2, load=0.5), estimates="actual")
    log = simulated_log(simulate(generated, 256, Scheduler(energy="none")))
    start = log.jobs["submit"] + log.jobs["wait"]
    long = log.jobs["estimate"] > 8 * 3600
    evening = np.ceil((start - 18 * 3600) / 86400) * 86400 + 18 * 3600
    log.jobs["wait"] = np.where(long, evening - log.jobs["submit"], log.jobs["wait"])
    return simulate(prepare(log), 256, Scheduler(energy="none"))


def test_a_planted_rule_is_seen(planted) -> None:
    found = breakdown(planted)
    first = found.most_important().iloc[0]
    assert first["by"] == "requested time [h]"
    assert float(first["cell"].split("–")[0]) >= 8
    assert (first["hour"], first["hour_share"]) == (18, 1)
    assert first["bias"] < -3600
    assert first["fitting"] > 0.5
    assert "18–19 h (100%)" in words.rows(found)[0][-1]
    assert any("would have fit" in sentence for sentence in words.sentences(found))


def test_the_cells_of_each_kind_share_all_of_the_error(planted) -> None:
    cells = breakdown(planted).cells
    for _, part in cells.groupby("by"):
        assert part["jobs"].sum() == 1500
        assert part["share"].sum() == pytest.approx(1)
        assert part["error"].sum() == pytest.approx(1)
    assert {"width [procs]", "requested time [h]", "hour submitted", "weekday submitted"} <= set(cells["by"])


def test_the_first_departure(planted) -> None:
    found = breakdown(planted).departure
    frame = planted.frame
    log = frame["submit"] + frame["logged_wait"]
    apart = (frame["start"] - log).abs() > 1e-6
    instant = np.minimum(frame["start"], log)[apart].min()
    row = frame[(frame["job"] == found.job)].iloc[0]
    assert min(row["start"], row["submit"] + row["logged_wait"]) == instant
    assert found.waiting == ((frame["submit"] <= instant) & (log >= instant)).sum()
    busy = frame["procs"][(log < instant) & (log + frame["logged_run"] > instant)].sum()
    assert found.free == 256 - busy


@settings(max_examples=5)
@given(st.integers(0, 99))
def test_a_replay_that_is_the_log_departs_nowhere(seed: int) -> None:
    generated = prepare(lublin(jobs=60, procs=32, seed=seed))
    log = simulated_log(simulate(generated, 32, Scheduler(energy="none")))
    found = breakdown(simulate(prepare(log), 32, Scheduler(energy="none")))
    assert found.departure is None
    assert len(found.most_important()) == 0
    assert words.rows(found) == []
