"""When Slurm's backfill goes over the queue: every interval if anything has changed since it did so last."""

import numpy as np
import pytest
from small_clusters import CORES, WHOLE, cluster, dump

import harness
from harness.slurm.fair_tree import Shares
from harness.slurm.loops import Loops
from harness.slurm.requests import requests_of

#: Nodes are never called, and records of jobs are kept: nothing changes but by jobs.
QUIET = "SlurmdTimeout=0\nMinJobAge=0\n"

#: The first job runs for an hour; between these times nobody comes or goes [s].
LULL = 120.0, 3500.0


class Observed(Loops):
    """Loops that write down when they backfill."""

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self.passes: list[float] = []

    def _backfill(self) -> None:
        self.passes.append(self.now)
        super()._backfill()


def all_passes(tmp_path, text, rows, seed=0):
    """When the backfill goes over the queue [s]."""
    log = dump(tmp_path, rows)
    machine = cluster(tmp_path, text)
    loops = Observed(machine, requests_of(harness.prepare(log), log, machine), Shares(), seed)
    loops.run()
    found = np.array(loops.passes)
    assert (np.diff(found) >= 30.0).all()
    return found


def passes(tmp_path, text, rows, seed=0):
    """When it does so while nobody comes or goes [s]."""
    found = all_passes(tmp_path, text, rows, seed)
    return found[(found > LULL[0]) & (found < LULL[1])]


@pytest.mark.parametrize("seed", range(3))
def test_that_somebody_waits_is_no_reason_to_go_over_the_queue_again(tmp_path, seed):
    """The second waits for all nodes of the first."""
    rows = [(0, 3600, 61, 4, {}), (5, 100, 10, 4, {})]
    assert len(passes(tmp_path, WHOLE + QUIET, rows, seed)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_an_idle_node_that_is_promised_is_a_change_each_time(tmp_path, seed):
    rows = [(0, 3600, 61, 3, {}), (5, 100, 10, 4, {})]
    found = passes(tmp_path, WHOLE + QUIET, rows, seed)
    assert len(found) >= (LULL[1] - LULL[0]) / 31.0 - 1


@pytest.mark.parametrize("seed", range(3))
def test_a_start_put_off_to_the_end_of_a_promise_is_a_change_each_time(tmp_path, seed):
    """The third is planned after the second, whose promise ends with a slot."""
    rows = [(0, 3600, 61, 4, {}), (5, 100, 10, 4, {}), (6, 100, 10, 4, {})]
    found = passes(tmp_path, WHOLE + QUIET, rows, seed)
    assert len(found) >= (LULL[1] - LULL[0]) / 31.0 - 1


@pytest.mark.parametrize("seed", range(3))
def test_the_main_loop_notes_each_time_that_a_job_waits_for_a_licence(tmp_path, seed):
    """It looks at the whole queue once a minute; if a backfill is in the same second, there is another one after it."""
    licences = {"ReqTRES": "cpu=1,node=1,license/solver=2"}
    rows = [(0, 3600, 61, 1, licences), (5, 100, 10, 1, licences)]
    found = passes(tmp_path, CORES + QUIET, rows, seed)
    minutes = (LULL[1] - LULL[0]) / 60.0
    assert minutes - 2 <= len(found) <= 2 * minutes


@pytest.mark.parametrize("seed", range(3))
def test_throwing_the_record_of_a_job_away_is_a_change(tmp_path, seed):
    """Five minutes after its end, when the main loop looks at the whole queue."""
    rows = [(0, 3600, 61, 3, {}), (0, 60, 2, 1, {})]
    found = passes(tmp_path, WHOLE + "SlurmdTimeout=0\n", rows, seed)
    assert 360.0 <= found[0] <= 425.0
    assert len(found) <= 2  # once more if it was in the same second
    assert found[-1] <= found[0] + 32.0
    assert len(passes(tmp_path, WHOLE + QUIET, rows, seed)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_answer_a_call_are_a_change(tmp_path, seed):
    found = passes(tmp_path, WHOLE + "SlurmdTimeout=600\nMinJobAge=0\n", [(0, 3600, 61, 4, {})], seed)
    calls = (LULL[1] - LULL[0]) / 200.0
    assert calls - 1 <= len(found) <= 2 * calls + 1


@pytest.mark.parametrize(("calls", "at_once"), [("SlurmdTimeout=0\n", 40), ("SlurmdTimeout=300\n", 28)])
def test_a_machine_that_was_idle_backfills_as_soon_as_somebody_comes(tmp_path, calls, at_once):
    """Unless nodes were called within the interval, which is the third part of the time between two calls."""
    first = np.array([all_passes(tmp_path, WHOLE + calls, [(0, 60, 2, 1, {})], seed)[0] for seed in range(40)])
    assert (first <= 31.2).all()
    assert (first <= 1.2).sum() == pytest.approx(at_once, abs=8)


def test_a_machine_whose_backfill_seldom_goes_is_met_anywhere_in_its_interval(tmp_path):
    """Nodes that answer calls are news whenever it may go again, so that it goes on the idle machine too."""
    text = WHOLE + "SlurmdTimeout=300\nSchedulerParameters=bf_interval=300\n"
    first = np.array([all_passes(tmp_path, text, [(0, 3600, 61, 4, {})], seed)[0] for seed in range(60)])
    assert (first <= 301.2).all()
    assert np.quantile(first, [0.25, 0.5, 0.75]) == pytest.approx([75.0, 150.0, 225.0], abs=45.0)
