"""Variations of a workload: its users at other times, after Zakay and Feitelson (2013), with weeks of similar load.

`reports/variations.md` compares variations with their logs. It also shows why variations that ignore the load of weeks
are much harder to serve.
"""

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.log import ALSO_PRECEDING, BEGIN, PRECEDING, Step, Workload
from harness.workload.snapshot import followed_by

WEEK = 7 * 86_400.0

#: The time between first and last job of a long-term user is at least this [s].
LONG_TERM = 12 * WEEK

#: Part of every variation's digest; increased when a seed has another result than before.
_METHOD = 2

#: The number of passes over all streams, and the random shifts that each pass tries per stream.
_ROUNDS, _PLACES = 6, 8

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def resample(workload: Workload, seed: int) -> Workload:
    """Return a variation of `workload`, composed of its users' streams of jobs.

    The jobs of a user form one stream, which keeps its rhythm. Each long-term user, active for 12 weeks or more, occurs
    once. Temporary users are drawn with replacement, as many as there were. (Drawn with replacement, the few long-term
    users with most of the load would occur twice or not at all, and many variations would be overloaded.) Every stream
    is shifted by a whole number of weeks, cyclically. Arrivals keep their weekday and time of day, and meet other jobs.

    Shifts are first random. Then each stream, from the one with most work to the one with least, moves to the best of a
    few random shifts. The goal is that each week has the work of one week of the log, in the log's order, from some
    week on. Real users submit later when the queue is long, so weeks of a log are more even than those of independent
    streams. With purely random shifts the busiest weeks, and the waits, double.

    The length is a whole number of weeks, nearest to that of the workload. The load changes accordingly, which matters
    for workloads of few weeks; the preparation records both lengths. With few users there is little variation.

    If no job has a user, weeks are drawn with replacement instead, in blocks. In a warm start only the jobs that arrive
    later are redrawn.

    Jobs are numbered anew by submit time. Repeated users get numbers of their own, and jobs of unknown users are one
    stream. Logged waits become unknown.

    N. Zakay, D. G. Feitelson: Workload resampling for performance evaluation of parallel job schedulers. ICPE 2013,
    149–159.
    """
    if workload.now is not None:
        return _redrawn_after(workload, seed)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise HarnessError(f"seed={seed!r}: expected a whole number, at least 0")
    jobs = workload.jobs
    submit = jobs["submit"].to_numpy()
    first = submit.min()
    length = (submit.max() - first) / WEEK
    weeks = max(1, round(length))
    draw = np.random.default_rng(seed)
    week, within = np.divmod(submit - first, WEEK)
    week = week.astype(np.int64) % weeks
    if (jobs["user"] >= 0).any():
        row, week, names, done = _users_drawn(draw, workload, week, weeks)
    elif weeks > 1:
        row, week, done = _weeks_drawn(draw, week, weeks)
        names = jobs["user"].to_numpy()[row]
    else:
        raise HarnessError(
            f"{workload.name}: none of its jobs has a user, and it lasts {length:.1f} weeks; resampling needs users, "
            "or two weeks"
        )
    moved = first + week * WEEK + within[row]
    order = np.argsort(moved, kind="stable")
    row, moved = row[order], moved[order]
    detail = f"variation {seed}: {done} of {weeks} (the workload has {length:.1f})"
    return replace(
        workload,
        name=f"{workload.name}, variation {seed}",
        jobs=_moved(jobs.take(row).reset_index(drop=True), moved, names[order]),
        digest=hashlib.sha256(f"{workload.digest} resampled {_METHOD} {seed}".encode()).hexdigest(),
        preparation=(*workload.preparation, Step("resampled", len(row), detail)),
    )


def _redrawn_after(workload: Workload, seed: int) -> Workload:
    """Return the state of a warm start, followed by a variation of the jobs that arrive later."""
    if workload.parts is None:
        raise HarnessError(f"{workload.name}: a state without jobs that arrive later: expected jobs to redraw")
    present, further = workload.parts
    return followed_by(present, resample(further, seed))


def _moved(jobs: pd.DataFrame, submit: Floats, user: Ints) -> pd.DataFrame:
    """Return the jobs with other submit times and users, numbered anew."""
    before = jobs["submit"].to_numpy()
    unknown = np.full(len(jobs), -1.0)
    columns = {
        "job": np.arange(1, len(jobs) + 1),
        "submit": submit,
        "user": user,
        "cancel": submit + (jobs["cancel"].to_numpy() - before),
        "logged_wait": unknown,
    }
    for name in (PRECEDING, *ALSO_PRECEDING):
        if name in jobs:
            columns[name] = unknown  # dependencies are not redrawn
    if BEGIN in jobs:
        begin = jobs[BEGIN].to_numpy()
        columns[BEGIN] = np.where(begin >= 0, submit + begin - before, -1.0)
    return jobs.assign(**columns)


def _users_drawn(draw: np.random.Generator, workload: Workload, week: Ints, weeks: int) -> tuple[Ints, Ints, Ints, str]:
    """Draw users and their shifts. Return the rows of their jobs, the week and user of each, and a description."""
    jobs = workload.jobs
    users, user = np.unique(jobs["user"].to_numpy(), return_inverse=True)
    lasting = _lasting(user, jobs["submit"].to_numpy(), len(users)) | (users < 0)
    stream = _cast(draw, lasting)  # stream → index of its user
    row, place = _rows_of(stream, user, len(users))
    work = (jobs["procs"] * jobs["work"]).to_numpy(dtype=np.float64)
    wanted: Floats = np.roll(np.bincount(week, work, weeks).astype(np.float64), draw.integers(0, weeks))
    shift, off = _shifts(draw, _loads(week[row], work[row], place, len(stream)), wanted)
    done = (
        f"{lasting.sum()} long-term users, {len(users) - lasting.sum()} temporary ones drawn with replacement, "
        f"the work of each week within {100 * off:.0f} % of a week of the log, each shifted by whole weeks"
    )
    return row, (week[row] + shift[place]) % weeks, _names(stream, users)[place], done


def _loads(week: Ints, work: Floats, place: Ints, streams: int) -> list[tuple[Ints, Floats]]:
    """Return for each stream the weeks with jobs, and the work in each."""
    bounds = np.searchsorted(place, np.arange(streams + 1))  # the rows of a stream are adjacent
    found = []
    for begin, end in itertools.pairwise(bounds):
        own, which = np.unique(week[begin:end], return_inverse=True)
        found.append((own, np.bincount(which, work[begin:end]).astype(np.float64)))
    return found


def _shifts(draw: np.random.Generator, loads: list[tuple[Ints, Floats]], wanted: Floats) -> tuple[Ints, float]:
    """Draw shifts that bring the work of each week close to `wanted`. Return them, and the relative difference."""
    weeks = len(wanted)
    shift = draw.integers(0, weeks, len(loads))
    brought = np.zeros(weeks)
    for (own, work), by in zip(loads, shift, strict=True):
        brought[(own + by) % weeks] += work
    heaviest_first = sorted(range(len(loads)), key=lambda stream: -loads[stream][1].sum())
    for _ in range(_ROUNDS):
        for stream in heaviest_first:
            own, work = loads[stream]
            brought[(own + shift[stream]) % weeks] -= work
            places = np.append(shift[stream], draw.integers(0, weeks, _PLACES))
            lacking = (wanted - brought)[(own + places[:, None]) % weeks]
            # The change of the squared difference. Weeks without jobs of the stream do not change.
            shift[stream] = places[np.argmin(((lacking - work) ** 2 - lacking**2).sum(axis=1))]
            brought[(own + shift[stream]) % weeks] += work
    return shift, float(np.abs(wanted - brought).sum() / max(wanted.sum(), 1.0))


def _weeks_drawn(draw: np.random.Generator, week: Ints, weeks: int) -> tuple[Ints, Ints, str]:
    """Draw blocks of weeks with replacement. Return the rows of their jobs, the week of each, and a description."""
    block = max(1, round(weeks ** (1 / 3)))  # the usual length for a block bootstrap
    begins = draw.integers(0, weeks, -(-weeks // block))
    drawn = ((begins[:, None] + np.arange(block)) % weeks).ravel()[:weeks]
    rows = [np.flatnonzero(week == own) for own in drawn]
    place = np.repeat(np.arange(weeks), [len(own) for own in rows])
    return np.concatenate(rows), place, f"weeks drawn with replacement, {block} at a time as they followed each other,"


def _lasting(user: Ints, submit: npt.NDArray[np.float64], users: int) -> npt.NDArray[np.bool_]:
    """Return which users are long-term users."""
    first, last = np.full(users, np.inf), np.full(users, -np.inf)
    np.minimum.at(first, user, submit)
    np.maximum.at(last, user, submit)
    return np.asarray(last - first >= LONG_TERM)


def _cast(draw: np.random.Generator, lasting: npt.NDArray[np.bool_]) -> Ints:
    """Return the index of the user of each stream: the long-term users, then the drawn temporary ones, sorted."""
    temporary = np.flatnonzero(~lasting)
    drawn = np.sort(draw.choice(temporary, len(temporary))) if len(temporary) else temporary
    return np.concatenate([np.flatnonzero(lasting), drawn])


def _rows_of(stream: Ints, user: Ints, users: int) -> tuple[Ints, Ints]:
    """Return the rows of all jobs, stream by stream, and the stream of each."""
    rows = np.argsort(user, kind="stable")
    size = np.bincount(user, minlength=users)
    begin = np.cumsum(size) - size
    length = size[stream]
    place = np.repeat(np.arange(len(stream)), length)
    within = np.arange(len(place)) - np.repeat(np.cumsum(length) - length, length)
    return rows[begin[stream][place] + within], place


def _names(stream: Ints, users: Ints) -> Ints:
    """Return the user number of each stream. Repetitions of a user get new numbers."""
    repeated = np.zeros(len(stream), dtype=np.bool_)
    repeated[1:] = stream[1:] == stream[:-1]
    names = users[stream]
    names[repeated] = users.max() + np.arange(1, repeated.sum() + 1)
    return names
