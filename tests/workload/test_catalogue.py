"""Logs are found by short name, by file name, and by path."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.workload.catalogue import catalogue, fetched_folder, find_trace, found_traces, named_trace
from harness.workload.swf import read_swf

KTH = "KTH-SP2-1996-2.1-cln.swf.gz"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders of data, the second empty, and an empty cache."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.setenv("HARNESS_DATA", f"{first}{os.pathsep}{second}{os.pathsep}{tmp_path / 'none'}")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return first


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_the_catalogue_is_in_order() -> None:
    assert {"KTH-SP2", "SDSC-SP2", "CTC-SP2", "HPC2N", "RICC", "LLNL-Thunder"} <= set(catalogue())
    assert len({name.lower() for name in catalogue()}) == len(catalogue())
    for trace in catalogue().values():
        assert trace.jobs is None or trace.jobs > 0
        assert trace.procs is None or trace.procs > 0
        assert re.fullmatch("([0-9a-f]{64})?", trace.sha256)
        assert re.fullmatch(r"(l_\w+/[\w.-]+\.swf\.gz)?", trace.path)
        assert re.fullmatch(r"(\d{4}(-\d\d)?( to \d{4}-\d\d)?)?", trace.span)
        assert trace.path or trace.sha256
        assert trace.about
    assert len({trace.file for trace in catalogue().values()}) == len(catalogue())


def test_a_checksum_holds_only_for_the_file_it_is_of() -> None:
    assert named_trace("ricc").checksum == catalogue()["RICC"].sha256 != ""
    assert named_trace("LCG").checksum == ""  # the archive's file goes by another name


def test_a_path_is_itself(place: Path) -> None:
    path = put(place / "mine.txt")
    assert find_trace(path) == path
    assert find_trace(str(path)) == path


def test_short_names_in_any_case(place: Path) -> None:
    path = put(place / KTH)
    assert find_trace("KTH-SP2") == find_trace("kth-sp2") == path
    assert find_trace(KTH) == path


def test_search_order(place: Path, tmp_path: Path) -> None:
    fetched = put(fetched_folder() / KTH)
    assert find_trace("KTH-SP2") == fetched
    second = put(tmp_path / "second" / "b" / KTH.removesuffix(".gz"))
    assert find_trace("KTH-SP2") == second
    below = put(place / "a" / "traces" / KTH)
    assert find_trace("KTH-SP2") == below
    direct = put(place / KTH)
    assert find_trace("KTH-SP2") == direct


def test_all_that_is_found(place: Path, tmp_path: Path) -> None:
    assert found_traces() == {}
    put(place / "deep" / "er" / KTH)
    put(fetched_folder() / "RICC-2010-2.swf")
    put(fetched_folder() / KTH)
    found = found_traces()
    assert sorted(found) == ["KTH-SP2", "RICC"]
    assert found == {name: find_trace(name) for name in found}


def test_what_is_not_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        HarnessError, match=rf"trace 'RICC': its file RICC-2010-2.swf.gz is not in {place}, .*harness data fetch RICC$"
    ):
        find_trace("ricc")
    with pytest.raises(HarnessError, match=r"trace 'WAGAP': .*its folder belongs in HARNESS_DATA"):
        find_trace("WAGAP")
    with pytest.raises(HarnessError, match="there is no trace 'RIC': did you mean 'RICC'"):
        named_trace("RIC")
    with pytest.raises(HarnessError, match="no trace 'KTH-SP': did you mean 'KTH-SP2'"):
        find_trace("KTH-SP")
    with pytest.raises(HarnessError, match="did you mean 'hpc2n'"):
        find_trace("hpcn2")
    for name in ("mine.swf", "mine.csv", "m" * 5000 + ".csv"):
        with pytest.raises(HarnessError, match=f"{name}: there is no such file"):
            find_trace(name)
    with pytest.raises(HarnessError, match="no log file"):
        find_trace("/none/mine.swf")
    for name in ("", "nothing alike"):
        with pytest.raises(HarnessError, match=f"^no log file and no trace '{name}': harness data list shows"):
            find_trace(name)
    with pytest.raises(HarnessError, match=f"^{place}: is a folder; expected a log"):
        find_trace(place)
    monkeypatch.delenv("HARNESS_DATA")
    with pytest.raises(HarnessError, match="HARNESS_DATA is not set"):
        find_trace("RICC")


@pytest.mark.data
def test_the_catalogue_tells_the_truth(data: Path) -> None:
    here = [trace for trace in catalogue().values() if trace.sha256]
    assert len(here) == 24
    for trace in here:
        path = find_trace(trace.name)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == trace.sha256
        log = read_swf(path)
        assert (len(log.jobs), log.procs) == (trace.jobs, trace.procs), trace.name
