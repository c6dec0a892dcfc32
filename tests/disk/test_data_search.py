"""Whatever is looked for by name is found in the same way."""

import os
from pathlib import Path

import pytest

from harness.disk.data_search import cache_folder, files_below, find_below, find_data
from harness.errors import HarnessError
from harness.platform.finding import find_platform
from harness.workload.log_reading import read_workload

JOBS = "submit,run,procs\n0,5,1\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data with files of one name at several depths."""
    folder = tmp_path / "data"
    for parent in ("b/deep/er", "b/own", "c/own"):
        (folder / parent).mkdir(parents=True)
        (folder / parent / "mine.csv").write_text(JOBS)
    monkeypatch.setenv("HARNESS_DATA", os.pathsep.join([str(tmp_path / "none"), str(folder)]))
    monkeypatch.chdir(tmp_path)
    return folder


def test_the_least_deep_then_the_first_by_alphabet(place: Path) -> None:
    own = place / "b/own/mine.csv"
    assert find_below([place], "mine.csv") == files_below(place)["mine.csv"] == find_data("mine.csv") == own
    assert find_below([place], "absent.csv", "mine.csv") == own
    assert find_below([place], "er/mine.csv") == place / "b/deep/er/mine.csv"
    (place / "mine.csv").write_text(JOBS)
    assert find_below([place], "mine.csv") == files_below(place)["mine.csv"] == place / "mine.csv"


def test_every_reader_looks_there(place: Path) -> None:
    log = read_workload("mine.csv")
    assert (log.source, len(log.jobs)) == (str(place / "b/own/mine.csv"), 1)
    assert read_workload("own/mine.csv").source == log.source
    assert find_platform("mine.csv") == Path(log.source)
    Path("mine.csv").write_text(JOBS * 1 + "1,5,1\n")  # what is here comes first
    assert len(read_workload("mine.csv").jobs) == 2


@pytest.mark.parametrize("name", ["absent.csv", "n" * 3000 + ".csv", "nul\0.csv"])
def test_what_is_nowhere(place: Path, name: str) -> None:
    with pytest.raises(HarnessError, match="there is no such file, here or in"):
        find_data(name)
    with pytest.raises(HarnessError, match="there is no such file, here or in"):
        read_workload(name)


def test_one_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", "")
    assert cache_folder().name == "harness"
