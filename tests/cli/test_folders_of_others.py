"""A results folder from another person: no file outside it is changed, and no foreign file in it is deleted."""

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from calling import Answer, Call

import harness

FIELD = 'workloads = "lublin(jobs=20, procs=8)"\n[[scheduler]]\norder = ["fcfs", "spf"]\n'

#: The name of a lock file.
LOCK = "0123456789abcdef"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a field, and with the results of it in `out`."""
    place = tmp_path_factory.mktemp("made")
    (place / "field.toml").write_text(FIELD)
    harness.tournament(place / "field.toml", place / "out", workers=1)
    return place


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Results that came from elsewhere, next to a folder of files that must stay."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    victim = tmp_path / "victim"
    (victim / "sessions").mkdir(parents=True)
    for name in ("letter", "sessions/letter", f"sessions/{LOCK[::-1]}"):
        (victim / name).write_text("precious")
    for name in ("empty", LOCK):
        (victim / name).touch()
    return tmp_path / "out"


@pytest.fixture
def nothing_is_lost(out: Path) -> Iterator[None]:
    """The files next to the results are the same afterwards."""
    before = contents(out.parent / "victim")
    yield
    assert contents(out.parent / "victim") == before


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def resumed(harness_says: Call, out: Path, *more: str) -> Answer:
    """The tournament that is resumed in a folder."""
    return harness_says("tournament", out.parent / "field.toml", "--out", out, "--workers", "1", *more)


def refused(answer: Answer) -> None:
    """The program refused its input in one sentence."""
    assert answer.status == 2, answer.err
    assert "Traceback" not in answer.err
    (said,) = (line for line in answer.err.splitlines() if line.startswith("harness:"))
    assert "expected" in said


NAMES: list[object] = [
    *(
        "{victim}/letter",
        "../victim/letter",
        "../../victim/letter",
        f"../../victim/{LOCK}",
        f"{LOCK}/../../victim/empty",
    ),
    *(f"{LOCK}\0/../../../victim/letter", f"{LOCK}\n", f" {LOCK}", LOCK.upper(), LOCK[:-1], LOCK + "0"),
    *("", ".", "..", "making", "../store.sqlite", "０" * 16, 7, 1.5, LOCK.encode()),
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.usefixtures("nothing_is_lost")
def test_a_lock_name_is_sixteen_hexadecimal_digits(harness_says: Call, out: Path, name: object) -> None:
    if isinstance(name, str):
        name = name.replace("{victim}", str(out.parent / "victim"))
    with closing(sqlite3.connect(out / "store.sqlite", isolation_level=None)) as store:
        store.execute("UPDATE sessions SET over = 0, lock = ?", (name,))
    refused(resumed(harness_says, out))
    assert (out / "store.sqlite").exists()


def link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(path.parent / target)


def second_name(target: str) -> Callable[[Path], None]:
    return lambda path: path.hardlink_to(path.parent / target)


#: What may stand in the place of a file, in `out` (and one level lower).
ODD: dict[str, Callable[[Path], None]] = {
    "a link": link("../victim/letter"),
    "a link from below": link("../../victim/letter"),
    "a link to nothing": link("../victim/nothing"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a second name": second_name("../victim/letter"),
    "a second name of an empty file": second_name("../victim/empty"),
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": lambda path: path.mkdir(),
    "a device": lambda path: os.mknod(path, 0o20666, os.makedev(1, 3)),
}


def put(path: Path, odd: str) -> None:
    """Put something odd in the place of a file."""
    if odd == "a device" and os.geteuid():
        pytest.skip("only root makes devices")
    path.unlink(missing_ok=True)
    if "name" in odd and path.parent.name == "sessions":
        path.hardlink_to(path.parent.parent.parent / "victim" / ("empty" if "empty" in odd else "letter"))
    else:
        ODD[odd](path)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "name", ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "store.sqlite-journal", "sessions/making"]
)
@pytest.mark.usefixtures("nothing_is_lost")
def test_odd_things_in_the_place_of_a_file_are_refused(harness_says: Call, out: Path, odd: str, name: str) -> None:
    put(out / name, odd)
    refused(resumed(harness_says, out))
    assert not (out.parent / "victim" / "nothing").exists()
    if name != "sessions/making":
        refused(harness_says("report", out, "--out", out.parent / "page.html"))


@pytest.mark.usefixtures("nothing_is_lost")
def test_a_linked_folder_of_sessions_is_refused(harness_says: Call, out: Path) -> None:
    shutil.rmtree(out / "sessions")
    for target in ("victim", "victim/sessions", "nowhere"):
        (out / "sessions").unlink(missing_ok=True)
        (out / "sessions").symlink_to(Path("..") / target)
        refused(resumed(harness_says, out))
    (out / "sessions").unlink()
    (out / "sessions").write_text("a file")
    refused(resumed(harness_says, out))


@pytest.mark.usefixtures("nothing_is_lost")
def test_a_link_to_a_folder_loses_no_file_there(harness_says: Call, out: Path) -> None:
    """The path is the user's: a folder of results may lie behind a link, and still no foreign file is deleted."""
    for link in (out.parent / "linked", out.parent / "parent" / "linked"):
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(out.parent / "victim")
        assert harness_says("tournament", out.parent / "field.toml", "--out", link, "--workers", "1").status == 0
    (out.parent / "above").symlink_to(out.parent)
    assert resumed(harness_says, out.parent / "above" / "out").status == 0
    for name in ("store.sqlite", "sessions/making"):
        (out.parent / "victim" / name).unlink()


@pytest.mark.usefixtures("nothing_is_lost")
def test_only_lock_files_are_tidied_away(harness_says: Call, out: Path) -> None:
    sessions = out / "sessions"
    (sessions / LOCK).touch()
    kept = ["letter", "fedcba9876543210.txt", "FEDCBA9876543210", "fedcba987654321", ".hidden", "1" * 16]
    for name in kept:
        (sessions / name).touch()
    (sessions / ("1" * 16)).write_text("precious")
    (sessions / ("2" * 16)).mkdir()
    for number, odd in enumerate(("a link", "a link to nothing", "a second name of an empty file", "a pipe"), 3):
        put(sessions / (f"{number}" * 16), odd)
    answer = resumed(harness_says, out)
    assert answer.status == 0, answer.err
    assert not (sessions / LOCK).exists()
    there = set(os.listdir(sessions)) - {"making"}
    assert there == {*kept, *(f"{number}" * 16 for number in range(2, 7))}


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd not in ("a link", "a link from below", "a link to itself")])
@pytest.mark.usefixtures("nothing_is_lost")
def test_odd_things_in_the_place_of_a_living_session_are_refused(harness_says: Call, out: Path, odd: str) -> None:
    put(out / "sessions" / LOCK, odd)
    with closing(sqlite3.connect(out / "store.sqlite", isolation_level=None)) as store:
        store.execute("UPDATE sessions SET over = 0, lock = ?", (LOCK,))
    refused(resumed(harness_says, out))


@pytest.mark.usefixtures("nothing_is_lost")
def test_a_rollback_journal_deletes_no_file(harness_says: Call, out: Path) -> None:
    """SQLite plays a journal back and then deletes the file that it names as that of several databases."""
    name = str(out.parent / "victim" / "letter").encode()
    size = (out / "store.sqlite").stat().st_size // 4096
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 0, size, 512, 4096)
    lock_page = (1 << 30) // 4096 + 1
    tail = struct.pack(">I", lock_page) + name + struct.pack(">2I", len(name), sum(name)) + head[:8]
    (out / "store.sqlite-journal").write_bytes(head.ljust(512, b"\0") + tail)
    refused(harness_says("report", out, "--out", out.parent / "page.html"))
    refused(resumed(harness_says, out))


@pytest.mark.usefixtures("nothing_is_lost")
def test_schedules_are_written_to_no_other_place(harness_says: Call, out: Path, made: Path) -> None:
    pytest.importorskip("pyarrow")
    identities = harness.Results(made / "out").frame()["identity"]
    (out / "store.sqlite").unlink()
    (out / "schedules").symlink_to("../victim")
    refused(resumed(harness_says, out, "--keep-schedules"))
    (out / "schedules").unlink()
    (out / "schedules").mkdir()
    for identity in identities:
        (out / "schedules" / f"{identity}.parquet").symlink_to("../../victim/letter")
    assert resumed(harness_says, out, "--keep-schedules").status == 0
    assert all((out / "schedules" / f"{identity}.parquet").is_file() for identity in identities)


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd not in ("a link from below", "a second name")])
@pytest.mark.usefixtures("nothing_is_lost")
def test_the_page_is_written_to_no_other_place(harness_says: Call, out: Path, odd: str) -> None:
    put(out / "report.html", odd)
    refused(harness_says("report", out))
    assert not (out.parent / "victim" / "nothing").exists()


def test_an_absurd_path_is_refused(harness_says: Call, out: Path) -> None:
    for path in ("a\0b", "x" * 5000, out / "store.sqlite" / "below"):
        for answer in (
            harness_says("report", path),
            harness_says("tournament", out.parent / "field.toml", "--out", path),
        ):
            assert answer.status == 2
            assert "Traceback" not in answer.err
