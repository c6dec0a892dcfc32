"""Files are replaced whole or left alone."""

import errno
import os
import stat
from pathlib import Path

import pytest

from harness.disk.atomic import replacing, replacing_both
from harness.disk.bundled import folder
from harness.errors import HarnessError


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "results.csv.gz"
    path.write_text("old")
    with replacing(path) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffixes[-2:] == [".csv", ".gz"]
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["results.csv.gz"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(HarnessError, match=r"results\.csv: cannot be written: No space left on device"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["results.csv"]


def test_other_exceptions_pass_through_and_clean_up(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing(tmp_path / "x") as temporary:
            temporary.write_text("half")
            raise KeyError("mine")

    with pytest.raises(KeyError):
        fail()
    assert os.listdir(tmp_path) == []


def test_links_and_permissions_survive(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_devices_are_written_to_not_replaced() -> None:
    with replacing("/dev/null") as temporary:
        temporary.write_text("gone")
    assert not Path("/dev/null").is_file()


def test_a_folder_or_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    for path, complaint in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "x", "No such file or directory"),
    ):
        with pytest.raises(HarnessError, match=complaint), replacing(path) as temporary:
            temporary.write_text("x")


def test_bundled_folders_are_found_by_name() -> None:
    assert (folder("workloads") / "catalogue.toml").is_file()
    with pytest.raises(HarnessError, match="did you mean 'workloads'"):
        folder("workload")


@pytest.mark.parametrize("old", [(), ("first",), ("second",), ("first", "second")])
@pytest.mark.parametrize(
    "fails", ["writing the first", "writing the second", "placing the first", "placing the second"]
)
def test_two_files_are_replaced_or_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: tuple[str, ...], fails: str
) -> None:
    paths = tmp_path / "first", tmp_path / "second"
    for name in old:
        (tmp_path / name).write_text(f"old {name}")
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if fails == f"placing the {Path(target).name}" and "old" not in Path(source).read_text():
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    def write() -> None:
        with replacing_both(*paths) as temporary:
            for path, name in zip(temporary, ("first", "second"), strict=True):
                if fails == f"writing the {name}":
                    raise OSError(errno.ENOSPC, "No space left on device")
                path.write_text(f"new {name}")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(HarnessError, match="No space left on device"):
        write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: f"old {name}" for name in old}
    fails = "nothing"
    write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {n: f"new {n}" for n in ("first", "second")}
