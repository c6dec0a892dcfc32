"""Workloads and schedules with holds, and the slow simulator with the same holds."""

import math

import numpy as np
from shared.running import bundled
from shared.strategies import workload
from slow_rules import follows, limited

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, SleepState
from harness.policy.scheduler import Scheduler
from harness.policy.timing import DecisionTiming


def windows(state, job, every=8, least=2):
    """Jobs of some length begin in the first half of each period only."""
    within = state.clock.now % every
    if state.jobs[job].requested < least or within < every / 2:
        return state.clock.now
    return state.clock.now + every - within


def few(state, job, most=1):
    """So many jobs of a user at a time."""
    count = 0
    for other in harness.running(state):
        if state.jobs[other].user == state.jobs[job].user:
            count += 1
    return harness.INFINITY if count >= most else -harness.INFINITY


def later(state, job, by=3):
    """Every third job is not considered at once."""
    return state.jobs[job].submit + (by if state.jobs[job].number % 3 == 0 else -by)


def after(state, job):
    """Not before the job before it in the log has left, if that was submitted."""
    if job == 0 or state.jobs[job].number % 2:
        return state.clock.now
    status = state.jobs[job - 1].status
    if status in (harness.COMPLETED, harness.CANCELLED, harness.KILLED, harness.UNACCEPTED):
        return 0.0
    return harness.INFINITY


def both(*rules):
    return lambda machine, job: max(rule(machine, job) for rule in rules)


#: The hold, and its twin.
HOLDS = {
    "limits(user_jobs=1)": (None, limited("user", jobs=1)),
    "limits(group_jobs=1)": (None, limited("group", jobs=1)),
    "limits(user_procs=3, group_jobs=2)": (None, both(limited("user", procs=3), limited("group", jobs=2))),
    "limits(queue_procs=4, queue_jobs=2)": (None, limited("queue", procs=4, jobs=2)),
    "limits(group_nodes=2)": (None, limited("group", nodes=2)),
    "limits(user_submitted=2)": (None, limited("user", submitted=2)),
    "begin": (None, lambda m, j: j.x_begin),
    "dependencies": (None, follows("end")),
    "dependencies(after=success)": (None, follows("success")),
    "dependencies(after=start)": (None, follows("start")),
    "windows": (
        harness.Hold("windows", windows, rechecked_on=("time",)),
        lambda m, j: m.now if j.estimate < 2 or m.now % 8 < 4 else m.now + 8 - m.now % 8,
    ),
    "few": (
        harness.Hold("few", few, rechecked_on=("starts",)),
        lambda m, j: math.inf if any(other.user == j.user for other in m.running) else -math.inf,
    ),
    "few(most=2)": (None, lambda m, j: math.inf if sum(o.user == j.user for o in m.running) >= 2 else -math.inf),
    "later": (
        harness.Hold("later", later, rechecked_on=()),
        lambda m, j: j.submit + (3 if j.place % 3 == 2 else -3),
    ),
    "after": (
        harness.Hold("after", after, rechecked_on=()),
        lambda m, j: -math.inf if (p := before(m, j)) is None or p.end is not None or p.procs > m.procs else math.inf,
    ),
}


def before(machine, job):
    """The job submitted before one with an even number."""
    queue = sorted(machine.jobs, key=lambda other: (other.submit, other.place))
    place = queue.index(job)
    return queue[place - 1] if place and job.place % 2 else None


KNOWN = {one.name: one for one, _ in HOLDS.values() if one}


def furnished(made, seed=0):
    """The rows with what holds look at: users, other jobs, times."""
    dice = np.random.default_rng(seed)
    count = len(made)
    further = {
        "user": [k % 3 for k in range(count)],
        "group": dice.integers(-1, 2, count).tolist(),
        "queue": dice.integers(-1, 2, count).tolist(),
        "x_preceding": dice.integers(-count, count + 2, count).tolist(),
        "x_preceding_8": dice.integers(-3 * count, count + 2, count).tolist(),
        "x_after_8": [-1, 0, 1, 2][seed % 4 :] * count,
        "x_think": dice.choice((-1, 0, 2), count).tolist(),
        "x_begin": (dice.choice((-20, 0, 3, 9), count) + [row[0] for row in made]).tolist(),
    }
    return [
        (*row[:4], {**row[4], **{name: column[k] for name, column in further.items()}}) for k, row in enumerate(made)
    ]


def twin(holds):
    """The rules of holds, and whether starts of others release somebody."""
    return {
        "rules": [HOLDS[name][1] for name in holds],
        "freed_by_starts": any("dependencies" in name for name in holds),
    }


def free(state, job):
    """Ask about everybody all the time, and let everybody go."""
    return -harness.INFINITY


FREE = harness.Hold("free", free)


def schedule(made, procs, parts, hold, timing, holds=None):
    known = {**bundled(), "hold_jobs": holds or {**bundled()["hold_jobs"], **KNOWN, "free": FREE}}
    chosen = Scheduler(**parts, energy="cores", hold=hold).choose(known)
    node = NodeType(procs, 1, idle=50.0, peak=150.0, sleep=(SleepState("nap", 5.0, down=1.0, up=2.0),))
    outcome = simulate(workload(made), Platform("naps", (node,)), chosen, extras=Extras(timing=timing))
    return outcome.jobs


PASSES = DecisionTiming(backfill_interval=7, main_interval=0, backfill_depth=2)
TIMINGS = (DecisionTiming(), DecisionTiming("per-event"), DecisionTiming(backfill_interval=5), PASSES)


ONE = [(0, 1, 5, 5), (1, 1, 5, 5)]
