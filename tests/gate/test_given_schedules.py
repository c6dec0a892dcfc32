"""Schedules made elsewhere: a bad one never passes the gate, and its scheduler carries its own name."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness
from harness.errors import HarnessError
from harness.gate.verdict import as_json
from harness.results.export import write_csv

WORKLOAD = "lublin(jobs=120, procs=16, seed=1, load=0.9)"
Table = pd.DataFrame


class Gate:
    """A baseline of one run, and the schedule of that run."""

    def __init__(self, folder: Path) -> None:
        self.baseline, self.field, self.theirs = folder / "gate.json", folder / "gate.toml", folder / "theirs.csv"
        self.field.write_text(f'workloads = ["{WORKLOAD}"]\n[[scheduler]]\norder = "fcfs"\nstart = "easy"\n')
        self.schedule = harness.simulate(WORKLOAD).frame

    def make(self, **options: object) -> harness.gate.verdict.Verdict:
        return self.check(field=self.field, update=True, **options)

    def check(self, table: Table | None = None, **options: object) -> harness.gate.verdict.Verdict:
        if table is not None:
            write_csv(table, self.theirs)
            options |= {"schedules": {"": self.theirs}}
        return harness.check(self.baseline, **options)  # type: ignore[no-any-return, arg-type]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


@pytest.fixture
def made(gate: Gate) -> Gate:
    gate.make()
    return gate


def test_the_schedule_of_the_run_itself_is_the_same_and_carries_its_own_name(made: Gate) -> None:
    verdict = made.check(made.schedule)
    assert (verdict.outcome, verdict.runs[0].scheduler) == ("same", "theirs, instead of fcfs + easy")
    assert made.check(made.schedule, scheduler_name="slurm").runs[0].scheduler == "slurm, instead of fcfs + easy"


# ---------------------------------------------------------------- jobs that never start


def never_starts(table: Table, share: float, end: float = np.nan) -> Table:
    """Take the starts of some of the jobs; they leave `end` seconds after their submission, if they do."""
    table = table.astype({"start": float, "end": float})
    rows = table["wait"].sort_values().index[-int(share * len(table)) :]
    table.loc[rows, "start"] = np.nan
    table.loc[rows, "end"] = table["submit"][rows] + end
    return table


@pytest.mark.parametrize("end", [0.0, 600.0, np.nan])
@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("measures", [(), ("mean_wait",)])
def test_jobs_that_never_start_are_worse(made: Gate, share: float, end: float, measures: tuple[str, ...]) -> None:
    verdict = made.check(never_starts(made.schedule, share, end), measures=measures)
    assert verdict.status == 1
    (move,) = (move for move in verdict.runs[0].moves if move.measure.name == "unstarted")
    assert (move.before, move.now, move.outcome) == (0, int(share * 120), "worse")
    assert "s, now it never starts." in str(verdict)


def test_unstarted_jobs_cannot_be_compared_with_a_baseline_that_did_not_count_them(made: Gate) -> None:
    made.baseline.write_text(re.sub(r' *"unstarted": 0.0,\n', "", made.baseline.read_text()))
    verdict = made.check(never_starts(made.schedule, 0.2, 0.0))
    assert (verdict.status, "lacks the measure unstarted" in str(verdict)) == (2, True)


# ---------------------------------------------------------------- runtimes


def shorter(table: Table) -> Table:
    return table.assign(end=table["start"] + (table["end"] - table["start"]) / 2)


def one_longer(table: Table) -> Table:
    return table.assign(end=table["end"] + 5 * (table.index == 17))


def at_once(table: Table) -> Table:
    return table.assign(end=table["start"])


@pytest.mark.parametrize("change", [shorter, one_longer, at_once])
def test_other_runtimes_are_refused_and_with_starts_only_ignored(made: Gate, change: Callable[[Table], Table]) -> None:
    other = change(made.schedule)
    with pytest.raises(
        HarnessError, match=r"in the workload .* expected the runtimes of the workload, or --starts-only"
    ):
        made.check(other)
    assert made.check(other, starts_only=True).outcome == "same"


@pytest.mark.parametrize("decimals", [np.floor, np.ceil, np.round])
def test_clocks_of_whole_seconds_are_not_other_runtimes(
    gate: Gate,
    decimals: Callable[[pd.Series], pd.Series],  # type: ignore[type-arg]
) -> None:
    gate.field.write_text(gate.field.read_text().replace("lublin", "poisson"))
    gate.make()
    frame = harness.simulate(WORKLOAD.replace("lublin", "poisson")).frame
    rounded = frame.assign(**{name: decimals(frame[name]) for name in ("start", "end")})
    rounded["start"] = rounded["start"].clip(lower=rounded["submit"])
    assert made_of_same_jobs(gate.check(rounded))


def made_of_same_jobs(verdict: harness.gate.verdict.Verdict) -> bool:
    return verdict.status in (0, 1) and not verdict.runs[0].problem


# ---------------------------------------------------------------- jobs and names


def test_jobs_that_the_workload_has_not_are_refused(made: Gate) -> None:
    extra = made.schedule.iloc[-3:].assign(job=[1000, 1001, 1002])
    with pytest.raises(HarnessError, match=r"theirs: job 1000 is not in .* \(3 such jobs\)"):
        made.check(pd.concat([made.schedule, extra]))


def test_the_log_of_the_workload_itself_is_a_schedule_of_its_jobs(gate: Gate, tmp_path: Path) -> None:
    """Its preparation drops jobs that took no time; with another job that ran it is refused."""
    log = tmp_path / "log.csv"
    log.write_text("job,submit,wait,run,procs\n1,0,0,50,4\n2,1,49,5,2\n3,2,48,0,2\n4,3,50,-1,2\n")
    gate.field.write_text(f'workloads = ["{log}"]\nplatforms = [4]\nscheduler = [{{order = "fcfs", start = "easy"}}]\n')
    gate.make()
    assert gate.check(schedules={"": log}, scheduler_name="slurm").outcome == "same"
    assert made_of_same_jobs(gate.check(schedules={"": log}))
    log.write_text(log.read_text().replace("3,2,48,0,2", "7,2,48,1,2"))
    gate.field.write_text(gate.field.read_text().replace("log.csv", "other.csv"))
    other = tmp_path / "other.csv"
    other.write_text("job,submit,wait,run,procs\n1,0,0,50,4\n2,1,49,5,2\n")
    gate.make()
    with pytest.raises(HarnessError, match=r"job 7 is not in other \(1 such job\)"):
        gate.check(schedules={"": log})


def test_jobs_that_it_lacks_are_refused(made: Gate) -> None:
    with pytest.raises(HarnessError, match=r"job 1 of .* is missing"):
        made.check(made.schedule.iloc[1:])


def test_a_baseline_of_a_schedule_is_compared_with_schedules_alone(gate: Gate) -> None:
    write_csv(gate.schedule, gate.theirs)
    gate.make(schedules={"": gate.theirs}, scheduler_name="slurm-23")
    assert json.loads(gate.baseline.read_text())["runs"][0]["scheduler"] == "slurm-23"
    verdict = gate.check()
    assert (verdict.status, verdict.runs[0].scheduler) == (2, "slurm-23")
    assert "a schedule by slurm-23: give its schedule now (--schedule)" in str(verdict)
    verdict = gate.check(gate.schedule, scheduler_name="slurm-24")
    assert (verdict.status, verdict.runs[0].scheduler) == (0, "slurm-24, before slurm-23")
    worse = gate.check(never_starts(gate.schedule, 0.1, 0.0), scheduler_name="slurm-24")
    assert json.loads(as_json(worse))["moved"][0]["scheduler"] == "slurm-24, before slurm-23"


def test_a_policy_that_replaces_a_schedule_in_a_baseline_is_reported(gate: Gate) -> None:
    write_csv(gate.schedule, gate.theirs)
    gate.make(schedules={"": gate.theirs})
    assert gate.check(update=True).status == 1
    assert "scheduler" not in json.loads(gate.baseline.read_text())["runs"][0]
    assert gate.check().status == 0
