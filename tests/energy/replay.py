"""Runs that write everything down, random machines for them, and what must be true of each."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from shared.running import choose
from shared.strategies import rows, workload

from harness import Events, NodeType, PerformanceState, Platform, SleepState
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.policy.scheduler import Chosen
from harness.results.schedule import Schedule
from harness.results.timeline import Placements, Timeline

#: Every bundled rate and sleep, with parameters that matter on small cases.
RATES = (
    "full",
    "fixed(rate=0.6)",
    "coin(up=0.4, down=0.6)",
    "hysteresis(low=1, high=2)",
    "workload(low=4, high=9)",
    "ondemand(period=3)",
    "powercap(watts=250)",
    "bsld(threshold=1.5)",
)
SLEEPS = ("never", "timeout(idle=0)", "timeout(idle=2, depth=1)", "reserve(spare=1, idle=1, depth=1)")
STARTS = (
    "none",
    "easy",
    "easy(reservations=2)",
    "conservative",
    "greedy",
    "preempt",
    "preempt(at=departure)",
    "preempt(at=arrival)",
)
ENERGIES = ("peas", "cores", "spec")


def replay(jobs, platform, *, seed=0, plain=False, events=None, **parts):
    """A schedule with its timeline and placements; the parts are those of `choose`."""
    chosen = choose(**({"energy": "cores"} | parts))
    samples, places = Timeline(), Placements()
    extras = Extras(events, samples.add, places.add)
    outcome = simulate(jobs, platform, chosen, seed=seed, plain=plain, extras=extras)
    return Schedule(jobs, platform, Chosen(chosen), seed, outcome, events, samples, places)


def happenings(*rows, interrupted="requeue"):
    """Events from rows of (time, event, subject)."""
    return Events(pd.DataFrame(rows, columns=["time", "event", "subject"]), interrupted)


@st.composite
def machines(draw, *, curves=None, performance=None, sleep=None):
    """Platforms of up to three node types, each with the figures that are asked for, or that chance gives."""
    has_curves, has_performance, has_sleep = (
        draw(st.booleans()) if wanted is None else wanted for wanted in (curves, performance, sleep)
    )
    constrained = draw(st.integers(0, 3)) == 0
    types = []
    for _ in range(draw(st.integers(1, 3))):
        cores = draw(st.integers(1, 3))
        levels = sorted(draw(st.lists(st.integers(20, 300), min_size=11, max_size=11)))
        paces = draw(st.lists(st.sampled_from((0.5, 0.75, 1.5)), min_size=1, max_size=2, unique=True))
        types.append(
            NodeType(
                count=draw(st.integers(1, 2)),
                cores=cores,
                ops=cores * draw(st.sampled_from((1.0, 2.0, 3.0))),
                memory=draw(st.sampled_from((2.0, 4.0, 7.0))) if constrained else np.inf,
                partition=draw(st.integers(0, 1)) if constrained else 0,
                **({"curve": levels} if has_curves else {"idle": levels[0], "peak": levels[-1]}),
                performance=[
                    PerformanceState(rate, levels[0] * rate, levels[-1] * rate**2 if rate > 1 else levels[-1] * rate)
                    for rate in sorted(paces)
                ]
                if has_performance
                else [],
                sleep=draw(naps(levels[0])) if has_sleep else [],
            )
        )
    return Platform("random", tuple(types))


@st.composite
def naps(draw, idle):
    """One or two sleep states, some of which are entered or left in no time."""
    states = []
    for depth in range(draw(st.integers(1, 2))):
        down, up = (draw(st.sampled_from((0, 0.5, 2, 7))) for _ in "du")
        joules = st.integers(0, 500)
        states.append(
            SleepState(
                name=f"depth {depth}",
                watts=idle / (2 + 3 * depth),
                down=down,
                up=up,
                down_energy=draw(joules) if down else 0,
                up_energy=draw(joules) if up else 0,
            )
        )
    return states


def possible(policies, platform):
    """The specifications out of `policies` (pairs of part and specification) that the platform has figures for."""
    return [spec for part, spec in policies if platform.knows(*choose(**{part: spec})[part].policy.needs)]


@st.composite
def cases(draw, *, happen=False, **figures):
    """What `replay` takes: a workload, a platform, events if they are to `happen`, a seed and the policies."""
    platform = draw(machines(**figures))
    partitions = len({t.partition for t in platform.types})
    made = draw(rows(platform.cores, memory=True, partitions=partitions, cancellations=True))
    parts = {
        part: draw(st.sampled_from(possible([(part, spec) for spec in specs], platform)))
        for part, specs in (("rate", RATES), ("sleep", SLEEPS), ("start", STARTS), ("energy", ENERGIES))
    }
    parts["order"] = draw(st.sampled_from(("fcfs", "lcfs", "spf", "lpf", "wfp3")))
    parts["select"] = draw(st.sampled_from(("first-fit", "worst-fit", "coolest", "random")))
    events = draw(streams(platform.nodes, len(made))) if happen else None
    return workload(made), platform, {"seed": draw(st.integers(0, 3)), "events": events, **parts}


@st.composite
def streams(draw, nodes, jobs):
    """Random events, some in vain, some before the first arrival; often every node is back in the end."""
    node = st.tuples(st.sampled_from(("node-down", "node-up")), st.integers(0, nodes - 1))
    job = st.tuples(st.sampled_from(("job-deleted", "job-killed", "job-requeued")), st.integers(1, jobs))
    stream = draw(st.lists(st.tuples(st.integers(-2, 40), st.one_of(node, node, job)), min_size=1, max_size=12))
    made = [(time, *what) for time, what in stream]
    if draw(st.booleans()):
        made += [(45, "node-up", k) for k in range(nodes)]
    return happenings(*made, interrupted=draw(st.sampled_from(("requeue", "kill"))))


# ---------------------------------------------------------------- what the timeline says


def step_integral(timeline, column):
    """∫ of a column, which holds its value from one instant to the next."""
    return float((np.diff(timeline["time"]) * timeline[column].to_numpy()[:-1]).sum())


def virtual(timeline, begin, end):
    """∫ rate dt from `begin` to `end`."""
    times = np.append(timeline["time"].to_numpy(), np.inf)
    lengths = np.minimum(times[1:], end) - np.maximum(times[:-1], begin)
    return float((np.maximum(lengths, 0) * timeline["rate"].to_numpy()).sum())
