"""Small workloads and platforms: hypothesis strategies, and a seeded twin for tests that need thousands.

Times are whole seconds and often equal, so that ties are the rule, and sums are exact.
"""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from harness.platform.machine import NodeType, Platform
from harness.workload.log import Workload

POWER = {"idle": 50.0, "peak": 150.0}
NEVER = float("inf")


def workload(jobs, name="small"):
    """A workload from rows of (submit, procs, work, estimate), and further columns by name in a dict at the end."""
    rows = []
    for number, (submit, procs, work, estimate, *more) in enumerate(jobs, 1):
        row = {"job": number, "submit": submit, "procs": procs, "work": work, "estimate": estimate}
        whose = {"user": -1, "group": -1, "queue": -1}
        rows.append(row | {"memory": -1.0, "partition": -1, "cancel": NEVER} | whose | (more[0] if more else {}))
    frame = pd.DataFrame(rows)
    frame = frame.astype(dict.fromkeys(("submit", "work", "estimate", "memory", "cancel"), float))
    frame["killed"] = False
    return Workload(name, frame, None, name)


@st.composite
def rows(draw, procs, *, most=12, memory=False, partitions=1, cancellations=False, shuffled=True, whose=False):
    """Rows for `workload`: widths up to `procs`, estimates at least the work, gaps mostly of 0 or 1 second."""
    gap = st.sampled_from((0, 0, 0, 1, 1, 2, 5, 9))
    more = {}
    if memory:
        more["memory"] = st.sampled_from((-1.0, 1.0, 2.0, 3.0))
    if partitions > 1:
        more["partition"] = st.integers(-1, partitions - 1)
    if whose:
        more |= {key: st.integers(-1, 1) for key in ("user", "group", "queue")}
    if cancellations:
        more["cancel"] = st.one_of(st.just(NEVER), st.integers(0, 12))
    job = st.tuples(
        gap, st.integers(1, procs), st.integers(1, 9), st.sampled_from((0, 0, 0, 1, 3, 8)), st.fixed_dictionaries(more)
    )
    now, made = 0, []
    for wait, width, work, slack, extra in draw(st.lists(job, min_size=1, max_size=most)):
        now += wait
        if "cancel" in extra:
            extra["cancel"] += now
        made.append((now, width, work, work + slack, extra))
    return draw(st.permutations(made)) if shuffled and draw(st.booleans()) else made


@st.composite
def workloads(draw, procs, **options):
    """Small workloads; the options are those of `rows`."""
    return workload(draw(rows(procs, **options)))


def powered(procs):
    """Like `plain`, of known power."""
    return Platform("single", (NodeType(procs, 1, **POWER),))


def homogeneous(most=6):
    """Platforms of equal processors."""
    multicore = st.builds(
        lambda nodes, cores: Platform("multi-core", (NodeType(nodes, cores, **POWER),)),
        st.integers(1, 3),
        st.integers(1, 3),
    )
    return st.one_of(multicore, st.builds(powered, st.integers(1, most)))


def seeded_rows(seed, *, most=14, cancellations=True, whose=False):
    """Like `rows`, from a seed, and the number of processors: thousands of cases in no time."""
    dice = np.random.default_rng(seed)
    procs = int(dice.integers(1, 9))
    count = int(dice.integers(1, most + 1))
    longest = int(dice.choice((2, 5, 30)))
    submit = np.cumsum(dice.choice((0, 0, 1, 1, 2, 7), count) * dice.choice((0, 1, 1, 1), count))
    width = dice.integers(1, procs + 1, count)
    work = dice.integers(1, longest + 1, count)
    estimate = work + dice.choice((0, 0, 1, 4, 20), count) * dice.integers(0, 2)
    patience = np.where(dice.random(count) < 0.15, dice.integers(0, 15, count), np.inf)
    order = dice.permutation(count) if dice.random() < 0.3 else np.arange(count)
    made = []
    for k in order:
        extra = {"cancel": float(submit[k] + patience[k])} if cancellations else {}
        if whose:
            extra |= {key: int(dice.integers(-1, 2)) for key in ("user", "group", "queue")}
        made.append((int(submit[k]), int(width[k]), int(work[k]), int(estimate[k]), extra))
    return made, procs
