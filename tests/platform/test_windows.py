"""Reservations of nodes: the table, the nodes that it means, the sentence about each mistake."""

import re
from datetime import datetime

import pandas as pd
import pytest

import harness
from harness import HarnessError, NodeType, Platform, read_platform
from harness.platform.windows import Window, read_windows, with_windows

THREE = Platform("three", (NodeType(2, 4), NodeType(1, 2)))


@pytest.fixture
def table(tmp_path):
    """The windows that a text describes."""

    def read(text):
        (tmp_path / "kept.csv").write_text(text)
        return read_windows(tmp_path / "kept.csv")

    return read


def test_a_table_is_what_it_says(table):
    assert table("begin,end,nodes,users\n0,10,0-1 2,3 4\n5,6,,\n") == (
        Window(0.0, 10.0, nodes=(0, 1, 2), users=(3, 4)),
        Window(5.0, 6.0),
    )


@pytest.mark.parametrize(
    ("window", "nodes"),
    [
        (Window(0, 1), (0, 1, 2)),
        (Window(0, 1, nodes=(1,)), (1,)),
        (Window(0, 1, procs=1), (2,)),
        (Window(0, 1, procs=2), (2,)),
        (Window(0, 1, procs=3), (1, 2)),
        (Window(0, 1, procs=10), (0, 1, 2)),
    ],
)
def test_which_nodes_are_kept(window, nodes):
    assert window.on(THREE) == nodes


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("begin,until\n0,1\n", "there is no column 'until'"),
        ("begin\n0\n", "expected a column 'end'"),
        ("begin,end\n5,5\n", "line 2: a window from 5 to 5 s: expected its begin before its end"),
        ("begin,end\nnoon,5\n", "line 2: 'noon': expected a number of seconds, or a date as in 1997-01-31T18:00"),
        ("begin,end\n0,inf\n", "line 2: 'inf': expected a number"),
        ("begin,end,procs\n0,5,few\n", "line 2: 'few': expected a whole number of processors of at least 1"),
        ("begin,end,procs\n0,5,0\n", "line 2: '0': expected a whole number of processors of at least 1, or nothing"),
        ("begin,end,procs\n0,5,0.5\n", "line 2: '0.5': expected a whole number of processors of at least 1"),
        ("begin,end,procs\n0,5,-4\n", "line 2: '-4': expected a whole number of processors of at least 1"),
        ("begin,end,nodes\n0,5,a-b\n", "line 2: 'a-b': expected whole numbers, the lower one first, as in 0-3 7"),
        ("begin,end,nodes\n0,5,3-0\n", "line 2: '3-0': expected whole numbers, the lower one first"),
        ("begin,end,nodes\n0,5,0 1-\n", "line 2: '1-': expected whole numbers, the lower one first"),
        ("begin,end,nodes\n0,5,0-99999999999\n", "line 2: '0-99999999999': expected whole numbers"),
        ("begin,end,nodes\n0,5,0-999999999\n", "line 2: '0-999999999': expected at most 1,000,000 numbers in a cell"),
        ("begin,end,nodes\n0,5,0,1\n", "line 2: expected no more cells than columns"),
        ("begin,end,end\n0,5,7\n", "the column 'end' occurs twice"),
        ("begin,end,nodes,procs\n0,5,1,2\n", "line 2: a window with nodes and procs: expected one of them"),
        ("begin,end\n", "expected a table of reservations with at least one row below begin, end"),
    ],
)
def test_what_cannot_be_is_refused(table, text, complaint):
    with pytest.raises(HarnessError, match=re.escape(complaint)):
        table(text)


def test_whose_windows_are_is_said_by_number_or_by_name(table):
    whose = table("begin,end,users,groups,queues\n0,10,alice 3-4 bob-2,7 physics,\n")
    assert whose == (Window(0.0, 10.0, users=("alice", 3, 4, "bob-2"), groups=(7, "physics")),)


def test_names_are_those_of_the_log():
    jobs = pd.DataFrame({"submit": [0, 0], "run": [10, 10], "procs": [1, 1], "user": [1, 2], "queue": [3, 3]})
    log = harness.log_from_frame(jobs, name="dump", header=("; User: 1 alice", "; User: 2 bob", "; Queue: 3 long"))
    assert starts(log, Window(0, 100, users=("bob",))) == [100.0, 0.0]
    assert starts(log, Window(0, 100, users=(1,), queues=("long",))) == [0.0, 10.0]
    with pytest.raises(HarnessError, match="reservations of nodes: dump has no user 'bbo'; did you mean 'bob'"):
        starts(log, Window(0, 100, users=("bbo",)))
    with pytest.raises(HarnessError, match="dump has no group 'bob'; it has no names of groups: expected a number"):
        starts(log, Window(0, 100, groups=("bob",)))


@pytest.mark.parametrize("cell", ["-3", "3-", "4-3", "1.5"])
def test_a_cell_of_users_is_a_number_or_a_name(table, cell):
    with pytest.raises(HarnessError, match=re.escape(f"line 2: {cell!r}: expected whole numbers")):
        table(f"begin,end,users\n0,10,{cell}\n")


def test_fewer_than_no_processors_cannot_be_kept():
    with pytest.raises(HarnessError, match="a window of -1 processors: expected at least 1"):
        Window(0, 1, procs=-1)


@pytest.mark.parametrize("window", [Window(0, 1, nodes=(3,)), Window(0, 1, procs=11)])
def test_nodes_that_are_not_there_are_refused(window):
    with pytest.raises(HarnessError, match="expected"):
        with_windows(THREE, [window])


def test_a_description_names_its_table(tmp_path):
    (tmp_path / "kept.csv").write_text("begin,end\n0,10\n")
    (tmp_path / "p.toml").write_text('reservations = "kept.csv"\n[[nodes]]\ncores = 1\n')
    platform = read_platform(str(tmp_path / "p.toml"))
    assert platform.windows == (Window(0.0, 10.0),)
    assert platform.digest != Platform("p", platform.types).digest


DATED = harness.log_from_frame(
    pd.DataFrame({"submit": [0, 3600, 90000], "run": [10, 10, 10], "procs": [1, 1, 1]}),
    name="dated",
    header=("; UnixStartTime: 852073200", "; TimeZoneString: Europe/Stockholm"),  # midnight there, 1 January 1997
)


def starts(log, *windows):
    return harness.simulate(log, with_windows(Platform("one", (NodeType(1, 1),)), windows)).frame["start"].tolist()


def test_dates_are_by_the_clock_of_the_site(table):
    dated = table("begin,end\n1997-01-01T00:30,1997-01-01 02:00\n1997-01-02,90060\n")
    assert [window.dated for window in dated] == [True, True]
    seconds = table("begin,end\n1800,7200\n86400,90060\n")
    assert starts(DATED, *dated) == starts(DATED, *seconds) == [0.0, 7200.0, 90060.0]


def test_dates_with_a_zone_are_of_that_zone():
    assert starts(DATED, Window("1996-12-31T23:00+00:00", "1997-01-01T00:00+00:00")) == [3600.0, 3610.0, 90000.0]


def test_dates_from_python_are_dates():
    assert Window(datetime(1997, 1, 1), datetime(1997, 1, 2)) == Window("1997-01-01", "1997-01-02")


def test_a_log_without_a_date_cannot_tell_them():
    log = harness.log_from_frame(pd.DataFrame({"submit": [0], "run": [1], "procs": [1]}), name="undated")
    with pytest.raises(HarnessError, match="undated does not say when it began"):
        starts(log, Window("1997-01-01", "1997-01-02"))


@pytest.mark.parametrize("ends", [("1997-01-02", "1997-01-01"), (86400.0, "1997-01-01")])
def test_dates_the_wrong_way_round_are_refused(ends):
    with pytest.raises(HarnessError, match="expected its begin before its end"):
        starts(DATED, Window(*ends))
