"""What is fetched is whole and right, or an error in one sentence and nothing but what can be continued."""

import ast
import gzip
import hashlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

import filelock
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mirror import Mirror, served

import harness
from harness.errors import HarnessError
from harness.workload.catalogue import Trace, fetched_folder
from harness.workload.fetch import fetch

CONTENT = gzip.compress(b"; MaxProcs: 8\n" + random.Random(1).randbytes(200_000), mtime=0)
PATH = "l_here/Here-1-cln.swf.gz"
HERE = Trace("Here", "Here-1-cln.swf.gz", PATH, sha256=hashlib.sha256(CONTENT).hexdigest())
UNKNOWN = Trace("Here", "Here-1-cln.swf.gz", PATH)  # no checksum


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HARNESS_MIRROR", raising=False)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with served(Mirror({PATH: CONTENT})) as mirror:
        yield mirror


def kept() -> list[str]:
    """What is in the folder, but for locks."""
    place = fetched_folder()
    return sorted(path.name for path in place.iterdir() if path.suffix != ".lock") if place.exists() else []


@pytest.mark.parametrize("trace", [HERE, UNKNOWN])
@pytest.mark.parametrize("damaged", [b"", CONTENT[:1000], CONTENT[:-1], b"<html>"])
def test_what_was_damaged_since_is_fetched_again(mirror: Mirror, trace: Trace, damaged: bytes) -> None:
    path = fetch(trace, mirror=mirror.url)
    path.write_bytes(damaged)
    assert fetch(trace, mirror=mirror.url).read_bytes() == CONTENT
    assert kept() == [HERE.file]


def refused(trace: Trace, mirror: Mirror, words: str) -> None:
    with pytest.raises(HarnessError, match=words) as raised:
        fetch(trace, mirror=mirror.url)
    assert "\n" not in str(raised.value)
    assert not (fetched_folder() / trace.file).exists()


@pytest.mark.parametrize("trace", [HERE, UNKNOWN])
def test_a_trace_arrives_byte_for_byte(mirror: Mirror, trace: Trace) -> None:
    told: list[tuple[int, int | None]] = []
    path = fetch(trace, mirror=mirror.url + "/", progress=lambda done, whole: told.append((done, whole)))
    assert path == fetched_folder() / HERE.file
    assert path.read_bytes() == CONTENT
    assert kept() == [HERE.file]
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_what_is_here_is_not_fetched_again(mirror: Mirror) -> None:
    fetch(HERE, mirror=mirror.url)
    fetch(HERE, mirror=mirror.url)
    assert len(mirror.asked) == 1
    (fetched_folder() / HERE.file).write_bytes(b"damaged")
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT


def test_the_mirror_of_the_environment(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_MIRROR", mirror.url)
    assert fetch(HERE).read_bytes() == CONTENT


def test_a_cut_connection_is_taken_up_where_it_was_cut(mirror: Mirror) -> None:
    mirror.cut_after = 90_000
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT
    assert [asked for _, asked in mirror.asked] == ["", "bytes=90000-", "bytes=180000-"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(have=st.integers(1, len(CONTENT)), ranges=st.booleans(), lengths=st.booleans())
def test_the_next_call_goes_on_from_any_byte(mirror: Mirror, have: int, ranges: bool, lengths: bool) -> None:
    mirror.ranges, mirror.lengths = ranges, lengths
    fetched_folder().mkdir(parents=True, exist_ok=True)
    (fetched_folder() / f".{HERE.file}.part").write_bytes(CONTENT[:have])
    (fetched_folder() / HERE.file).unlink(missing_ok=True)
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT
    assert kept() == [HERE.file]


def test_a_server_that_brings_nothing_new_is_given_up_and_what_came_is_kept(mirror: Mirror) -> None:
    mirror.cut_after, mirror.ranges = 50_000, False
    refused(HERE, mirror, "cannot be fetched: .*50,000 bytes received are kept")
    assert kept() == [f".{HERE.file}.part"]
    mirror.cut_after, mirror.ranges = None, True
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT
    assert mirror.asked[-1][1] == "bytes=50000-"


def test_a_file_that_shrank_on_the_server_is_begun_anew(mirror: Mirror) -> None:
    fetched_folder().mkdir(parents=True)
    (fetched_folder() / f".{HERE.file}.part").write_bytes(CONTENT + b"more")
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT


def test_what_is_not_there(mirror: Mirror) -> None:
    mirror.files.clear()
    refused(HERE, mirror, rf"{mirror.url}/{PATH}: the server answers 404")
    assert kept() == []


def test_a_busy_server_is_asked_again(mirror: Mirror) -> None:
    mirror.busy = 2
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT
    mirror.busy = 9
    (fetched_folder() / HERE.file).unlink()
    refused(HERE, mirror, "the server answers 503")


def test_something_else_under_the_name_is_not_kept(mirror: Mirror) -> None:
    mirror.files[PATH] = gzip.compress(b"another log")
    refused(HERE, mirror, r"is not the known Here-1-cln.swf.gz \(SHA-256")
    assert kept() == []


@pytest.mark.parametrize("content", [b"<html>Please log in</html>", CONTENT[:-9], CONTENT[:-8] + bytes(8), b""])
def test_without_a_checksum_gzip_must_be_whole(mirror: Mirror, content: bytes) -> None:
    mirror.files[PATH] = content
    refused(UNKNOWN, mirror, "not complete gzip data")
    assert kept() == []


@pytest.mark.parametrize("lengths", [True, False])
def test_more_than_the_limit_is_not_fetched(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, lengths: bool) -> None:
    mirror.lengths = lengths
    monkeypatch.setenv("HARNESS_MAX_SIZE", "100KB")
    refused(UNKNOWN, mirror, "holds more than 100 KB")
    assert sum(path.stat().st_size for path in fetched_folder().iterdir()) <= 100 << 10


def test_what_unpacks_to_more_than_the_limit_is_not_kept(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror.files[PATH] = gzip.compress(bytes(10**6))
    monkeypatch.setenv("HARNESS_MAX_SIZE", "100KB")
    refused(UNKNOWN, mirror, "holds more than 100 KB")


def test_nobody_answers(mirror: Mirror) -> None:
    with pytest.raises(HarnessError, match=rf"http://127.0.0.1:1/{PATH}: cannot be fetched: \S") as raised:
        fetch(HERE, mirror="http://127.0.0.1:1")
    assert "<" not in str(raised.value)


@pytest.mark.parametrize("place", ["nonsense", "gopher://127.0.0.1", "/a/folder"])
def test_a_mirror_is_an_address(mirror: Mirror, place: str) -> None:
    with pytest.raises(HarnessError, match=f"the mirror '{place}': expected an address"):
        fetch(HERE, mirror=place)


def test_one_process_at_a_time(mirror: Mirror) -> None:
    fetched_folder().mkdir(parents=True)
    with filelock.FileLock(fetched_folder() / f".{HERE.file}.lock"):
        refused(HERE, mirror, "is being fetched by another process")


def test_an_interrupt_keeps_what_came(mirror: Mirror) -> None:
    def impatient(done: int, whole: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(HERE, mirror=mirror.url, progress=impatient)
    assert kept() == [f".{HERE.file}.part"]
    assert fetch(HERE, mirror=mirror.url).read_bytes() == CONTENT
    assert mirror.asked[-1][1].startswith("bytes=")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only(mirror: Mirror, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        refused(HERE, mirror, "cannot store a trace there")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_the_folder_belongs(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    with pytest.raises(HarnessError, match="cannot store a trace there"):
        fetch(HERE, mirror=mirror.url)


def test_what_is_not_of_the_archive(mirror: Mirror) -> None:
    refused(Trace("Mine", "mine.swf.gz"), mirror, "'Mine': is not in the archive; .* HARNESS_DATA")
    assert mirror.asked == []


def test_no_other_module_imports_a_library_for_the_network() -> None:
    """Only `harness data` imports the module that fetches; `socket` gives names of hosts and free ports elsewhere."""
    root = Path(harness.__file__).parent
    network = {"requests", "urllib", "urllib3", "http", "httpx", "aiohttp", "ftplib", "pooch", "smtplib", "fsspec"}
    found, fetching = set(), set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {str(path.relative_to(root)) for name in names if name.partition(".")[0] in network}
            fetching |= {str(path.relative_to(root)) for name in names if name == "harness.workload.fetch"}
    assert found == {"workload/fetch.py"}
    assert fetching == {"cli/data_command.py"}
