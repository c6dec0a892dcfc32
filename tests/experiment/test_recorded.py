"""A schedule replayed in a policy's place gives what it gave when it was made, or is refused as it cannot have been."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.experiment.external_schedule import ExternalSchedule
from harness.platform.machine import NodeType, Platform
from harness.workload.log import Log, Workload

PROCS = 16


def prepared(jobs: int = 60, seed: int = 3) -> Workload:
    return harness.prepare(harness.lublin(jobs=jobs, procs=PROCS, seed=seed, load=0.9))


def written(schedule: harness.Schedule, folder: Path, suffix: str) -> Log:
    path = folder / f"theirs.{suffix}"
    schedule.export(path)
    return harness.read_workload(str(path))


@pytest.mark.parametrize("suffix", ["csv", "swf", "parquet"])
@pytest.mark.parametrize("start", ["none", "easy", "conservative"])
def test_the_schedule_of_a_run_is_that_run(start: str, suffix: str, tmp_path: Path) -> None:
    workload = prepared()
    made = harness.simulate(workload, PROCS, harness.Scheduler(start=start))
    again = ExternalSchedule(written(made, tmp_path, suffix)).simulate(workload, PROCS)
    assert again.digest == made.digest
    numbers = {name: value for name, value in made.measures().items() if not np.isnan(value)}
    found = again.measures()
    assert {name: found[name] for name in numbers} == pytest.approx(numbers)


def test_energy_is_that_of_the_starts_on_any_platform_of_equal_nodes(tmp_path: Path) -> None:
    workload = prepared()
    made = harness.simulate(workload, "synthetic-11(procs=16)", harness.Scheduler(start="easy"))
    again = ExternalSchedule(written(made, tmp_path, "csv")).simulate(
        workload, harness.read_platform("synthetic-11(procs=16)")
    )
    assert again.measures()["energy"] == pytest.approx(made.measures()["energy"])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.lists(st.integers(0, 40), min_size=30, max_size=30))
def test_other_clocks_and_lags_of_seconds_do_not_matter(shift: int, lags: list[int]) -> None:
    workload = prepared(30)
    made = harness.simulate(workload, PROCS)
    log = harness.log_from_frame(made.frame[["job", "submit", "wait", "run", "estimate", "procs"]], "theirs")
    lag = np.array(lags)
    moved = log.jobs.assign(submit=log.jobs["submit"] + shift + lag, wait=np.maximum(log.jobs["wait"] - lag, 0.0))
    again = ExternalSchedule(harness.log_from_frame(moved, "theirs")).simulate(workload, PROCS)
    apart = again.frame["start"] - made.frame["start"]
    assert apart.abs().max() <= 80.0


def test_what_it_cannot_be_is_refused() -> None:
    workload = prepared(30)
    made = harness.simulate(workload, PROCS)
    frame = made.frame[["job", "submit", "wait", "run", "estimate", "procs"]]

    def recorded(changed: pd.DataFrame) -> ExternalSchedule:
        return ExternalSchedule(harness.log_from_frame(changed.reset_index(drop=True), "theirs"))

    with pytest.raises(HarnessError, match=r"theirs: job 1 has 17 processors, in the workload \d+"):
        recorded(frame.assign(procs=17)).simulate(workload, PROCS)
    late = frame.copy()
    late.loc[3, "submit"] += 1000
    with pytest.raises(HarnessError, match="s as its submission"):
        recorded(late).simulate(workload, PROCS)
    words = r"at \S+ s it starts job \d+, which needs \d+ processors where only \d+ can be had$"
    with pytest.raises(HarnessError, match=f"theirs: no schedule of this machine: {words}"):
        recorded(frame.assign(wait=0.0)).simulate(workload, PROCS)
    nodes = Platform("nodes", (NodeType(PROCS // 4, 4),))
    with pytest.raises(HarnessError, match=f"does not name the nodes of its jobs: .* --procs {PROCS}$"):
        recorded(frame.assign(wait=0.0)).simulate(workload, nodes)
    with pytest.raises(HarnessError, match=r"job 2 of .* is missing"):
        recorded(frame[frame["job"] != 2]).shared_jobs(workload, whole=True)
    with pytest.raises(HarnessError, match="job 1 occurs twice"):
        recorded(frame.assign(job=1)).shared_jobs(workload)
    with pytest.raises(HarnessError, match="differ in speed"):
        recorded(frame).simulate(workload, harness.read_platform("peas-table2"))


def test_jobs_that_it_lacks_are_left_out_and_counted() -> None:
    workload = prepared(30)
    frame = harness.simulate(workload, PROCS).frame[["job", "submit", "wait", "run", "procs"]]
    common = ExternalSchedule(harness.log_from_frame(frame.iloc[5:].reset_index(drop=True), "theirs")).shared_jobs(
        workload
    )
    assert len(common) == 25
    assert (common.preparation[-1].name, common.preparation[-1].jobs) == ("not in the schedule", 5)
    assert common.digest != workload.digest
