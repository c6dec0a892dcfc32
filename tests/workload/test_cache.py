"""The cache makes reading faster and changes nothing else."""

import hashlib
import io
import os
import random
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.workload import swf
from harness.workload.log import Log
from harness.workload.swf import read_swf

GOOD = "1 10 5 100.5 4 -1 -1 4 200 -1 1 7 8 9 2 300000 -1 -9000000000\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "logs"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text("; Umeå\n; MaxProcs: 8\n" + GOOD * 3, encoding="utf-8")
    return path


def same(one: Log, other: Log) -> bool:
    pd.testing.assert_frame_equal(one.jobs, other.jobs, check_exact=True)
    return (one.header, one.digest, one.reading, one.name) == (
        other.header,
        other.digest,
        other.reading,
        other.name,
    )


def test_the_second_reading_does_not_parse(folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_swf(path)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(swf, "_parse", None)
    assert same(read_swf(path), first)


def test_content_counts_not_names(folder: Path, path: Path, tmp_path: Path) -> None:
    first = read_swf(path)
    moved = path.rename(tmp_path / "moved.swf")
    assert read_swf(moved).name == "moved"
    assert read_swf(moved).digest == first.digest
    assert len(list(folder.iterdir())) == 1
    moved.write_text(GOOD)
    assert len(read_swf(moved).jobs) == 1


def test_without_cache_nothing_is_kept(folder: Path, path: Path) -> None:
    read_swf(path, cache=False)
    assert not folder.exists()


def test_lenient_and_strict_are_kept_apart(folder: Path, path: Path) -> None:
    path.write_text(GOOD + "nonsense\n")
    assert len(read_swf(path, lenient=True).jobs) == 1
    with pytest.raises(HarnessError, match="line 2"):
        read_swf(path)
    assert read_swf(path, lenient=True).reading[0].jobs == 1
    with pytest.raises(HarnessError, match="line 2"):
        read_swf(path)


def test_damage_anywhere_changes_no_result(folder: Path, path: Path) -> None:
    first = read_swf(path)
    (file,) = folder.iterdir()
    intact = file.read_bytes()
    dice = random.Random(1)
    for _ in range(100):
        position = dice.randrange(len(intact))
        flipped = intact[position] ^ (1 << dice.randrange(8))
        damaged = dice.choice(
            [
                intact[:position],
                intact[:position] + bytes([flipped]) + intact[position + 1 :],
                intact[position:],
                intact + b"more",
            ]
        )
        file.write_bytes(damaged)
        assert same(read_swf(path), first)
        assert file.read_bytes() == intact


def test_a_kept_log_that_unpacks_to_more_is_read_anew(folder: Path, path: Path) -> None:
    first = read_swf(path)
    (file,) = folder.iterdir()
    packed = io.BytesIO()
    np.savez_compressed(packed, about=np.zeros(1 << 24, dtype=np.uint8))
    file.write_bytes(hashlib.sha256(packed.getbuffer()).digest() + packed.getbuffer())
    tracemalloc.start()
    assert same(read_swf(path), first)
    assert tracemalloc.get_traced_memory()[1] < 1 << 23
    tracemalloc.stop()


class Evil:
    """Leaves a file where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.place), "w")


@pytest.mark.parametrize("kind", ["no archive", "another array", "pickled objects", "an array alone", "no columns"])
def test_a_kept_log_of_other_content_is_read_anew_and_runs_nothing(
    folder: Path, path: Path, tmp_path: Path, kind: str
) -> None:
    first = read_swf(path)
    (file,) = folder.iterdir()
    packed = io.BytesIO()
    objects = np.array([Evil(tmp_path / "evil")], dtype=object)
    if kind == "no archive":
        packed.write(b"nothing of the kind")
    elif kind == "an array alone":
        np.save(packed, objects, allow_pickle=True)
    elif kind == "no columns":
        np.savez(packed, about=np.frombuffer(b"[]", dtype=np.uint8))
    else:
        np.savez(packed, **{"about" if kind == "pickled objects" else "other": objects})  # type: ignore[arg-type]
    file.write_bytes(hashlib.sha256(packed.getbuffer()).digest() + packed.getbuffer())
    assert same(read_swf(path), first)
    assert not (tmp_path / "evil").exists()


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", Path("/proc/none")):
        monkeypatch.setenv("HARNESS_CACHE", str(place))
        assert len(read_swf(path).jobs) == 3


def test_many_readers_at_once(folder: Path, path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        logs = list(pool.map(lambda _: read_swf(path), range(40)))
    assert all(same(log, logs[0]) for log in logs)
    assert len(os.listdir(folder)) == 1


#: Reads a log over and over, and half of the time removes what was kept, so that it is written again and again.
READER = """
import sys, random
from pathlib import Path
from harness.workload.swf import read_swf
dice, folder, digests = random.Random(int(sys.argv[2])), Path(sys.argv[3]), set()
print("ready", flush=True)
for _ in range(int(sys.argv[4])):
    digests.add(read_swf(sys.argv[1]).digest)
    if dice.random() < 0.5:
        for file in folder.glob("*.npz"):
            file.unlink(missing_ok=True)
print(*digests)
"""


def test_processes_at_once_some_of_them_killed(folder: Path, path: Path) -> None:
    path.write_text("; MaxProcs: 8\n" + "".join(f"{i} {i}{GOOD[4:]}" for i in range(1, 3000)))
    expected = read_swf(path, cache=False)

    def start(seed: int, rounds: int) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", READER, str(path), str(seed), str(folder), str(rounds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    with ExitStack() as stack:
        patient = [stack.enter_context(start(seed, 60)) for seed in range(2)]
        doomed = [stack.enter_context(start(seed, 10**6)) for seed in range(2, 5)]
        for process in (*patient, *doomed):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in doomed:
            time.sleep(0.1)
            process.kill()
        said = [process.communicate(timeout=60)[0].split() for process in patient]
    assert said == [[expected.digest]] * 2
    assert same(read_swf(path), expected)
    assert same(read_swf(path), expected)


def test_what_killed_writers_leave_is_swept_after_an_hour(folder: Path, path: Path) -> None:
    read_swf(path)
    old, new = folder / ".left-long-ago.npz", folder / ".being-written.npz"
    for left in (old, new):
        left.write_bytes(b"half a file")
    os.utime(old, (time.time() - 4000,) * 2)
    path.write_text(GOOD)
    read_swf(path)
    assert not old.exists()
    assert new.exists()
