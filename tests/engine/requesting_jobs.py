"""Platforms with resources, and workloads of jobs that request them."""

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from shared.running import choose, in_log_order
from shared.strategies import rows, workload

from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform
from harness.platform.windows import Window

NEVER = float("inf")


#: What the bits of features and the numbers of partitions stand for.
HEADER = ("; Feature: 1 big", "; Feature: 2 new", "; Partition: 0 batch", "; Partition: 1 debug")


FEATURES = ("big", "new")


UNASKED = ("nodes", "exclusive", "node_memory", "features", "any_feature", "needs_gpu", "needs_licence")


def machine(nodes, licences=0, windows=()):
    """The platform of nodes as `slow_nodes` has them, all processors equally fast."""
    types = []
    for cores, memory, partitions, features, gpus in nodes:
        names = tuple(name for bit, name in enumerate(FEATURES) if features >> bit & 1)
        more = {"features": names, "resources": {"gpu": gpus}, "partitions": partitions}
        types.append(NodeType(1, cores, float(cores), memory, **more))
    kept = tuple(Window(begin, end, kept, users=users) for begin, end, kept, users in windows)
    return Platform("asked", tuple(types), licences={"licence": licences}, windows=kept)


def made(jobs):
    """The workload of rows, whose last column may be a dict of what is asked for."""
    loaded = workload(jobs)
    frame = loaded.jobs.assign(**{name: loaded.jobs.get(name, pd.Series(-1.0)) for name in UNASKED})
    return replace(loaded, jobs=frame.fillna(dict.fromkeys(UNASKED, -1.0)), header=HEADER)


def starts(jobs, nodes, licences=0, windows=(), *, by_python=False, **parts):
    """When each job started; None where it never did."""
    outcome = simulate(made(jobs), machine(nodes, licences, windows), choose(**parts), plain=by_python)
    return [None if np.isnan(start) else start for start in in_log_order(outcome, "start")]


NODES = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from((NEVER, NEVER, 5.0, 8.0)),
        st.sampled_from(((0,), (1,), (0, 1))),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=4,
)


#: What a job may ask for.
VALUES = {
    "nodes": (1, 2),
    "exclusive": (1,),
    "node_memory": (1.0, 3.0),
    "features": (1, 2, 3),
    "any_feature": (1, 3),
    "needs_gpu": (1, 2),
    "needs_licence": (1, 2),
}


@st.composite
def asking(draw, procs, most=10):
    """Rows of jobs that ask for few kinds of things, but often, so that these bind."""
    kinds = draw(st.sets(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
    asked = st.fixed_dictionaries(
        {name: st.sampled_from((-1, *VALUES[name])) if name in kinds else st.just(-1) for name in VALUES}
    )
    some = draw(rows(procs, most=most, memory=draw(st.booleans()), partitions=2, cancellations=True))
    return [(*row[:4], row[4] | draw(asked)) for row in some]
