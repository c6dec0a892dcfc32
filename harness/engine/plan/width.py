"""Jobs whose width is chosen when they start: between what they can have, and what that makes of their work.

Where no job has a choice none of this is there: the loop calls `mold` by its place in the table of the run.
"""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import config

from harness.engine.decorators import inner, verb
from harness.engine.faults import BAD_WIDTH, STARTING, PolicyFault, note
from harness.engine.records.public import WAITING
from harness.engine.records.width_records import SHAPE
from harness.engine.run_state import MOLD
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import KERNEL
from harness.platform.machine import Platform
from harness.workload.log import Workload
from harness.workload.widths import DOWNEY, TABLE, Widths, moldable


@verb
def speed_up(state: Any, job: int, procs: int) -> float:
    """Return how many times as fast the job is on so many processors as on one."""
    shape = state.shapes[job]
    if shape.law == DOWNEY:
        average, variance = shape.first, shape.second
        if variance <= 1.0:
            if procs >= 2.0 * average - 1.0:
                return float(average)
            if procs >= average:
                return float(average * procs / (variance * (average - 0.5) + procs * (1.0 - 0.5 * variance)))
            return float(average * procs / (average + 0.5 * variance * (procs - 1.0)))
        if procs >= average + average * variance - variance:
            return float(average)
        return float(procs * average * (variance + 1.0) / (variance * (procs + average - 1.0) + average))
    if shape.law == TABLE:
        return tabled(state, job, procs)
    return float(procs / (shape.first * procs + (1.0 - shape.first)))


@verb
def tabled(state: Any, job: int, procs: int) -> float:
    """Return the speed-up that a table gives, between its entries in proportion, and beyond them as the nearest."""
    many = int(state.curves[0])
    row = 1 + many * (1 + job)
    if procs <= state.curves[1]:
        return float(state.curves[row])
    for k in range(1, many):
        above = state.curves[1 + k]
        if procs <= above:
            below = state.curves[k]
            share = (procs - below) / (above - below)
            return float(state.curves[row + k - 1] * (1.0 - share) + state.curves[row + k] * share)
    return float(state.curves[row + many - 1])


@verb
def left_on(state: Any, job: int, procs: int) -> float:
    """Return what would be left of the job's estimate if it had so many processors [s at reference speed]."""
    record = state.jobs[job]
    if state.notes.moldable == 0 or procs == record.procs:
        return float(record.left)
    return float(record.left * speed_up(state, job, record.procs) / speed_up(state, job, procs))


@inner
def reshape(state: Any, job: int, procs: int) -> None:
    """Give a job that has never begun another width. Changes jobs, truth, clock, sums, and what is counted."""
    record = state.jobs[job]
    truth = state.truth[job]
    shape = state.shapes[job]
    if not shape.least <= procs <= shape.most or not np.isnan(record.start):
        note(state.clock, BAD_WIDTH, job, -1, procs)
        raise PolicyFault
    if state.usage_sums.counted:
        state.tally(state, job, 0, -1, 0)
    state.sums.backlog -= truth.work
    state.clock.demand -= record.left
    before = speed_up(state, job, record.procs)
    after = speed_up(state, job, procs)
    truth.work = truth.work * before / after
    if len(state.wholes) > 0:
        state.wholes[job] = state.wholes[job] * before / after
    record.left = record.left * before / after
    record.estimate = record.estimate * before / after
    record.requested = record.requested * before / after
    record.predicted = record.predicted * before / after
    record.procs = procs
    state.sums.backlog += truth.work
    state.clock.demand += record.left
    if state.usage_sums.counted:
        state.tally(state, job, 0, 1, 0)


@inner
def give_width(state: Any, job: int, procs: int) -> None:
    """Give a waiting job a width, if it has not got it; see `mold`."""
    if not 0 <= job < len(state.jobs) or state.jobs[job].status != WAITING or state.jobs[job].procs == procs:
        return  # whoever does not wait cannot be started either
    if state.notes.moldable == 0:
        note(state.clock, BAD_WIDTH, job, -1, procs)
        raise PolicyFault
    state.mold(state, job, procs)


@verb(only=(STARTING, "start"), crosses=True)
def mold(state: Any, job: int, procs: int) -> None:
    """Let a waiting job have so many processors, between `narrowest` and `widest`, and the estimate that goes with it.

    Plan with it then, as with any other job. Not one that has begun: it keeps what it had.
    """
    give_width(state, job, procs)


@cache
def compiled_mold() -> Any:
    """Return `reshape` as the loop calls it, compiled when a job has a choice."""
    if config.DISABLE_JIT:
        return reshape
    source = "def kernel(state, job, procs):\n    reshape(state, job, procs)\n"
    return compile_and_keep("mold", source, {"reshape": reshape}, MOLD, **KERNEL)


def rigid() -> dict[str, Any]:
    """Return the parts of a view where no job has a choice."""
    return {"shapes": np.zeros(0, SHAPE).view(np.recarray), "curves": np.zeros(1)}


def shapes(workload: Workload, platform: Platform, place: Any) -> tuple[Workload, dict[str, Any] | None]:
    """Return the workload, its jobs as wide as they may be here, and what says so; None where no job has a choice.

    Who asks for more processors than there are, and could do with fewer, asks for all there are.
    """
    if not moldable(map(str, workload.jobs)):
        return workload, None
    widths = Widths(workload.jobs, workload.name)
    made = np.zeros(len(workload.jobs), SHAPE).view(np.recarray)
    for field in ("least", "most", "law", "first", "second"):
        made[field] = getattr(widths, field)
    parts = {"shapes": made, "curves": np.array([len(widths.measured), *widths.measured, *widths.table.ravel()], float)}
    asked = workload.jobs["procs"].to_numpy(np.int64)
    wanted = np.clip(asked, made.least, np.maximum(made.least, np.minimum(made.most, platform.cores)))
    changed = np.flatnonzero(wanted != asked)
    jobs, everybody = workload.jobs.copy(), SimpleNamespace(next=len(made))
    seen = SimpleNamespace(clock=everybody, **parts)
    ratio = [speed_up(seen, int(k), int(asked[k])) / speed_up(seen, int(k), int(wanted[k])) for k in changed]
    for field in ("work", "estimate"):
        values = jobs[field].to_numpy(np.float64, copy=True)
        values[changed] *= ratio
        jobs[field] = values
    jobs["procs"] = wanted
    table = np.concatenate([parts["curves"][: 1 + len(widths.measured)], widths.table[place].ravel()])
    return replace(workload, jobs=jobs), {"shapes": made[place], "curves": table}
