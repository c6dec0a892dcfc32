"""Executions of one workload: matched by job, compared in pairs, and told when something in them went wrong."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from harness import Scheduler, UndefinedError, adequacy, lublin, parse, prepare, simulate
from harness.results.adequacy import stream_of_log
from harness.results.executions import compare_executions, matched, with_executed_times
from harness.results.export import simulated_log
from harness.results.overheads import fitted, fitted_overheads
from harness.workload.log import Log

PROCS = 32


@pytest.fixture(scope="module")
def planned() -> Log:
    return lublin(jobs=300, procs=PROCS, seed=3, load=0.9)


@pytest.fixture(scope="module")
def executions(planned: Log) -> list[Log]:
    """Three executions, each job launched some seconds late and submitted up to a second off."""
    workload = prepare(planned)
    made = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        work = workload.jobs["work"] + draw.exponential(2, len(workload))
        jobs = workload.jobs.assign(work=work, estimate=np.maximum(workload.jobs["estimate"], work))
        jobs["submit"] += draw.uniform(0, 1, len(workload))
        log = simulated_log(simulate(replace(workload, jobs=jobs, digest=str(seed)), PROCS, Scheduler(energy="none")))
        log = replace(log, name=f"execution {seed}", jobs=log.jobs.assign(estimate=planned.jobs["estimate"]))
        made.append(log)
    return made


def test_all_pairs_are_compared(executions: list[Log]) -> None:
    found = compare_executions(executions, PROCS)
    assert [one.incidents for one in found.executions] == [(), (), ()]
    assert [(pair.one[-1], pair.other[-1]) for pair in found.pairs] == [("0", "1"), ("0", "2"), ("1", "2")]
    for pair in found.pairs:
        ours, theirs = (stream_of_log(executions[int(name[-1])]) for name in (pair.one, pair.other))
        off = ours.residence - theirs.residence
        assert math.sqrt((off**2).mean()) == pytest.approx(pair.P)
    assert found.ideal == pytest.approx(np.mean([pair.P for pair in found.pairs]))
    assert found.upper == (max(pair.P for pair in found.pairs), 3 / 4)


def test_an_execution_stands_for_the_log(planned: Log, executions: list[Log]) -> None:
    workload = with_executed_times(prepare(planned), planned, executions[1])
    schedule = simulate(workload, PROCS, Scheduler(energy="none"))
    jobs = executions[1].jobs.sort_values("job")
    off = schedule.frame.sort_values("job")["response"].to_numpy() - (jobs["wait"] + jobs["run"]).to_numpy()
    assert pytest.approx(math.sqrt((off**2).mean())) == adequacy(schedule).P


def test_what_went_wrong_is_told(planned: Log, executions: list[Log]) -> None:
    narrow = prepare(planned, filter="procs <= 20")
    wide, small = (simulated_log(simulate(narrow, procs, Scheduler(energy="none"))) for procs in (PROCS, 20))
    asked = planned.jobs.set_index("job")["estimate"].reindex(wide.jobs["job"]).to_numpy()
    wide, small = (replace(log, jobs=log.jobs.assign(estimate=asked)) for log in (wide, small))
    early = np.random.default_rng(1).uniform(0, 1, len(wide.jobs))
    noisy, noisier = (
        wide.jobs.assign(submit=wide.jobs["submit"] - by, wait=wide.jobs["wait"] + by) for by in (early, 2 * early)
    )
    lossy = replace(wide, name="lossy", jobs=noisy.drop(index=[5, 9]).reset_index(drop=True))
    later = replace(wide, jobs=noisier)
    found = compare_executions([wide, small, lossy, later], PROCS, len(narrow))
    clean, shrunk, lost, late = (one.incidents for one in found.executions)
    assert clean == late == ()
    assert len(shrunk) == 1
    assert shrunk[0].startswith("never more than 20 of 32 processors were busy, though ")
    assert lost == (f"2 of {len(narrow)} jobs are missing",)
    unlike = compare_executions([wide, small, lossy, later], PROCS, len(narrow), alike=False)
    assert [one.incidents for one in unlike.executions] == [(), (), lost, ()]
    assert [pair.usual for pair in found.pairs] == [False, False, True, False, False, False]
    assert with_executed_times(narrow, planned, replace(wide, jobs=noisy.drop(index=5))).preparation[-1].jobs == 1


def test_other_workloads_are_refused(executions: list[Log]) -> None:
    one = stream_of_log(executions[0])
    with pytest.raises(UndefinedError, match=r"job \d+ was submitted [\d,.]+ s off; expected executions"):
        matched(
            one, stream_of_log(replace(executions[1], jobs=executions[1].jobs.assign(submit=np.arange(300) * 977.0)))
        )
    wider = executions[1].jobs.assign(procs=executions[1].jobs["procs"] + 1)
    with pytest.raises(UndefinedError, match="processors"):
        matched(one, stream_of_log(replace(executions[1], jobs=wider)))
    with pytest.raises(UndefinedError, match="no job is in both"):
        matched(one, stream_of_log(replace(executions[1], jobs=executions[1].jobs.assign(job=np.arange(1000, 1300)))))
    twice = pd.concat([executions[1].jobs.iloc[:299], executions[1].jobs.iloc[:1]], ignore_index=True)
    with pytest.raises(UndefinedError, match="occurs twice"):
        matched(one, stream_of_log(replace(executions[1], jobs=twice)))


def test_the_same_submissions_need_the_same_jobs(executions: list[Log]) -> None:
    log = executions[0]
    with pytest.raises(UndefinedError, match="300 jobs against 299"):
        matched(stream_of_log(log), stream_of_log(replace(log, jobs=log.jobs.iloc[:299])))


@pytest.mark.parametrize(
    ("drawn", "name", "parameters"),
    [
        (lambda draw: draw.exponential(4, 3000), "exponential", {"mean": 4}),
        (lambda draw: draw.uniform(2, 9, 3000), "uniform", {"low": 2, "high": 9}),
        (lambda draw: 5 * np.exp(0.4 * draw.standard_normal(3000)), "lognormal", {"median": 5, "sigma": 0.4}),
        (lambda draw: np.full(9, 3.0), "constant", {"seconds": 3}),
    ],
)
def test_the_distribution_that_was_drawn_is_fitted(drawn, name: str, parameters: dict[str, float]) -> None:
    found, values = parse(fitted(drawn(np.random.default_rng(1))))
    assert found == name
    assert values == pytest.approx(parameters, rel=0.05)


def test_overheads_are_found_again(executions: list[Log]) -> None:
    """The runtimes hold exponential overheads of mean 2 s; nobody is launched late."""
    found = fitted_overheads(executions, PROCS)
    assert found["launch"] == "constant(seconds=0)"
    assert float(found["completion"].split("=")[1].rstrip(")")) == pytest.approx(2, rel=0.15)
