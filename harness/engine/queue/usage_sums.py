"""What is counted of users, groups, queues and everybody, if a policy of the run asks: in O(1) for each event.

Usage is processor-seconds, of which each counts half after a half-life h. Who holds p processors has used
U(t) = f(t) · (balance + p · G(t)), where f(t) = 2^(−t/h) and G(t) = ∫ 1/f = h/ln 2 · (2^(t/h) − 1), time counted from
an origin. Both are the same for all, so that an event changes `balance` alone, and only of those whose p it changes.
Before f becomes too small, the origin moves on.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numba import config

from harness.engine.decorators import inner, verb, window
from harness.engine.records import public as layouts
from harness.engine.run_state import TALLY
from harness.numba_support.code_cache import compile_and_keep
from harness.numba_support.compile_options import KERNEL
from harness.policy.per_key_memory import sizes
from harness.policy.spec import Choice
from harness.policy.usage_shares import EVERYBODY, WHOSE, half_life_in

#: What may be new to a record when a job is submitted.
NEW = (("user",), ("user", "group"), ("user", "queue"), ("group",), ("group", "queue"))

#: The least that the factor of what was used at the origin may be; below it the origin moves on.
FAINTEST = 1e-100


@verb
def decay(state: Any) -> None:
    """Bring the factors that are the same for all up to now. Changes notes, and balances when the origin moves on."""
    usage_sums = state.usage_sums
    gone = state.clock.now - usage_sums.decay_origin
    if gone == usage_sums.decay_age:
        return
    halvings = gone / usage_sums.half_life
    usage_sums.decay_age = gone
    usage_sums.decay_factor = 0.5**halvings
    usage_sums.decay_growth = gone
    if halvings > 0.0:
        usage_sums.decay_growth = gone / halvings / np.log(2.0) * np.expm1(halvings * np.log(2.0))
    if usage_sums.decay_factor >= FAINTEST:
        return
    for shares in (state.users, state.groups, state.queues, state.everybody):
        for k in range(len(shares)):
            shares[k].balance = used(state, shares, k)
    usage_sums.decay_origin = state.clock.now
    usage_sums.decay_age = usage_sums.decay_growth = 0.0
    usage_sums.decay_factor = 1.0


@verb
def used(state: Any, shares: Any, k: int) -> float:
    """Return the usage of one record, with the factors as they are [s]; rounding makes none negative."""
    usage_sums = state.usage_sums
    return max(0.0, usage_sums.decay_factor * (shares[k].balance + shares[k].running_procs * usage_sums.decay_growth))


@verb
def up_to_date(state: Any, shares: Any, k: int) -> int:
    """Bring the usage of one record up to now, and return which one it is."""
    decay(state)
    shares[k].usage = used(state, shares, k)
    return k


@window
def all_up_to_date(state: Any, shares: Any) -> Any:
    """Bring the usage of all records up to now, and return them."""
    decay(state)
    for k in range(len(shares)):
        shares[k].usage = used(state, shares, k)
    return shares


@inner
def add(state: Any, shares: Any, k: int, job: int, queued: int, running: int) -> None:
    """Add so many times the job to those that wait and that run. Changes the record."""
    share = shares[k]
    record = state.jobs[job]
    share.queued += queued
    share.queued_procs += queued * record.procs
    share.running += running
    share.running_procs += running * record.procs
    share.running_nodes += running * record.nodes
    share.balance -= running * record.procs * state.usage_sums.decay_growth


@inner
def count_submission(share: Any, users: int, groups: int) -> None:
    """Count a job that is submitted, and whether its user and its group are new to the record."""
    share.submitted += 1
    share.users += users
    share.groups += groups


@inner
def tally(state: Any, job: int, submitted: int, queued: int, running: int) -> None:
    """Count a job that is submitted (1, else 0), begins or ceases to wait, begins or ceases to run (1, −1, else 0)."""
    decay(state)
    record = state.jobs[job]
    if submitted:
        first = state.firsts[job]
        count_submission(state.everybody[0], first & 1, first >> 3 & 1)
        count_submission(state.users[record.user], 1 - state.users[record.user].users, first >> 1 & 1)
        count_submission(state.groups[record.group], first >> 1 & 1, 1 - state.groups[record.group].groups)
        count_submission(state.queues[record.queue], first >> 2 & 1, first >> 4 & 1)
    add(state, state.users, record.user, job, queued, running)
    add(state, state.groups, record.group, job, queued, running)
    add(state, state.queues, record.queue, job, queued, running)
    add(state, state.everybody, 0, job, queued, running)


@cache
def compiled_tally() -> Any:
    """Return `tally` as the loop calls it, compiled when a policy asks for what is counted."""
    if config.DISABLE_JIT:
        return tally
    source = "def kernel(state, job, submitted, queued, running):\n    tally(state, job, submitted, queued, running)\n"
    return compile_and_keep("tally", source, {"tally": tally}, TALLY, **KERNEL)


def none_kept() -> dict[str, Any]:
    """Return the parts of a view where nobody asks for what is counted."""
    empty = np.zeros(0, layouts.SHARE).view(np.recarray)
    return {"users": empty, "groups": empty, "queues": empty, EVERYBODY: empty, "firsts": np.zeros(0, np.int64)}


def keep_shares(view: Any, chosen: Mapping[str, Choice]) -> tuple[Any, Any]:
    """Return the view with records to count in, and who counts, if a policy of the run asks for them; else None."""
    half_life = half_life_in(chosen.values())
    if half_life is None:
        return view, None
    usage_sums = view.usage_sums
    usage_sums.counted = 1
    usage_sums.half_life = half_life
    usage_sums.decay_origin = view.clock.now
    usage_sums.decay_factor = 1.0
    many = sizes(view.jobs, 0)
    parts = {f"{whose}s": many[whose] for whose in WHOSE} | {EVERYBODY: 1}
    records = {name: np.zeros(size, layouts.SHARE).view(np.recarray) for name, size in parts.items()}
    return view._replace(**records, firsts=first_of_flags(view.jobs)), compiled_tally()


def first_of_flags(jobs: Any) -> "np.ndarray[Any, Any]":
    """Tell of each job whether it is the first of what it has: of `NEW`, a bit for each."""
    found = np.zeros(len(jobs), np.int64)
    there = np.flatnonzero(jobs["status"] == layouts.PENDING)
    known = pd.DataFrame({key: jobs[key][there] for key in sorted({key for keys in NEW for key in keys})})
    for bit, keys in enumerate(NEW):
        found[there[~known.duplicated(list(keys)).to_numpy()]] |= 1 << bit
    return found
