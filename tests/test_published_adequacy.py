"""What reports/adequacy.md publishes is what the commands give."""

import math
from functools import cache
from typing import Any

import pytest

from harness import (
    Likeness,
    Repeatability,
    Scheduler,
    Workload,
    adequacy,
    identify,
    lublin,
    prepare,
    read_workload,
    repeatability,
    simulate,
)
from harness.disk.bundled import folder
from harness.policy.timing import DecisionTiming
from harness.present.tables import readable
from harness.results.breakdown import Breakdown, breakdown
from harness.results.breakdown_words import rows


def tables() -> list[list[list[str]]]:
    """The rows of every table of the report, cell by cell, without their heads."""
    found: list[list[list[str]]] = [[]]
    for line in (folder("reports") / "adequacy.md").read_text().splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table[2:] for table in found if table]


PAPER, GROWTH, BY_LOAD, NEAREST, SCALE, FITTING, CELLS = tables()


#: Overheads of virtual nodes, which launch nothing.
STILL = {"launch": "constant(seconds=0)", "completion": "constant(seconds=0)"}


def repeated(
    workload: Workload,
    order: str = "fcfs",
    start: str = "easy",
    pairs: int = 10,
    interval: float | None = None,
    **overheads: Any,
) -> Repeatability:
    scheduler, timing = Scheduler(order, start, energy="none"), DecisionTiming(backfill_interval=interval)
    return repeatability(
        workload, lambda jobs: simulate(jobs, None, scheduler, timing=timing), pairs=pairs, **overheads
    )


@cache
def generated(load: float, interval: float | None = None, **overheads: Any) -> Repeatability:
    return repeated(prepare(lublin(jobs=1000, procs=256, seed=1, load=load)), pairs=20, interval=interval, **overheads)


def brief(*values: float) -> list[str]:
    """As the sentences of `harness adequacy` give them."""
    return [f"{value:,.1f}" for value in values]


def test_the_papers_table_is_that_of_a_pass() -> None:
    found = generated(0.1, 60.0, submission="exponential(mean=2.4)", **STILL)
    told = [[readable(row.jobs), readable(row.P), readable(row.different)] for row in found.growth]
    assert told == [[jobs, P, different] for jobs, _, _, P, different in PAPER]
    off = [abs(row.P - float(paper)) for row, (_, paper, *_) in zip(found.growth, PAPER, strict=True)]
    assert sum(difference < 0.5 for difference in off) == 5
    by_root = [60 * math.sqrt(int(d) / int(n.replace(",", ""))) for n, _, d, *_ in PAPER]
    assert sum(abs(P - float(paper)) < 0.05 for P, (_, paper, *_) in zip(by_root, PAPER, strict=True)) == 5


def test_without_launches_completions_are_seen_by_those_who_wait() -> None:
    found = generated(0.1, launch="constant(seconds=0)", overheads="outside")
    page = (folder("reports") / "adequacy.md").read_text(encoding="utf-8")
    assert f"is {found.P:.1f} s, by those" in " ".join(page.split())


def test_what_overheads_alone_would_make() -> None:
    rows = generated(0.1).growth
    assert [list(map(readable, (row.jobs, row.P, row.E, row.different))) for row in rows] == GROWTH


@pytest.mark.parametrize("row", BY_LOAD, ids=lambda row: row[0])
def test_the_reference_grows_with_the_load(row: list[str]) -> None:
    found = generated(float(row[0]))
    assert [*brief(found.P, found.low, found.high), readable(found.growth[-1].different)] == row[1:]


#: The policies that there were when the page was published: one more must not move its ranks.
ORDERS = ("fcfs", "lcfs", "spf", "lpf", "saf", "laf", "f1", "f2", "f3", "f4")
ORDERS += ("sjf-width", "ljf-width", "wfp3", "unicef", "expansion")
STARTS = ("none", "greedy", "easy", "conservative", "easy(backfill_order=spf)")


@cache
def logged(trace: str) -> Workload:
    return prepare(read_workload(trace), filter="wait >= 0")


@cache
def ranked(trace: str) -> list[Likeness]:
    return identify(logged(trace), orders=ORDERS, starts=STARTS, states=0)


def by_trace(published: list[list[str]]) -> list[Any]:
    """The rows, with the marks of tests: 75 replays of the large logs take minutes."""
    large = ("SDSC-DS", "HPC2N", "SDSC-BLUE")
    return [
        pytest.param(row, id="-".join(row[:3]), marks=pytest.mark.study if row[0] in large else pytest.mark.slow)
        for row in published
    ]


@pytest.mark.data
@pytest.mark.parametrize("row", by_trace(NEAREST))
def test_the_nearest_policies(row: list[str]) -> None:
    trace, order, start, rank, P, median, *reference = row
    ranking = ranked(trace)
    assert len(ranking) == 75
    found = ranking[int(rank) - 1]
    assert (found.order, found.start, readable(found.P), readable(found.median)) == (order, start, P, median)
    if any(reference):
        ideal = repeated(logged(trace), order, start)
        assert brief(ideal.P, ideal.low, ideal.high, found.P / ideal.P) == reference


@pytest.mark.data
@pytest.mark.parametrize("row", SCALE, ids=lambda row: "-".join(row[:3]))
def test_the_scale(row: list[str]) -> None:
    trace, order, start, P, *figures = row
    found = adequacy(simulate(logged(trace), None, Scheduler(order, start, energy="none")))
    scale = found.scale
    told = [round(scale.skill, 3), scale.nobody_waits, scale.mean_wait, scale.mean_wait_by_class, scale.bias]
    told += [round(scale.rank_correlation, 3), scale.P_without_worst, round(100 * scale.worst_share, 1)]
    assert [readable(found.P), *map(readable, told)] == [P, *figures]


@cache
def departed(trace: str) -> Breakdown:
    return breakdown(simulate(logged(trace), None, Scheduler(energy="none")))


@pytest.mark.data
@pytest.mark.parametrize("row", FITTING, ids=lambda row: row[0])
def test_what_waited_though_it_fitted(row: list[str]) -> None:
    found = departed(row[0])
    assert [f"{100 * found.fitting:.0f}", readable(found.peak), readable(found.procs)] == row[1:]


@pytest.mark.data
@pytest.mark.parametrize("trace", [row[0] for row in FITTING])
def test_where_much_of_the_error_is(trace: str) -> None:
    told = [[by, cell, *map(readable, figures), began] for by, cell, _, *figures, began in rows(departed(trace), 3)]
    assert told == [row[1:] for row in CELLS if row[0] == trace]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("trace", ["KTH-SP2", "SDSC-SP2", "CTC-SP2"])
def test_families_are_told_apart_and_single_policies_are_not(trace: str) -> None:
    ranking = ranked(trace)
    of = {(one.order, one.start): one.P for one in ranking}
    assert 9.5 < of["fcfs", "none"] / of["fcfs", "easy"] < 23
    assert ranking[18].P < 1.05 * ranking[0].P
