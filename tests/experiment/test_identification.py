"""Which policies a log was written by is found by replaying it under all of them."""

from dataclasses import replace

import pytest

from harness import HarnessError, Scheduler, UndefinedError, adequacy, identify, lublin, prepare, simulate
from harness.policy.registry import plugins
from harness.results.export import simulated_log
from harness.workload.log import Workload

ORDERS = ("fcfs", "spf", "wfp3", "laf")
STARTS = ("none", "easy", "conservative")


def written_by(order: str, start: str) -> Workload:
    """A workload whose log says what this scheduler did."""
    generated = prepare(lublin(jobs=300, procs=32, seed=1, load=0.9), estimates="factor(3)")
    return prepare(simulated_log(simulate(generated, 32, Scheduler(order, start))))


@pytest.mark.parametrize(("order", "start"), [("fcfs", "none"), ("spf", "easy"), ("wfp3", "conservative")])
def test_the_policies_that_wrote_the_log_are_the_nearest(order: str, start: str) -> None:
    found = identify(written_by(order, start), orders=ORDERS, starts=STARTS)
    assert [(one.order, one.start) for one in found if one.P == 0] == [(order, start)]
    assert found[0].different == 0
    assert len(found) == 12
    assert [one.P for one in found] == sorted(one.P for one in found)


def test_every_likeness_is_the_adequacy_of_that_replay() -> None:
    workload = written_by("fcfs", "easy")
    for one in identify(workload, orders=ORDERS, starts=STARTS, workers=3):
        alone = adequacy(simulate(workload, None, Scheduler(one.order, one.start)))
        assert (one.P, one.E, one.median, one.p95) == (alone.P, alone.E, alone.median, alone.p95)
        assert one.different == alone.growth[-1].different


@pytest.mark.slow
def test_without_names_it_takes_all_that_do_not_preempt() -> None:
    progress: list[tuple[int, int]] = []
    found = identify(written_by("fcfs", "easy"), progress=lambda done, all_: progress.append((done, all_)))
    assert len(found) >= 40
    assert {one.order for one in found} == set(plugins().policies["order_queue"])
    assert {one.start for one in found} == {
        "none",
        "greedy",
        "easy",
        "conservative",
        "easy(backfill_order=spf)",
    }
    assert progress == [(done, len(found)) for done in range(1, len(found) + 1)]


def test_what_cannot_be_ranked_is_refused_at_once() -> None:
    workload = written_by("fcfs", "easy")
    silent = replace(workload, jobs=workload.jobs.assign(logged_wait=-1.0))
    with pytest.raises(UndefinedError, match="the wait of job 1 is unknown"):
        identify(silent)
    with pytest.raises(HarnessError, match="named twice"):
        identify(workload, orders=("fcfs", "fcfs"))
    with pytest.raises(HarnessError, match="no order policy 'fcsf'; did you mean 'fcfs'"):
        identify(workload, orders=("fcsf",), starts=("easy",))


def test_it_can_be_interrupted() -> None:
    def interrupt(done: int, all_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify(written_by("fcfs", "easy"), workers=2, progress=interrupt)
