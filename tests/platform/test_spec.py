"""SPEC's export: every oddity of its form, every reason to refuse a row, and the real file."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.spec_form import CURVE, HEADER, WATTS, spec_row, spec_text

from harness import HarnessError, Platform, read_platform, read_spec
from harness.platform.rows import Table
from harness.platform.specpower import is_spec, spec_servers


def only(servers):
    """The one node type of a table in which nothing was refused."""
    assert servers.refused == {}
    (node,) = servers.types.values()
    return node


def test_a_row_becomes_a_node_type(written):
    servers = read_spec(written(spec_text(spec_row())))
    node = only(servers)
    assert (node.cores, node.ops, node.memory, node.name) == (8, 400000.0, 32 * 1024.0**2, "Alpha 1")
    assert (node.curve, node.idle, node.peak, node.count) == (CURVE, 60.0, 220.0, 1)
    (server,) = servers.types
    assert (server.row, server.vendor, server.processor) == (2, "Maker, Inc.", "Fast 5000")
    assert server.result == "20110101-00001"


def test_numbers_as_spec_writes_them(written):
    node = only(
        read_spec(written(spec_text(spec_row(ops="3.68761e+07", memory="1,024", watts=[*WATTS[:-1], "1,220"]))))
    )
    assert (node.ops, node.memory, node.peak) == (36876100.0, 1024.0**3, 1220.0)


def test_several_nodes_are_shared_out(written):
    servers = read_spec(written(spec_text(spec_row(nodes="4", cores="32", chips="8", memory="64.0"))))
    node = only(servers)
    assert (node.cores, node.ops, node.memory) == (8, 100000.0, 16 * 1024.0**2)
    assert node.curve == tuple(watts / 4 for watts in CURVE)
    assert node.name == "Alpha 1 (1 of 4 nodes)"
    assert next(iter(servers.types)).measured == "4"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (spec_row(result="0"), "non-compliant"),
        (spec_row(memory="n/a"), "memory gb: 'n/a' is not a number"),
        (spec_row(cores="0", chips="0"), "cores: 0, expected above 0"),
        (spec_row(cores="9"), "9 cores on 2 chips of 4 cores"),
        (spec_row(nodes="3"), "8 cores cannot be divided among 3 nodes"),
        (spec_row(nodes="0.5"), "among 0.5 nodes"),
        (spec_row(nodes="0"), "nodes: 0"),
        (spec_row(cores="4.5", chips="1", per_chip="4.5"), "4.5 cores cannot be divided"),
        (spec_row(ops="-5"), "ssj ops 100 of target load: -5"),
        (spec_row(watts=["0", *WATTS[1:]]), "average watts active idle: 0"),
        (spec_row(watts=["832", "882", "943", "101", *WATTS[4:]]), "falls from 943 W at 20 % load"),
        (",".join(spec_row().split(",")[:9]), "the row ends before"),
    ],
)
def test_a_row_is_refused_with_its_reason(written, row, reason):
    servers = read_spec(written(spec_text(spec_row(), row.replace("00001", "00002"))))
    assert len(servers.types) == 1
    ((server, said),) = servers.refused.items()
    assert (server.row, server.system) == (3, "Alpha 1")
    assert reason in said


def test_a_result_counts_once(written):
    servers = read_spec(written(spec_text(spec_row(), spec_row("Alpha 1 again"), spec_row("Beta", number="none"))))
    assert [server.row for server in servers.types] == [2, 4]
    assert list(servers.refused.values()) == ["it repeats the result of row 2"]


#: Cores, nodes and memory of one row, right and wrong.
ODD = ((8, 8, 8, 7, 0), (1, 2, 4, 3, 0, -1), ("1", "1,024", "0", "n/a"))


@given(st.lists(st.tuples(*map(st.sampled_from, ODD)), max_size=8))
def test_every_row_is_a_type_or_refused(cases):
    rows = [
        tuple(
            field.strip('"')
            for field in spec_row("S", nodes=str(nodes), cores=str(cores), memory=memory, number="x", vendor="V").split(
                '","'
            )
        )
        for cores, nodes, memory in cases
    ]
    servers = spec_servers(Table("made.csv", tuple(HEADER), tuple(rows)))
    assert sorted(server.row for server in (*servers.types, *servers.refused)) == list(range(2, len(cases) + 2))
    assert all(node.cores * float(server.measured) == 8 for server, node in servers.types.items())


def test_a_column_that_is_missing(written):
    text = spec_text(spec_row()).replace("# Cores Per Chip ", "Cores a Chip")
    with pytest.raises(HarnessError, match="no column is 'cores per chip'"):
        read_spec(written(text))


def test_the_two_tables_are_told_apart_by_their_header():
    assert is_spec(Table("x", tuple(HEADER), ()))
    assert not is_spec(Table("x", ("Vendor", "Processor"), ()))


def test_a_whole_table_is_a_platform_of_one_node_each(written):
    path = written(
        gzip.compress(spec_text(spec_row(), spec_row("B", result="0", number="20110101-00002")).encode()), "all.csv.gz"
    )
    platform = read_platform(path)
    assert isinstance(platform, Platform)
    assert (platform.name, platform.nodes) == ("all (1 of 2 rows)", 1)
    assert "list platforms --from" in platform.about
    for reading in ("whole_watts", "whole_numbers"):
        with pytest.raises(HarnessError, match=reading):
            read_platform(f"{path}({reading}=true)")


@pytest.mark.data
def test_the_export_of_2023(data):
    """832 of its 882 rows; 40 non-compliant ones, and ten more each for its own reason."""
    servers = read_spec(data / "spec" / "power_ssj2008-results-20230518-025251.csv.gz")
    assert len(servers.types) + len(servers.refused) == 882
    assert sum("non-compliant" in reason for reason in servers.refused.values()) == 40
    other = {server.row: reason for server, reason in servers.refused.items() if "non-compliant" not in reason}
    assert {row for row, reason in other.items() if "contradicts itself" in reason} == {
        21,
        124,
        133,
        502,
        791,
        853,
        857,
    }
    assert {row for row, reason in other.items() if "falls" in reason} == {107, 204}
    assert other.keys() - {21, 124, 133, 502, 791, 853, 857, 107, 204} == {883}
    assert "n/a" in other[883]
    assert len({server.result for server in (*servers.types, *servers.refused)}) == 882

    first = servers.pick({"row": 2})  # read off the file by eye, as are the next
    assert (first.cores, first.ops, first.memory) == (4, 165064.0, 4 * 1024.0**2)
    assert first.curve == (56.7, 64.0, 72.2, 79.1, 88.6, 95.3, 101.0, 106.0, 111.0, 115.0, 118.0)
    blade = servers.pick({"row": 122})  # 32 nodes of a PowerEdge M420, 6854 W, 3.69855e+07 operations, 768 GB
    assert (blade.cores, blade.ops, blade.peak, blade.memory) == (16, 3.69855e07 / 32, 6854 / 32, 24 * 1024.0**2)
    assert blade.name == "PowerEdge M420 (1 of 32 nodes)"
    assert servers.pick({"row": 434}).memory == 2112 / 11 * 1024**2  # "2,112"


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "rows"),
    [("ssj2008-results-20160613.csv.gz", 515), ("EfficiencyAnalysis-SpecPower-Servers-2025.csv.gz", 1092)],
)
def test_other_exports_of_the_same_table(data, file, rows):
    """Of 2016, with other names for some columns; and one that was converted to UTF-8 and back to other line ends."""
    servers = read_spec(data / "spec" / file)
    assert len(servers.types) + len(servers.refused) == rows
    assert len(servers.types) > 0.9 * rows
