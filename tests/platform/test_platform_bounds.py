"""Platforms that would keep the harness busy for minutes are refused at once, in a sentence."""

import pytest

import harness
from harness.errors import HarnessError
from harness.platform.machine import MOST_NODES, MOST_TYPES, NodeType, Platform, plain


def test_as_many_nodes_as_any_machine_has() -> None:
    assert plain(MOST_NODES).nodes == MOST_NODES
    with pytest.raises(HarnessError, match=rf"{MOST_NODES + 1:,} nodes; expected at most {MOST_NODES:,}"):
        plain(MOST_NODES + 1)
    with pytest.raises(HarnessError, match=rf"expected at most {MOST_NODES:,}"):
        harness.simulate(harness.prepare(harness.lublin(jobs=5, procs=10_000_000)))


def test_different_node_types_are_counted_and_equal_ones_are_not() -> None:
    one, other = NodeType(1, 4, idle=50.0, peak=90.0), NodeType(1, 4, idle=60.0, peak=90.0)
    assert Platform("alternating", (one, other) * MOST_TYPES).nodes == 2 * MOST_TYPES
    many = tuple(NodeType(1, 4, idle=50.0 + k / MOST_TYPES, peak=90.0) for k in range(MOST_TYPES + 1))
    with pytest.raises(
        HarnessError, match=rf"{MOST_TYPES + 1:,} different node types; expected at most {MOST_TYPES:,}"
    ):
        Platform("unlike", many)


def test_a_table_of_many_different_servers_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rows = "".join(f"M,P{k},1,4,16,{100_000 + k},{200 + k / 1000}\n" for k in range(MOST_TYPES + 1))
    head = "Vendor,Processor,#Chips,#Cores/Chip,RAM (GB),OPS@100%Load,Watts@100%Load\n"
    (tmp_path / "many.csv").write_text(head + rows)
    with pytest.raises(HarnessError, match="different node types; expected at most"):
        harness.read_platform(str(tmp_path / "many.csv"))
