"""Who would have started earlier without those who came later."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.platform.machine import plain
from harness.results.fairness import Fairness, fairness
from harness.results.schedule import Schedule
from harness.workload.log import Workload

Run = Callable[..., Schedule]
Make = Callable[..., Workload]


@pytest.mark.parametrize("start", ["none", "conservative"])
def test_in_order_nobody_is_delayed_by_later_jobs(run: Run, make: Make, start: str) -> None:
    """Nor by conservative backfilling, when estimates are exact."""
    workload = make(0, jobs=60)
    jobs = workload.jobs.assign(estimate=np.maximum(workload.jobs["work"], 1.0), cancel=np.inf)
    replay = partial(run, platform=plain(12), start=start, energy="none")
    workload = replace(workload, jobs=jobs[jobs["work"] > 0].reset_index(drop=True))
    result = fairness(replay(workload), replay)
    assert result == Fairness(len(workload), 0, 0.0, 0.0, 0.0)


def test_a_wide_job_that_greed_starves(run: Run, make: Make) -> None:
    """Two processors: 1 runs on one, 2 wants both, 3 and 4 overtake it and delay it from 10 to 27."""
    jobs = make(0, jobs=4).jobs.assign(
        submit=[0.0, 1.0, 2.0, 8.0], procs=[1, 2, 1, 1], work=[10.0, 5.0, 15.0, 17.0], estimate=99.0, cancel=np.inf
    )
    workload = Workload("starved", jobs, 2, "")
    replay = partial(run, platform=plain(2), start="greedy", energy="none")
    schedule = replay(workload)
    assert schedule.frame["start"].tolist() == [0, 27, 2, 10]
    assert fairness(schedule, replay) == Fairness(4, 1, 0.25, 17.0, 17.0)


def test_log_order_does_not_matter(run: Run, make: Make) -> None:
    replay = partial(run, order="lcfs", start="greedy")
    workload = make(4, jobs=60)
    distinct = replace(workload, jobs=workload.jobs.assign(submit=workload.jobs["submit"] + np.arange(60) / 64))
    turned = replace(distinct, jobs=distinct.jobs[::-1].reset_index(drop=True))
    result = fairness(replay(distinct), replay)
    assert result == fairness(replay(turned), replay)
    assert result.unfair > 0
    assert result.max_delay >= result.mean_delay > 0


def test_a_sample(run: Run, make: Make) -> None:
    replay = partial(run, start="greedy")
    schedule = replay(make(5, jobs=60))
    sample = fairness(schedule, replay, sample=10, seed=1)
    assert sample.examined == 10
    assert sample == fairness(schedule, replay, sample=10, seed=1)
    assert fairness(schedule, replay, sample=1000).examined == len(schedule.ran)
    with pytest.raises(HarnessError, match="sample=0"):
        fairness(schedule, replay, sample=0)


def test_delays_against_a_slow_twin(run: Run, make: Make) -> None:
    """Every job replayed with those alone that had arrived, by (submit, log order)."""
    replay = partial(run, start="greedy")
    workload = make(5, jobs=60)
    schedule, jobs = replay(workload), workload.jobs
    delays = []
    for row in schedule.ran.index:
        came = [(jobs["submit"][other], other) <= (jobs["submit"][row], row) for other in jobs.index]
        alone = replay(replace(workload, jobs=jobs[came].reset_index(drop=True)))
        delays.append(schedule.frame["start"][row] - alone.frame["start"][sum(came[:row])])
    late = [delay for delay in delays if delay > 1e-6]
    assert len(late) > 2
    expected = Fairness(len(delays), len(late), len(late) / len(delays), float(np.mean(late)), max(late))
    assert fairness(schedule, replay) == expected
    assert f"{len(late)} of {len(delays)} jobs" in str(expected)
    assert f"by {np.mean(late):,.0f} s on average and {max(late):,.0f} s at most" in str(expected)
