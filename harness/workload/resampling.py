"""Variations of a workload: the same users at other times, after Zakay and Feitelson (2013)."""

import hashlib
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError
from harness.workload.log import Step, Workload

WEEK = 7 * 86_400.0

#: Users whose first and last job lie at least so far apart are long-term users [s].
LONG_TERM = 12 * WEEK

#: Part of every variation's identity; raised whenever a seed means something else than before.
_METHOD = 1

Ints = npt.NDArray[np.int64]


def resample(workload: Workload, seed: int) -> Workload:
    """A variation of `workload`: its users' streams of jobs, put together anew.

    Every user's jobs are one stream, whose rhythm is kept. Long-term users, active over 12 weeks or more, are all
    there once; temporary users are drawn with replacement, as many as there were. Every stream is shifted by a
    whole number of weeks, at random; what is shifted over the end comes in again at the beginning. So arrivals
    keep their weekday and time of day, the load keeps its mean, and what changes is who meets whom, and when. The
    weeks are counted from the first submit, and their number is the workload's length, rounded: so much longer or
    shorter the variation is, and so much lower or higher its load. The preparation says both lengths, for in workloads
    of few weeks that is much.

    Drawing long-term users with replacement too would double or drop the few who bring most of the load, and
    overload many variations of a busy machine. Users do not react to each other: where their bursts meet, they
    wait longer than they would have in a log that users wrote who saw the queue.

    Jobs are numbered anew by submit time. Repeated users get numbers of their own; jobs of unknown users are one
    stream. The log's waits are of another stream of jobs, thus unknown here.

    N. Zakay, D. G. Feitelson: Workload resampling for performance evaluation of parallel job schedulers. ICPE 2013,
    149–159.
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise HarnessError(f"seed={seed!r}: expected a whole number, at least 0")
    jobs = workload.jobs
    if not (jobs["user"] >= 0).any():
        raise HarnessError(f"{workload.name}: none of its jobs says whose it is; resampling needs their users")
    submit = jobs["submit"].to_numpy()
    first = submit.min()
    length = (submit.max() - first) / WEEK
    weeks = max(1, round(length))

    users, user = np.unique(jobs["user"].to_numpy(), return_inverse=True)
    draw = np.random.default_rng(seed)
    lasting = _lasting(user, submit, len(users)) | (users < 0)
    stream = _cast(draw, lasting)  # stream → whose it is
    shift = draw.integers(0, weeks, len(stream))
    row, place = _rows_of(stream, user, len(users))

    week, within = np.divmod(submit[row] - first, WEEK)
    moved = first + (week + shift[place]) % weeks * WEEK + within
    order = np.argsort(moved, kind="stable")
    row, place, moved = row[order], place[order], moved[order]
    columns = {
        "job": np.arange(1, len(row) + 1),
        "submit": moved,
        "user": _names(stream, users)[place],
        "cancel": moved + (jobs["cancel"].to_numpy() - submit)[row],
        "logged_wait": np.full(len(row), -1.0),
    }
    detail = (
        f"variation {seed}: {lasting.sum()} long-term users, {len(users) - lasting.sum()} temporary ones drawn "
        f"with replacement, each shifted by whole weeks of {weeks} (the workload has {length:.1f})"
    )
    return replace(
        workload,
        name=f"{workload.name}, variation {seed}",
        jobs=jobs.take(row).reset_index(drop=True).assign(**columns),
        digest=hashlib.sha256(f"{workload.digest} resampled {_METHOD} {seed}".encode()).hexdigest(),
        preparation=(*workload.preparation, Step("resampled", len(row), detail)),
    )


def _lasting(user: Ints, submit: npt.NDArray[np.float64], users: int) -> npt.NDArray[np.bool_]:
    """Who is a long-term user."""
    first, last = np.full(users, np.inf), np.full(users, -np.inf)
    np.minimum.at(first, user, submit)
    np.maximum.at(last, user, submit)
    return np.asarray(last - first >= LONG_TERM)


def _cast(draw: np.random.Generator, lasting: npt.NDArray[np.bool_]) -> Ints:
    """Who takes part, once for every stream: the long-term users, then the temporary ones as drawn, sorted."""
    temporary = np.flatnonzero(~lasting)
    drawn = np.sort(draw.choice(temporary, len(temporary))) if len(temporary) else temporary
    return np.concatenate([np.flatnonzero(lasting), drawn])


def _rows_of(stream: Ints, user: Ints, users: int) -> tuple[Ints, Ints]:
    """The rows of every stream's jobs one after another, and which stream each belongs to."""
    rows = np.argsort(user, kind="stable")
    size = np.bincount(user, minlength=users)
    begin = np.cumsum(size) - size
    length = size[stream]
    place = np.repeat(np.arange(len(stream)), length)
    within = np.arange(len(place)) - np.repeat(np.cumsum(length) - length, length)
    return rows[begin[stream][place] + within], place


def _names(stream: Ints, users: Ints) -> Ints:
    """The user number of each stream: its own the first time, a new one whenever it is repeated."""
    repeated = np.zeros(len(stream), dtype=np.bool_)
    repeated[1:] = stream[1:] == stream[:-1]
    names = users[stream]
    names[repeated] = users.max() + np.arange(1, repeated.sum() + 1)
    return names
