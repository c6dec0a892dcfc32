"""Outages that were planted are inferred from the log, and none where there was none."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness import Events, Scheduler, lublin, prepare, read_events, simulate
from harness.results.export import simulated_log
from harness.workload.occupation import Occupation
from harness.workload.outages import Outage, as_events, outages

PROCS = 128


def logged(seed: int, events: Events | None = None) -> Occupation:
    workload = prepare(lublin(jobs=1500, procs=PROCS, seed=seed, load=0.8))
    return Occupation.of(simulated_log(simulate(workload, PROCS, Scheduler(energy="none"), events=events)).jobs)


def missing(begins: list[float], hours: float, nodes: int) -> Events:
    rows = [
        (begin + late, event, node)
        for begin in begins
        for late, event in ((0, "node-down"), (hours * 3600, "node-up"))
        for node in range(nodes)
    ]
    return Events(pd.DataFrame(rows, columns=["time", "event", "subject"]))


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_found_where_nothing_was_missing(seed: int) -> None:
    assert outages(logged(seed), PROCS) == []


@pytest.mark.parametrize("nodes", [PROCS, PROCS // 2])
def test_planted_outages_are_found(nodes: int) -> None:
    """Two of three, at the least, each within the interval in which it was; no alarm a day away from all of them."""
    submit = logged(1).submit
    begins = [round(at) for at in np.linspace(submit.min(), submit.max(), 5)[1:-1].tolist()]
    found = outages(logged(1, missing(begins, 16, nodes)), PROCS)
    hit = [any(one.begin < begin + 16 * 3600 and one.end > begin for one in found) for begin in begins]
    assert sum(hit) >= 2
    for one in found:
        assert any(begin - 86400 <= one.begin <= begin + 2 * 86400 for begin in begins)


def test_events_take_the_nodes_away_and_bring_them_back(tmp_path: Path) -> None:
    found = [Outage(10, 50, 3, 9), Outage(20, 30, 5, 9), Outage(60, 70, 8, 9)]
    frame = as_events(found, 8)
    down = np.zeros(8, dtype=int)
    seen = {}
    for row in frame.itertuples():
        down[row.subject] += 1 if row.event == "node-down" else -1
        assert set(down) <= {0, 1}
        seen[row.time] = int(down.sum())
    assert seen == {10: 3, 20: 5, 30: 3, 50: 0, 60: 8, 70: 0}
    frame.to_csv(tmp_path / "events.csv", index=False)
    assert len(read_events(tmp_path / "events.csv").frame) == len(frame)
    assert len(as_events([], 8)) == 0
