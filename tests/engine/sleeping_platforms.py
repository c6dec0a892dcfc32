"""Platforms of nodes that sleep and wake."""

from hypothesis import strategies as st

from harness.platform.machine import NodeType, Platform, SleepState


def machine(nodes, down, up):
    """Nodes of so many cores, all processors equally fast."""
    nap = SleepState("off", 1.0, down=float(down), up=float(up))
    return Platform(
        "sleepy", tuple(NodeType(1, cores, float(cores), idle=50.0, peak=150.0, sleep=(nap,)) for cores in nodes)
    )


@st.composite
def sleepers(draw):
    """Nodes that sleep soon, wake slowly, and jobs of which some are as wide as the machine: so waking matters."""
    nodes = draw(st.lists(st.sampled_from((1, 1, 1, 2)), min_size=2, max_size=5))
    widths = st.sampled_from((1, 1, 1, max(1, sum(nodes) - 1), sum(nodes)))
    job = st.tuples(st.sampled_from((0, 1, 2, 4)), widths, st.integers(3, 25), st.sampled_from((0, 0, 3)))
    now, made = 0, []
    for gap, procs, work, slack in draw(st.lists(job, min_size=5, max_size=10)):
        now += gap
        made.append((now, procs, work, work + slack, {}))
    return made, nodes, draw(st.sampled_from((0, 0, 2))), draw(st.sampled_from((0, 2))), draw(st.sampled_from((3, 10)))
