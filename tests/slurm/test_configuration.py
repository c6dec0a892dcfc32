"""Slurm's configuration: read as Slurm reads it, and changed for this machine no more than it must be."""

import os
import stat
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.disk import stored
from harness.errors import HarnessError
from harness.slurm.adaptation import Place, adapted, node_names, prepare_folder
from harness.slurm.configuration import read_slurm
from harness.slurm.slurm_names import expanded

SMALL = """# two kinds of nodes
ClusterName=small   # the name
SlurmctldHost=head
schedulertype=sched/backfill
SchedulerParameters=bf_interval=30,\\
bf_window=1440
Prolog=/opt/site/prolog.sh
AccountingStorageType=accounting_storage/slurmdbd
SelectType=select/cons_tres SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-3] CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=fat CPUs=8 RealMemory=9000 Port=6818 NodeAddr=10.0.0.9 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(SMALL)
    return read_slurm(path)


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    return Place(folder, 7000, (7001, 7002, 7003, 7004))


def test_keys_have_no_case_and_lines_go_on(small):
    assert small.setting("SchedulerType") == "sched/backfill"
    assert small.setting("SchedulerParameters") == "bf_interval=30,bf_window=1440"
    assert small.setting("ClusterName") == "small"
    assert small.setting("SelectTypeParameters") == "CR_Core_Memory"
    assert [line["nodename"] for line in small.lines("NodeName")] == ["n[1-3]", "fat"]


def test_what_is_included_is_read_in_its_place(tmp_path):
    (tmp_path / "nodes.conf").write_text("NodeName=a CPUs=1\n")
    (tmp_path / "slurm.conf").write_text("Include nodes.conf\nPartitionName=p Nodes=a\n")
    assert node_names(read_slurm(tmp_path / "slurm.conf")) == [["a"]]
    (tmp_path / "slurm.conf").write_text("Include slurm.conf\n")
    with pytest.raises(HarnessError, match="more than 10 levels of files that include each other"):
        read_slurm(tmp_path / "slurm.conf")


def test_pipes_are_read_once_or_refused(small, place, tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "PATIENCE", 0.1)
    pipe, including = tmp_path / "pipe.conf", tmp_path / "including.conf"
    os.mkfifo(pipe)
    including.write_text(f"Include {pipe.name}\n")
    for path in (pipe, including):
        with pytest.raises(HarnessError, match=r"pipe\.conf: .*into this pipe nothing was written"):
            read_slurm(path)
    monkeypatch.setattr(stored, "PATIENCE", 10)
    writing = threading.Thread(target=pipe.write_text, args=(SMALL,))
    writing.start()
    assert replace(read_slurm(pipe), path=small.path) == small
    writing.join()
    monkeypatch.setattr(stored, "PATIENCE", 0.1)
    os.mkfifo(tmp_path / "topology.conf")
    with pytest.raises(HarnessError, match=r"topology\.conf: .*into this pipe nothing was written"):
        prepare_folder(small, place)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense", r"slurm\.conf, line 1: expected Key=Value"),
        ("Key='open'", "line 1: expected Key=Value, in double quotes"),
        ("A=1\nNodeName=a\n", "there is no line PartitionName"),
        ("A=1", "there is no line NodeName"),
        ("NodeName=n[1-9999999]\nPartitionName=p", "expected at most 200,000 nodes"),
        ("NodeName=n[5-3]\nPartitionName=p", "expected names and numbers"),
        ("NodeName=n[²]\nPartitionName=p", "expected names and numbers"),
        (f"NodeName=n{'[1]' * 2000}\nPartitionName=p", "expected names and numbers"),
        ("NodeName=n[1-x]\nPartitionName=p", r"expected names and numbers, as in n\[1-4,7\]"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path, text, sentence):
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    with pytest.raises(HarnessError, match=sentence):
        node_names(read_slurm(path))
    with pytest.raises(HarnessError, match="cannot be read"):
        read_slurm(tmp_path / "none")


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 20)), min_size=1, max_size=4), st.integers(1, 4))
def test_node_lists_stand_for_all_their_nodes(ranges, digits):
    text = ",".join(f"{low:0{digits}d}-{low + more:0{digits}d}" for low, more in ranges)
    expected = [f"n{number:0{digits}d}" for low, more in ranges for number in range(low, low + more + 1)]
    assert expanded(f"n[{text}]") == expected
    assert expanded(f"first,n[{text}],last") == ["first", *expected, "last"]


def test_racks_and_nodes():
    assert expanded("r[1-2]n[01-02]x") == ["r1n01x", "r1n02x", "r2n01x", "r2n02x"]


def test_only_what_must_differ_differs(small, place):
    text, differences = adapted(small, place, node_names(small))
    (place.folder / "slurm.conf").write_text(text)
    here = read_slurm(place.folder / "slurm.conf")
    told = {difference.key.lower() for difference in differences}
    for key, value in small.settings.items():
        assert here.setting(key) == value or key.lower() in told, key
    for key, value in here.settings.items():
        assert small.setting(key) == value or key.lower() in told, key
    assert {"schedulerparameters", "selecttypeparameters", "grestypes"}.isdisjoint(told)
    assert {"prolog", "slurmctldhost", "accountingstoragetype"} <= told
    assert all(difference.why for difference in differences)
    assert here.lines("PartitionName") == small.lines("PartitionName")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("FooProgram=/x", "FooProgram"),
        ("fooprolog=relative", "fooprolog"),
        ('Anything="/opt/site/run me"', "Anything"),
        ("ResumeProgram=y", "ResumeProgram"),
        ("FooProgramTimeout=8", "FooProgramTimeout"),
    ],
)
def test_only_known_keys_are_written(place, tmp_path, line, key):
    path = tmp_path / "slurm.conf"
    path.write_text(f"{line}\nepilogmsgtime=9\n{SMALL}")
    given = read_slurm(path)
    text, differences = adapted(given, place, node_names(given))
    assert f"{key}=" not in text
    (difference,) = [one for one in differences if one.key == key]
    assert difference.here == ""
    assert "EpilogMsgTime=9\n" in text


def test_every_node_lives_on_loopback_with_a_port_of_its_own(small, place):
    text, _ = adapted(small, place, node_names(small))
    (place.folder / "slurm.conf").write_text(text)
    thin, fat = read_slurm(place.folder / "slurm.conf").lines("NodeName")
    assert (thin["nodeaddr"], thin["port"], fat["nodeaddr"], fat["port"]) == (
        "127.0.0.1",
        "[7001-7003]",
        "127.0.0.1",
        "7004",
    )
    assert (thin["cpus"], thin["realmemory"], fat["gres"]) == ("2", "1000", "gpu:2")


def test_devices_of_gpus_are_files_that_exist(small, place, tmp_path):
    (tmp_path / "gres.conf").write_text("NodeName=fat Name=gpu File=/dev/nvidia[0-1]\n")
    prepare_folder(small, place)
    (line,) = (place.folder / "gres.conf").read_text().splitlines()
    files = line.partition("File=")[2].split(",")
    assert len(files) == 2
    assert all(os.path.exists(file) for file in files)
    assert (place.folder / "munge" / "key").stat().st_mode & 0o077 == 0


def test_the_key_of_munge_is_new_and_readable_by_its_user_alone(small, place, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    keys = []
    before = os.umask(0)
    try:
        for here in (place, replace(place, folder=other)):
            prepare_folder(small, here)
            key = here.folder / "munge" / "key"
            keys.append(key.read_bytes())
            assert stat.S_IMODE(key.stat().st_mode) == 0o600
            assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert len(keys[0]) == 1024
    assert keys[0] != keys[1]


def test_the_controller_listens_on_loopback(small, place):
    text, _ = adapted(small, place, node_names(small))
    (place.folder / "slurm.conf").write_text(text)
    here = read_slurm(place.folder / "slurm.conf")
    assert here.setting("SlurmctldHost").endswith("(127.0.0.1)")
    assert here.setting("CommunicationParameters") == "NoCtldInAddrAny,NoInAddrAny"
