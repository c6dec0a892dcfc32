"""Baselines and starts that are none are refused in a sentence, before the work."""

import io
import resource
import signal
import tempfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.gates import LAST_COME, Bench

import harness
from harness.errors import HarnessError
from harness.gate.baseline import read_baseline, read_packed, starts_path, unpack


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read as a baseline"),
        ("[]", "not a baseline"),
        ("{}", "not a baseline"),
        ('{"schema": 99}', "a baseline of schema 99, but this harness compares schema 1"),
        ('{"schema": 1}', "versions: Field required"),
        ("\xff", "cannot be read as a baseline"),
        ("[" * 100_000, "cannot be read as a baseline"),
    ],
)
def test_bad_baselines_are_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(HarnessError, match=r"bad\.json") as caught:
        harness.check(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "replacement", "words"),
    [
        (r'("policies": )\{[^{}]*"energy": [^{}]*\}', r"\1{}", "expected one policy each of order, start"),
        (r'("order": )"mine"', r"\g<1>5", "policies.order"),
        (r'("workload": )"poisson.*"', r"\g<1>5", "workload: "),
        (r'("order": )\[[^]]*\]', r"\g<1>[5]", "order = [5]: expected texts"),
    ],
)
def test_numbers_where_names_belong_are_refused(made: Bench, pattern: str, replacement: str, words: str) -> None:
    made.edit(pattern, replacement)
    with pytest.raises(HarnessError, match=r"gate\.json") as refused:
        made.check()
    assert words in str(refused.value)


def test_a_baseline_that_is_a_folder_or_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("/nowhere/at/all")
    for name in ("folder.json", "link.json"):
        with pytest.raises(HarnessError, match=f"{name}: cannot be read as a baseline"):
            harness.check(tmp_path / name)


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_both_files_of_a_baseline_or_neither(bench: Bench, there: bool) -> None:
    """No file may be larger than a limit: of a new baseline, the starts are written, and its JSON is not."""
    bench.make()
    files = bench.baseline, starts_path(bench.baseline)
    large, small = (path.stat().st_size for path in files)
    assert small < large - 1
    bench.decide(LAST_COME)
    if not there:
        for path in files:
            path.unlink()
    before = {path.name: path.read_bytes() for path in bench.folder.iterdir() if path.is_file()}
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in (large - 1, small - 1):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
            with pytest.raises(HarnessError, match="cannot be written: File too large"):
                bench.make()
            assert {path.name: path.read_bytes() for path in bench.folder.iterdir() if path.is_file()} == before
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_baseline_has_every_combination_of_its_field(tmp_path: Path) -> None:
    """A tournament lists what cannot run; a baseline would lack it silently."""
    field, path = tmp_path / "partly.toml", tmp_path / "partly.json"
    text = 'workloads = "lublin(jobs=5, procs=16)"\nplatforms = [16, "synthetic-11"]\n[[scheduler]]\n'
    field.write_text(f'{text}sleep = ["never", "timeout(idle=60)"]\n')
    with pytest.raises(HarnessError, match=r"partly\.toml: .*'timeout'.*16 processors.*\[\[exclude\]\]"):
        harness.check(path, field=field, update=True)
    assert not path.exists()


def test_starts_of_other_jobs_are_refused(made: Bench) -> None:
    packed = read_packed(made.baseline, 99)
    with zipfile.ZipFile(starts_path(made.baseline), "w") as archive:
        for digest in packed:
            archive.writestr(digest, b"nothing of the kind")
    made.decide(LAST_COME)
    with pytest.raises(HarnessError, match="cannot be unpacked"):
        made.check()


def _inflated(digest: str) -> bytes:
    """Return a zip whose entry unpacks to more than the whole zip holds."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(digest, bytes(10**7))
    return packed.getvalue()


def _of_many_jobs(digest: str) -> bytes:
    """Return a zip as a baseline has it, of starts that unpack to those of a million jobs."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(digest, zlib.compress(bytes(8 * 10**6)))
    return packed.getvalue()


def _of_many_runs(digest: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for k in range(1000):
            archive.writestr(f"{digest}{k}", b"")
    return packed.getvalue()


@pytest.mark.parametrize("bomb", [_inflated, _of_many_jobs, _of_many_runs])
def test_starts_that_unpack_to_more_than_the_baseline_needs_are_refused(
    tmp_path: Path, bomb: Callable[[str], bytes]
) -> None:
    path = tmp_path / "gate.json"
    starts_path(path).write_bytes(bomb("digest"))
    tracemalloc.start()
    with pytest.raises(HarnessError, match=r"expected what --update writes|cannot be unpacked: .* another number of"):
        unpack(read_packed(path, 3)["digest"], np.zeros(9))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5 * 10**6


def test_a_policy_that_is_not_there_is_said_by_line(made: Bench) -> None:
    with pytest.raises(HarnessError, match=r"gate.json, line \d+: there is no order policy 'mine'"):
        harness.check(made.baseline)


def test_a_workload_that_is_not_there_is_said_by_line(made: Bench) -> None:
    made.edit(r'"poisson\(', '"nowhere.swf(')
    with pytest.raises(HarnessError, match=r"gate.json, line \d+: .*nowhere.swf"):
        made.check()


def test_a_field_needs_an_update(made: Bench, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="expected update"):
        made.check(field=made.field)
    with pytest.raises(HarnessError, match=r"no such baseline; harness check .*other.json --field FIELD --update"):
        harness.check(tmp_path / "other.json")


def test_a_folder_that_is_not_there_is_said_before_the_work(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="expected a folder"):
        harness.check(tmp_path / "nowhere" / "gate.json", field=bench.field, update=True, plugins=[bench.plugin])
    with pytest.raises(HarnessError, match="workers = 0"):
        bench.make(workers=0)


def test_starts_that_cannot_be_read(made: Bench) -> None:
    starts_path(made.baseline).write_bytes(b"no zip")
    with pytest.raises(HarnessError, match=r"starts\.zip: cannot be read"):
        made.check()


def test_the_starts_of_a_baseline_are_those_of_its_schedules(made: Bench) -> None:
    baseline, _ = read_baseline(made.baseline)
    assert set(read_packed(made.baseline, 99)) == {past.schedule for past in baseline.runs}


@given(st.integers(1, 60), st.integers(0, 60))
def test_starts_that_lost_bytes_are_refused_in_a_sentence(lost: int, place: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("digest", b"starts" * 9)
    content = packed.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gate.json"
        starts_path(path).write_bytes(content[:place] + content[place + lost :])
        with pytest.raises(HarnessError, match="cannot be read"):
            read_packed(path, 99)
