"""Measures against their definitions, calculated once more the slow way, and against laws that hold for all runs."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.platform.machine import plain
from harness.present.tables import Better
from harness.results.adequacy import adequacy
from harness.results.measures import MEASURES, Measure
from harness.results.schedule import Schedule
from harness.workload.log import Workload

Run = Callable[..., Schedule]
Make = Callable[..., Workload]

SCHEDULERS = [
    {"start": "none"},
    {"start": "easy"},
    {"start": "conservative"},
    {"order": "spf", "start": "greedy"},
    {"order": "lcfs", "start": "preempt(at=any)"},
    {"order": "spf", "start": "preempt(at=departure)", "select": "random"},
    {"start": "easy", "rate": "fixed(rate=0.75)"},
]
ENERGY = (
    "mean_power",
    "energy",
    "idle_energy",
    "sleep_energy",
    "transition_energy",
    "energy_per_work",
    "energy_delay_product",
)


@pytest.fixture(scope="module", params=SCHEDULERS, ids=lambda parts: " ".join(parts.values()))
def schedules(request: pytest.FixtureRequest, run: Run, make: Make) -> list[Schedule]:
    return [run(make(seed, width=14 if seed % 2 else 12), **request.param) for seed in range(4)]


def elapsed(schedule: Schedule) -> float:
    return float(schedule.outcome.clock.now - schedule.outcome.clock.began)


def integral(starts: np.ndarray, ends: np.ndarray, weights: np.ndarray) -> float:
    """∫ Σ weights of what is open dt, event by event."""
    events = sorted([*zip(starts, weights, strict=True), *zip(ends, -weights, strict=True)])
    total, level, before = 0.0, 0.0, 0.0
    for time, change in events:
        total += level * (time - before)
        level, before = level + change, time
    assert abs(level) < 1e-9
    return total


def test_littles_law(schedules: list[Schedule]) -> None:
    for schedule in schedules:
        measures = schedule.measures()
        frame = schedule.frame[schedule.frame["status"] != "unaccepted"]
        stays = (frame["end"] - frame["submit"]).sum()
        assert measures["mean_jobs"] * elapsed(schedule) == pytest.approx(stays, rel=1e-9)


def test_time_averages_event_by_event(schedules: list[Schedule]) -> None:
    for schedule in schedules:
        frame = schedule.frame[schedule.frame["status"] != "unaccepted"]
        measures, time = schedule.measures(), elapsed(schedule)
        ones = np.ones(len(frame))
        submit, start, end = (frame[name].to_numpy() for name in ("submit", "start", "end"))
        assert measures["mean_jobs"] * time == pytest.approx(integral(submit, end, ones))
        if "preempt" in schedule.scheduler["start"]:
            continue  # when they were suspended is not in the table
        began = np.where(np.isnan(start), end, start)
        busy = integral(began, end, frame["procs"].to_numpy())
        assert measures["mean_queued"] * time == pytest.approx(integral(submit, began, ones))
        assert measures["mean_busy"] * time == pytest.approx(busy)
        assert measures["effective_load"] * time == pytest.approx(busy * schedule.outcome.clock.rate)


def test_workload_by_its_own_definition(run: Run, make: Make) -> None:
    """A job holds W up by all its work until it starts, and by half of it on average while it runs."""
    for seed in range(4):
        schedule = run(make(seed), plain(12), start="easy", energy="none")
        frame = schedule.ran
        work = schedule.workload.jobs["work"].to_numpy()[frame.index]
        total = (work * frame["wait"] + work * work / 2).sum()
        assert schedule.measures()["mean_workload"] * elapsed(schedule) == pytest.approx(total)


def test_work_is_conserved(schedules: list[Schedule]) -> None:
    for schedule in schedules:
        frame = schedule.frame
        busy = schedule.measures()["mean_busy"] * elapsed(schedule)
        assert (frame["procs"] * frame["run"]).sum() == pytest.approx(busy, rel=1e-9)


def test_loads_add_up(schedules: list[Schedule]) -> None:
    for schedule in schedules:
        measures = schedule.measures()
        assert measures["potential_load"] - measures["effective_load"] == pytest.approx(measures["job_wasting"])
        assert 0 < measures["utilisation"] <= 1 + 1e-12
        assert measures["mean_busy"] <= schedule.platform.cores


@pytest.mark.parametrize("energy", ["cores", "peas"])
def test_energy_is_conserved(run: Run, make: Make, energy: str) -> None:
    for parts in SCHEDULERS:
        schedule = run(make(2), **parts, energy=energy)
        measures = schedule.measures()
        jobs = schedule.frame["energy"].sum() / 3.6e6
        assert jobs + measures["idle_energy"] == pytest.approx(measures["energy"], rel=1e-9)
        assert measures["mean_power"] * elapsed(schedule) == pytest.approx(measures["energy"] * 3.6e6)
        assert (measures["idle_energy"] == 0) == (energy == "peas")


def test_energy_is_not_a_number_where_it_is_not_accounted(run: Run, make: Make) -> None:
    schedule = run(make(3), energy="none")
    missing = {name for name, value in schedule.measures().items() if math.isnan(value)}
    assert missing - {"skill", "carbon", "cost"} == set(ENERGY)  # that one compares with a log in which nobody waited
    assert schedule.frame["energy"].isna().all()


def test_averages_job_by_job(some: Schedule) -> None:
    measures = some.measures()
    rows: list[Any] = [row for row in some.frame.itertuples() if row.status in ("completed", "killed")]
    waits = sorted(row.start - row.submit for row in rows)
    area = [row.procs * row.run for row in rows]

    def mean(values: list[float], weights: list[float] | None = None) -> float:
        weights = weights or [1.0] * len(values)
        return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)

    responses = [row.end - row.submit for row in rows]
    slowdowns = [r / row.run for r, row in zip(responses, rows, strict=True)]
    expected = {
        "jobs": len(some.frame),
        "accepted": (some.frame["procs"] <= 12).sum(),
        "unaccepted": (some.frame["procs"] > 12).sum(),
        "mean_wait": mean(waits),
        "median_wait": float(np.median(waits)),
        "p95_wait": float(np.quantile(waits, 0.95)),
        "p99_wait": float(np.quantile(waits, 0.99)),
        "max_wait": waits[-1],
        "killed": sum(row.status == "killed" for row in rows),
        "cancelled": sum(row.status == "cancelled" for row in some.frame.itertuples()),
        "stranded": 0,
        "unstarted": sum(math.isnan(row.start) for row in some.frame.itertuples()),
        "mean_boot": mean([row.boot for row in rows]),
        "offered_load": sum(area) / 12 / (max(row.submit for row in rows) - min(row.submit for row in rows)),
        "utilisation": sum(area) / 12 / (max(row.end for row in rows) - min(row.submit for row in rows)),
        "mean_response": mean(responses),
        "mean_slowdown": mean(slowdowns),
        "mean_bounded_slowdown": mean([max(1, r / max(j.run, 10)) for r, j in zip(responses, rows, strict=True)]),
        "area_weighted_response": mean(responses, area),
        "area_weighted_slowdown": mean(slowdowns, area),
        "width_weighted_response": mean(responses, [row.procs for row in rows]),
        "makespan": max(row.end for row in rows) - min(row.submit for row in rows),
        "throughput": len(rows) / (max(row.end for row in rows) - min(row.submit for row in rows)) * 3600,
    }
    assert {name: measures[name] for name in expected} == pytest.approx(expected)
    assert measures["accepted"] == len(rows) + measures["cancelled"]
    assert measures["median_wait"] <= measures["p95_wait"] <= measures["p99_wait"] <= measures["max_wait"]


def test_energy_by_work_and_by_delay(some: Schedule) -> None:
    measures = some.measures()
    ran = some.ran.index
    work = (some.workload.jobs["procs"] * some.workload.jobs["work"])[ran].sum()
    joules = some.outcome.nodes.energy.sum()
    assert measures["energy_per_work"] == pytest.approx(joules / work)
    assert measures["energy_delay_product"] == pytest.approx(joules * measures["mean_response"])


def test_preemptions_are_counted(run: Run, make: Make) -> None:
    assert run(make(0), order="lcfs", start="preempt(at=any)").measures()["preemptions"] > 0
    assert run(make(0), start="easy").measures()["preemptions"] == 0


def test_sleep_and_failures_node_by_node(storm: Schedule) -> None:
    """Nodes sleep, wake, fail and stay down: every measure that knows of it, from the timeline and the table."""
    measures, frame, line = storm.measures(), storm.frame, storm.timeline
    lasted = np.diff(line["time"])
    length = lasted.sum()

    def average(values: Any) -> float:
        return float((np.asarray(values)[:-1] * lasted).sum() / length)

    asleep = average(line["asleep"])
    assert measures["share_asleep"] == pytest.approx(asleep / storm.platform.nodes)
    assert measures["sleep_energy"] == pytest.approx(asleep * length * 5 / 3.6e6)
    assert measures["transition_energy"] == pytest.approx(average(line["switching"]) * length * 80 / 3.6e6)
    assert measures["mean_power"] == pytest.approx(average(line["power"]))
    assert measures["energy"] == pytest.approx(average(line["power"]) * length / 3.6e6)
    assert measures["mean_queued"] == pytest.approx(average(line["queued"]))
    assert measures["mean_jobs"] == pytest.approx(average(line["queued"] + line["running"]))
    assert measures["mean_busy"] == pytest.approx(average(line["busy"]))
    assert measures["stranded"] == (frame["status"] == "stranded").sum() > 0
    assert measures["restarts"] == frame["restarts"].sum() > 0
    assert measures["lost_work"] == (frame["procs"] * frame["lost"]).sum() > 0
    assert measures["mean_boot"] == storm.ran["boot"].mean() > 0
    assert measures["makespan"] == storm.ran["end"].max() - storm.ran["submit"].min()
    assert measures["throughput"] == pytest.approx(3600 * len(storm.ran) / measures["makespan"])
    assert min(measures[name] for name in ("share_asleep", "sleep_energy", "transition_energy", "idle_energy")) > 0


def test_nothing_ran(run: Run, make: Make) -> None:
    """No job fits: averages are not numbers, and nothing divides by zero."""
    workload = make(0, jobs=5)
    measures = run(replace(workload, jobs=workload.jobs.assign(procs=99))).measures()
    assert (measures["jobs"], measures["accepted"], measures["unaccepted"]) == (5, 0, 5)
    assert all(math.isnan(measures[name]) for name in ("mean_wait", "makespan", "utilisation", "max_wait"))


def test_a_run_of_no_length(run: Run, make: Make) -> None:
    workload = make(0, jobs=1)
    workload = replace(workload, jobs=workload.jobs.assign(work=0.0, cancel=np.inf, procs=1))
    measures = run(workload).measures()
    assert (measures["makespan"], measures["mean_wait"], measures["energy"]) == (0, 0, 0)
    for name in ("utilisation", "throughput", "mean_jobs", "mean_power", "mean_slowdown", "energy_per_work"):
        assert math.isnan(measures[name])


@pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
def test_every_measure_is_documented(measure: Measure, some: Schedule) -> None:
    assert measure.meaning.endswith(".")
    assert measure.meaning.count(". ") == 0, "one sentence"
    assert measure.formula
    assert measure.better in get_args(Better)
    assert measure.unit.strip() == measure.unit
    assert isinstance(some.measures()[measure.name], float)


def test_extra_measures_stand_beside(some: Schedule) -> None:
    def widest(schedule: Schedule) -> float:
        """Width of the widest job."""
        return float(schedule.frame["procs"].max())

    extra = Measure("widest", "procs", "neither", "max N", widest)
    assert extra.meaning == "Width of the widest job."
    assert list(some.measures([extra])) == [*MEASURES, "widest"]
    assert some.measures([extra])["widest"] == 14


def test_a_direction_that_does_not_exist() -> None:
    with pytest.raises(HarnessError, match="expected one of less, more, neither"):
        Measure("best", "", "best", "", lambda schedule: 0.0)  # type: ignore[arg-type]


def test_adequacy_is_a_measure_wherever_the_log_says_how_it_went(run: Run, make: Make) -> None:
    workload = make(0)
    schedule = run(workload)
    assert schedule.measures()["adequacy"] == adequacy(schedule).P > 0
    for silent in (
        replace(workload, jobs=workload.jobs.assign(logged_wait=-1.0)),
        replace(workload, jobs=workload.jobs.drop(columns=["logged_wait", "logged_run"])),
    ):
        assert math.isnan(run(silent).measures()["adequacy"])


def test_a_replay_on_another_machine_has_no_adequacy(run: Run, make: Make) -> None:
    workload = make(0)
    procs = run(workload).platform.cores
    for named, known in ((procs, True), (None, True), (procs - 1, False), (2 * procs, False)):
        measures = run(replace(workload, procs=named)).measures()
        assert math.isfinite(measures["adequacy"]) == known
        assert known or math.isnan(measures["skill"])
