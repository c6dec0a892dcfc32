"""Small multiples show what was measured, and only where there are many workloads."""

import numpy as np
import pandas as pd

from harness.results.charts.multiples import FEWEST, small_multiples
from harness.results.measures import MEASURES

WAIT = MEASURES["mean_wait"]


def frame(workloads: int) -> pd.DataFrame:
    dice = np.random.default_rng(1)
    rows = [(f"log {k}", name, dice.uniform(1, 100)) for k in range(workloads) for name in ("a", "b", "c")]
    return pd.DataFrame(rows, columns=["workload", "scheduler", "mean_wait"])


def test_a_panel_for_every_workload_with_the_ratios_in_the_order_of_the_ranking() -> None:
    runs = frame(FEWEST)
    found = small_multiples(runs, ["b", "c", "a"], WAIT)
    assert found is not None
    assert len(found.data) == FEWEST
    assert [note["text"] for note in found.layout["annotations"]] == [f"log {k}" for k in range(FEWEST)]
    waits = runs.pivot(index="workload", columns="scheduler", values="mean_wait")
    better = int((waits.div(waits["b"], axis=0).min(axis=1) < 10**-0.01).sum())
    assert f"On {better} workloads of {FEWEST} some scheduler has less" in found.caption
    for place, (_, row) in enumerate(waits.iterrows()):
        said = [f"{rank}. {name}: {row[name] / row['b']:.3g}" for rank, name in enumerate(("b", "c", "a"), 1)]
        assert found.data[place]["text"] == said


def test_few_workloads_have_charts_of_their_own() -> None:
    assert small_multiples(frame(FEWEST - 1), ["b", "c", "a"], WAIT) is None
    assert small_multiples(frame(FEWEST).query("scheduler == 'a'"), ["a"], WAIT) is None
