"""Requests of generated jobs for further resources, and nodes with such resources."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from harness.platform.machine import NodeType, Platform
from harness.platform.windows import Window

#: The columns of requests other than processors, memory and partition, and the names of feature bits.
ASKED = ("nodes", "exclusive", "node_memory", "features", "any_feature", "needs_gpu", "needs_licence")
FEATURES = ("big", "new")


def _seldom(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from((-1, -1, -1, *values))


request_strategy = st.fixed_dictionaries(
    {
        "nodes": _seldom(1, 2),
        "exclusive": _seldom(1),
        "node_memory": _seldom(1.0, 3.0),
        "features": _seldom(1, 2, 3),
        "any_feature": _seldom(1, 3),
        "needs_gpu": _seldom(1, 2),
        "needs_licence": _seldom(1, 2),
    }
)


@st.composite
def reservation_windows(draw: st.DrawFn, nodes: int) -> tuple[Window, ...]:
    """Draw reservations of some of `nodes` nodes for some users, or for no user."""
    some = st.sets(st.integers(0, nodes - 1), min_size=1).map(lambda found: tuple(sorted(found)))
    window = st.builds(
        lambda begin, length, kept, users: Window(begin, begin + length, kept, users=users),
        st.integers(0, 20),
        st.integers(1, 12),
        some,
        st.sampled_from(((), (0,), (1, 2))),
    )
    return tuple(draw(st.lists(window, max_size=2)))


resource_strategy = st.fixed_dictionaries(
    {
        "features": st.sampled_from((FEATURES[:1], FEATURES, FEATURES[1:])),
        "resources": st.builds(lambda gpus: {"gpu": gpus}, st.integers(0, 3)),
        "partitions": st.sampled_from(((0,), (1,), (0, 1))),
    }
)


def demand(k: int) -> dict[str, Any]:
    """Return the request of the `k`-th job: a GPU, a licence, a feature, an exclusive node, or none."""
    return ({"needs_gpu": 1}, {"needs_licence": 1}, {"features": 2}, {"exclusive": 1}, {})[k % 5]


def bound_platform(powered: Mapping[str, Any]) -> Platform:
    """Return two nodes, one with a GPU, one with the feature "new", and one licence."""
    nodes = (NodeType(1, 2, 2.0, features=FEATURES[:1], resources={"gpu": 1}, **powered),)
    return Platform("asked", (*nodes, NodeType(1, 2, 2.0, features=FEATURES[1:], **powered)), licences={"licence": 1})
