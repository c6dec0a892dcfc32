"""Variations of a workload: the same users at other times, after Zakay and Feitelson (2013), and as busy weeks.

`reports/variations.md` says how they compare with their logs, and what it is that makes variations drawn without
regard to the weeks' load so much harder to serve.
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

#: Users whose first and last job lie at least so far apart are long-term users [s].
LONG_TERM = 12 * WEEK

#: Part of every variation's identity; raised whenever a seed means something else than before.
_METHOD = 2

#: How often every stream looks for a better place, and at how many each time.
_ROUNDS, _PLACES = 6, 8

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def resample(workload: Workload, seed: int) -> Workload:
    """Return a variation of `workload`: its users' streams of jobs, put together anew.

    Every user's jobs are one stream, whose rhythm is kept. Long-term users, active over 12 weeks or more, are all
    there once; temporary users are drawn with replacement, as many as there were. Every stream is shifted by a
    whole number of weeks; what is shifted over the end comes in again at the beginning. So arrivals keep their weekday
    and time of day, and what changes is who meets whom, and when.

    Shifts are drawn at random, and then drawn again, one stream after the other, the one with most work first: the
    better of a few places is taken, until every week brings about the work that a week of the log brought, in the
    log's order, turned round by some number of weeks. Users see the queue and come another week, so their weeks are
    more even than those of streams that do not see each other; drawn blindly, busy weeks double and waits with them.
    Of few users this leaves little to chance. The weeks are counted from the first submit, and their number is the
    workload's length, rounded: so much longer or shorter the variation is, and so much lower or higher its load. The
    preparation says both lengths, for in workloads of few weeks that is much.

    Drawing long-term users with replacement too would double or drop the few who bring most of the load, and
    overload many variations of a busy machine.

    Where no job says whose it is, weeks are drawn with replacement instead, some at a time as they followed each other.

    Of a workload that begins in the middle, those are redrawn who come later; who is there at first is there.

    Jobs are numbered anew by submit time. Repeated users get numbers of their own; jobs of unknown users are one
    stream. The log's waits are of another stream of jobs, thus unknown here.

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
            f"{workload.name}: none of its jobs says whose it is, and it lasts {length:.1f} weeks; "
            "resampling needs users, or two weeks"
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
    """Return the same state, followed by a variation of those who come after it."""
    if workload.parts is None:
        raise HarnessError(f"{workload.name}: begins in the middle, and nobody comes later: expected jobs to redraw")
    there, further = workload.parts
    return followed_by(there, resample(further, seed))


def _moved(jobs: pd.DataFrame, submit: Floats, user: Ints) -> pd.DataFrame:
    """Return the jobs as they are submitted at other times by these users, numbered anew."""
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
            columns[name] = unknown  # who waited for whom is not redrawn
    if BEGIN in jobs:
        begin = jobs[BEGIN].to_numpy()
        columns[BEGIN] = np.where(begin >= 0, submit + begin - before, -1.0)
    return jobs.assign(**columns)


def _users_drawn(draw: np.random.Generator, workload: Workload, week: Ints, weeks: int) -> tuple[Ints, Ints, Ints, str]:
    """Draw users and their shifts; return the rows of their jobs, the week of each, its user, and what was done."""
    jobs = workload.jobs
    users, user = np.unique(jobs["user"].to_numpy(), return_inverse=True)
    lasting = _lasting(user, jobs["submit"].to_numpy(), len(users)) | (users < 0)
    stream = _cast(draw, lasting)  # stream → whose it is
    row, place = _rows_of(stream, user, len(users))
    work = (jobs["procs"] * jobs["work"]).to_numpy(dtype=np.float64)
    wanted: Floats = np.roll(np.bincount(week, work, weeks).astype(np.float64), draw.integers(0, weeks))
    shift, off = _shifts(draw, _loads(week[row], work[row], place, len(stream)), wanted)
    done = (
        f"{lasting.sum()} long-term users, {len(users) - lasting.sum()} temporary ones drawn with replacement, "
        f"a week's work like one of the log's but for {100 * off:.0f} %, each shifted by whole weeks"
    )
    return row, (week[row] + shift[place]) % weeks, _names(stream, users)[place], done


def _loads(week: Ints, work: Floats, place: Ints, streams: int) -> list[tuple[Ints, Floats]]:
    """Return the weeks in which each stream has jobs, and the work that it brings in each."""
    bounds = np.searchsorted(place, np.arange(streams + 1))  # the rows of a stream lie together
    found = []
    for begin, end in itertools.pairwise(bounds):
        own, which = np.unique(week[begin:end], return_inverse=True)
        found.append((own, np.bincount(which, work[begin:end]).astype(np.float64)))
    return found


def _shifts(draw: np.random.Generator, loads: list[tuple[Ints, Floats]], wanted: Floats) -> tuple[Ints, float]:
    """Draw a shift for every stream so that together they bring about what is `wanted` of each week; and how nearly."""
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
            # The sum of squares of what then lacks, but for the weeks that the stream leaves alone.
            shift[stream] = places[np.argmin(((lacking - work) ** 2 - lacking**2).sum(axis=1))]
            brought[(own + shift[stream]) % weeks] += work
    return shift, float(np.abs(wanted - brought).sum() / max(wanted.sum(), 1.0))


def _weeks_drawn(draw: np.random.Generator, week: Ints, weeks: int) -> tuple[Ints, Ints, str]:
    """Draw weeks with replacement, in blocks; return the rows of their jobs, the week of each, and what was done."""
    block = max(1, round(weeks ** (1 / 3)))  # as many as balance what a bootstrap of dependent numbers gets wrong
    begins = draw.integers(0, weeks, -(-weeks // block))
    drawn = ((begins[:, None] + np.arange(block)) % weeks).ravel()[:weeks]
    rows = [np.flatnonzero(week == own) for own in drawn]
    place = np.repeat(np.arange(weeks), [len(own) for own in rows])
    return np.concatenate(rows), place, f"weeks drawn with replacement, {block} at a time as they followed each other,"


def _lasting(user: Ints, submit: npt.NDArray[np.float64], users: int) -> npt.NDArray[np.bool_]:
    """Return who is a long-term user."""
    first, last = np.full(users, np.inf), np.full(users, -np.inf)
    np.minimum.at(first, user, submit)
    np.maximum.at(last, user, submit)
    return np.asarray(last - first >= LONG_TERM)


def _cast(draw: np.random.Generator, lasting: npt.NDArray[np.bool_]) -> Ints:
    """Return who takes part, once for every stream: the long-term users, then the temporary ones as drawn, sorted."""
    temporary = np.flatnonzero(~lasting)
    drawn = np.sort(draw.choice(temporary, len(temporary))) if len(temporary) else temporary
    return np.concatenate([np.flatnonzero(lasting), drawn])


def _rows_of(stream: Ints, user: Ints, users: int) -> tuple[Ints, Ints]:
    """Return the rows of every stream's jobs one after another, and which stream each belongs to."""
    rows = np.argsort(user, kind="stable")
    size = np.bincount(user, minlength=users)
    begin = np.cumsum(size) - size
    length = size[stream]
    place = np.repeat(np.arange(len(stream)), length)
    within = np.arange(len(place)) - np.repeat(np.cumsum(length) - length, length)
    return rows[begin[stream][place] + within], place


def _names(stream: Ints, users: Ints) -> Ints:
    """Return the user number of each stream: its own the first time, a new one whenever it is repeated."""
    repeated = np.zeros(len(stream), dtype=np.bool_)
    repeated[1:] = stream[1:] == stream[:-1]
    names = users[stream]
    names[repeated] = users.max() + np.arange(1, repeated.sum() + 1)
    return names
