"""A replay reports each kind of request that its platform does not have, and the option that respects it."""

import pandas as pd
import pytest

import harness
from harness.platform.machine import NodeType, Platform
from harness.results.ignored_requests import ignored_requests

JOBS = {"submit": [0, 1, 2], "run": [5, 5, 5], "procs": [1, 2, 2]}
PLAIN = Platform("plain", (NodeType(8, 1),))


def requests(platform: Platform, **columns: list[object]) -> list[str]:
    return ignored_requests(harness.prepare(harness.log_from_frame(pd.DataFrame(JOBS | columns))), platform)


@pytest.mark.parametrize(
    ("columns", "words", "richer"),
    [
        ({"partition": [1, 2, -1]}, "2 jobs request partitions", {"partitions": (1, 2)}),
        ({"memory": [7, -1, -1]}, "1 job requests memory", {"memory": 1e9}),
        ({"node_memory": [7, 8, -1]}, "2 jobs request memory", {"memory": 1e9}),
        ({"constraint": ["a", "a|b", "b"]}, "3 jobs request features of nodes", {"features": ("a", "b")}),
        ({"nodes": [-1, 2, 1]}, "2 jobs request whole nodes or a number of nodes", {"cores": 2}),
        ({"exclusive": [1, -1, 1]}, "2 jobs request whole nodes", {"cores": 2}),
        ({"needs_gpu": [4, 0, -1]}, "1 job requests gpu", {"resources": {"gpu": 4}}),
        ({"needs_matlab": [1, 1, -1]}, "2 jobs request matlab", {"resources": {"matlab": 4}}),
    ],
)
def test_each_request_that_the_platform_does_not_have(
    columns: dict[str, list[object]], words: str, richer: dict[str, object]
) -> None:
    (line,) = requests(PLAIN, **columns)
    assert line.startswith(f"ignored: {words}")
    assert "--platform FILE.toml with" in line
    assert "--slurm slurm.conf" in line
    node = NodeType(**({"count": 4, "cores": 1} | richer))
    other = NodeType(4, 1, partitions=(3,)) if "partitions" in richer else node
    assert requests(Platform("richer", (node, other)), **columns) == []


def test_licences_of_the_platform_count() -> None:
    licensed = Platform("licensed", (NodeType(8, 1),), licences={"matlab": 2})
    assert requests(licensed, needs_matlab=[1, 1, -1]) == []


def test_nothing_is_reported_where_nothing_is_requested() -> None:
    assert requests(PLAIN) == []
    assert requests(PLAIN, partition=[1, 1, 1]) == []


@pytest.mark.parametrize(
    ("known", "reported"),
    [({}, ["gpu"]), ({"gpu": 4}, ["gpu:a100"]), ({"gpu:a100": 4}, ["gpu"]), ({"gpu": 4, "gpu:a100": 4}, [])],
)
def test_a_type_of_a_resource_is_reported_with_its_kind_or_alone(known: dict[str, int], reported: list[str]) -> None:
    platform = Platform("some", (NodeType(8, 1, resources=known),))
    lines = requests(platform, **{"needs_gpu": [1, 1, -1], "needs_gpu:a100": [1, -1, -1]})
    assert [line.split(", which")[0].rpartition(" ")[2] for line in lines] == reported
