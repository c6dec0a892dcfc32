"""Simulations in several threads of one process do not disturb one another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from shared.running import bundled
from shared.strategies import POWER, seeded_rows, workload

import harness
from harness.platform.machine import NodeType, Platform
from harness.policy.kinds import Order

SCHEDULERS = [
    {"start": "easy", "select": "random"},
    {"start": "conservative"},
    {"order": "wfp3", "start": "easy(backfill_order=spf)"},
    {"order": "lcfs", "start": "preempt"},
]


def runs():
    """So many different simulations as (workload, platform, seed, scheduler)."""
    made = []
    for seed in range(6):
        rows, procs = seeded_rows(seed, most=40, cancellations=False)
        platform = Platform("powered", (NodeType(procs, 1, **POWER), NodeType(2, 2, **POWER)))
        made += [(workload(rows), platform, seed, parts) for parts in SCHEDULERS]
    return made


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_threads_give_what_a_single_one_gives(run, plain):
    def one(case):
        jobs, platform, seed, parts = case
        return run(jobs, platform, seed=seed, plain=plain, energy="cores", **parts).jobs.tolist().__repr__()

    alone = [one(case) for case in runs()]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(one, runs() * 3)) == alone * 3


def test_a_failure_in_one_thread_is_not_another_ones(run):
    def score(job, clock):
        if job.number == 7:
            raise LookupError("mine")
        return job.submit

    failing = Order("fails-at-seven", score, compiled=False)

    def one(order):
        jobs = workload([(k, 1, 5, 5) for k in range(20)])
        try:
            return float(np.nansum(run(jobs, harness.plain(2), order=order).jobs.start))
        except LookupError as error:
            return str(error)

    expected = one("fcfs")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(one, ["fcfs", failing] * 10)) == [expected, "mine"] * 10
    assert "fcfs" in bundled()["order_queue"]
