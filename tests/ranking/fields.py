"""Results of tournaments that never took place: frames as the runner gives them, and strategies for them."""

import itertools

import numpy as np
import pandas as pd
from hypothesis import strategies as st

#: Few values, so that ties are the rule; halves are exact.
VALUES = st.sampled_from((0.0, 1.0, 1.5, 2.0, 7.5, 40.0))


def results(costs, by="mean_wait", **more):
    """A frame from `costs[workload][variation]`, a number per scheduler; None is a failed run.

    `more` measures have the same value in every block: a number per scheduler.
    """
    rows = []
    for workload, variations in costs.items():
        for variation, values in enumerate(variations):
            for scheduler, value in enumerate(values):
                failed = value is None
                row = {"workload": workload, "platform": "plain", "variation": variation, "seed": 0}
                row |= {"scheduler": f"policy{scheduler}", "status": "failed" if failed else "done"}
                row |= {"error": "PolicyError: no" if failed else None, by: np.nan if failed else value}
                rows.append(row | {name: values[scheduler] for name, values in more.items()})
    return pd.DataFrame(rows)


@st.composite
def tournaments(draw, *, schedulers=(1, 6), workloads=(1, 4), variations=(1, 5)):
    """A complete tournament, as (workload, variation) → a cost per scheduler."""
    count = draw(st.integers(*schedulers))
    names = [f"log{number}" for number in range(draw(st.integers(*workloads)))]
    block = st.lists(VALUES, min_size=count, max_size=count)
    return {name: draw(st.lists(block, min_size=variations[0], max_size=variations[1])) for name in names}


def steps(variations, *levels):
    """Blocks in which schedulers always come in the order of `levels`, at different sizes."""
    return [[level * size for level in levels] for size in itertools.islice(itertools.count(1), variations)]
