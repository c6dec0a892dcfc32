"""Any platform becomes as large as needed, and stays what it is otherwise."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import HarnessError, NodeType, Platform, read_platform, read_spec
from harness.disk import bundled
from harness.experiment.field_reading import parse_field
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.source_text import SourceText
from harness.platform.sizing import of_the_log, size_apart, sized

TYPES = st.lists(st.builds(NodeType, st.integers(1, 50), st.integers(1, 64)), min_size=1, max_size=3)


@given(TYPES, st.integers(1, 5000))
def test_there_are_as_many_processors_as_asked_for_and_no_node_too_many(types: list[NodeType], procs: int) -> None:
    platform = Platform("p", tuple(types))
    found = sized(platform, procs)
    assert found.cores >= procs
    for was, now in zip(types, found.types, strict=True):
        assert now.count == 1 or (now.count - 1) * platform.cores < was.count * procs
        assert (now.cores, now.ops, now.curve) == (was.cores, was.ops, was.curve)
    assert sized(platform, platform.cores).types == platform.types


@pytest.mark.parametrize(
    ("source", "rest", "procs"),
    [
        ("peas-table2", "peas-table2", None),
        ("peas-table2(procs=64)", "peas-table2", 64),
        ("peas-table2(whole_watts=true, procs=64)", "peas-table2(whole_watts=true)", 64),
        ("peas-table2(procs=64,whole_watts=true)", "peas-table2(whole_watts=true)", 64),
        ("spec(system='procs=3, or so', procs=8)", "spec(system='procs=3, or so')", 8),
    ],
)
def test_the_size_is_told_from_the_rest(source: str, rest: str, procs: int | None) -> None:
    assert size_apart(source) == (rest, procs)
    if procs:
        assert of_the_log(source.replace(f"procs={procs}", "procs=log"), procs, "a log") == source


def test_bundled_platforms_are_sized_by_name() -> None:
    assert read_platform("spec-2009-xeon-x5570(procs=100)").cores == 104
    mixed = read_platform("spec-mixed-old-new(procs=128)")
    assert [one.count * one.cores for one in mixed.types] == [64, 64]
    assert mixed.name == "spec-mixed-old-new(procs=128)"
    assert read_platform("peas-table2(whole_watts=true, procs=64)").cores >= 64


@pytest.mark.parametrize("size", ["0", "x", "log", "1e3"])
def test_sizes_that_are_none(size: str) -> None:
    with pytest.raises(HarnessError, match=r"expected a number of processors|no such|parameter"):
        read_platform(f"spec-2009-xeon-x5570(procs={size})")
    with pytest.raises(HarnessError, match="mine does not state how many processors"):
        of_the_log("a(procs=log)", None, "mine")


@pytest.mark.parametrize(
    ("entry", "cores"),
    [('{nodes = "spec-2009-xeon-x5570", size = "log"}', 40), ('{nodes = "spec-mixed-thin-fat", size = 200}', 240)],
)
def test_fields_size_platforms(entry: str, cores: int) -> None:
    text = f'workloads = "lublin(jobs=20, procs=37)"\nplatforms = [{entry}]\n[[scheduler]]\norder = "fcfs"\n'
    plan = make_run_matrix(parse_field(SourceText(Path("f.toml"), text)))
    assert [platform.cores for platform in plan.platforms] == [cores]


@pytest.mark.parametrize("entry", ['{size = "log"}', '{nodes = "a", size = "big"}', '{nodes = "a", sise = 3}'])
def test_entries_that_make_no_platform(entry: str) -> None:
    text = f'workloads = "lublin"\nplatforms = [{entry}]\n[[scheduler]]\norder = "fcfs"\n'
    with pytest.raises(HarnessError, match=r"expected \{nodes|did you mean"):
        parse_field(SourceText(Path("f.toml"), text))


@pytest.mark.data
def test_the_bundled_servers_are_those_that_spec_published(data: Path) -> None:
    (table,) = data.rglob("power_ssj2008-results-20230518-025251.csv.gz")
    servers = read_spec(table)
    files = sorted(bundled.folder("platforms").glob("spec-*.toml"))
    assert len(files) >= 10
    for path in files:
        cited = re.findall(r"result (\d{8}-\d{5})", path.read_text(encoding="utf-8"))
        for key, node in zip(cited, read_platform(path.stem).types, strict=True):
            published = servers.pick({"result": key})
            assert (node.cores, node.ops, node.memory) == pytest.approx(
                (published.cores, published.ops, published.memory), rel=1e-9
            )
            assert node.curve == pytest.approx(published.curve, rel=1e-9)
    picked = read_platform(f"spec(table='{table}', result='20171010-00788', procs=100)")
    assert (picked.cores, picked.types[0].cores) == (112, 56)
