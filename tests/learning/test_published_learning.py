"""The weights that are published give what the page says."""

import re

import pytest

import harness
from harness.disk import bundled
from harness.present.words import readable

PAGE = (bundled.folder("reports") / "learning.md").read_text(encoding="utf-8")


@pytest.mark.data
@pytest.mark.parametrize("log", ["KTH-SP2", "LANL-CM5"])
@pytest.mark.parametrize("name", ["by-actions", "by-weights", "fcfs"])
def test_published_weights_give_the_published_cells(log: str, name: str) -> None:
    heads = [cell.strip() for cell in re.findall(r"^\| scheduler +\|(.*)\|$", PAGE, flags=re.M)[0].split("|")]
    label = name if name == "fcfs" else f"network(weights='{name}')"
    (row,) = re.findall(rf"^\| {re.escape(label)} +\|(.*)\|$", PAGE, flags=re.M)[:1]
    cells = [cell.strip() for cell in row.split("|")]
    order = name if name == "fcfs" else f"network(weights='{bundled.folder('reports') / f'learned-{name}.txt'}')"
    schedule = harness.simulate(log, None, harness.Scheduler(order=order, start="easy"))
    assert readable(schedule.measures()["mean_bounded_slowdown"], 4) == cells[heads.index(log)]
