"""What is in a file comes out whatever it is packed in, and what cannot be read is one sentence."""

import bz2
import gzip
import io
import lzma
import os
import threading
import zipfile
from pathlib import Path

import pytest

from harness.disk import stored
from harness.disk.stored import beginning, first_line, read_text
from harness.errors import HarnessError

TEXT = "time,event,subject\n1,node-down,0\n"


def zipped(content: bytes, files: int = 1) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(files):
            file.writestr(str(number), content)
    return archive.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zipped])
def test_whatever_it_is_packed_in_and_whoever_wrote_it(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "table.csv"
    for content in (TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode(), TEXT.replace("\n", "\r\n").encode()):
        path.write_bytes(pack(content))
        assert read_text(path, "a table") == TEXT
        assert first_line(path) == "time,event,subject"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped])
@pytest.mark.parametrize("spoil", [lambda packed: packed[:9], lambda packed: packed[:10] + b"?" * 30])
def test_what_is_not_what_it_says_is_one_sentence(tmp_path: Path, pack, spoil) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "table.csv"
    path.write_bytes(spoil(pack(TEXT.encode() * 20)))
    with pytest.raises(HarnessError, match=rf"^{path}: cannot be read: the \w+ data (ends too early|is damaged)"):
        read_text(path, "a table")
    assert isinstance(first_line(path), str)


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    (tmp_path / "two.zip").write_bytes(zipped(b"x", files=2))
    with pytest.raises(HarnessError, match="it holds 2 files; expected at most 1"):
        read_text(tmp_path / "two.zip", "a table")


@pytest.mark.parametrize("name", ["absent", ".", "n" * 3000, "nul\0"])
def test_what_cannot_be_read_at_all(tmp_path: Path, name: str) -> None:
    with pytest.raises(HarnessError, match="cannot be read as a table: "):
        read_text(tmp_path / name, "a table")


def test_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(TEXT * 10_000,), daemon=True).start()
    assert first_line(pipe) == ""
    assert read_text(pipe, "a table") == TEXT * 10_000


def test_a_pipe_into_which_nobody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HarnessError, match="into this pipe nothing was written"):
        read_text(tmp_path / "pipe", "a table")


def test_a_device_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(HarnessError, match="cannot be read as a table: it is a device; expected a file"):
        read_text(tmp_path / "link", "a table")


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2", ".xz", ".zip", ".XZ"])
def test_a_name_is_the_same_however_it_is_packed(packing: str) -> None:
    assert stored.unpacked_name(f"below.gz/jobs.CSV{packing}") == "jobs.CSV"
    assert stored.suffix_of(f"below.gz/jobs.CSV{packing}") == ".csv"


def test_where_a_file_begins_is_known_without_unpacking_all_of_it(tmp_path, monkeypatch):
    path = tmp_path / "long.json.gz"
    path.write_bytes(gzip.compress(b'{\n "application_model": 1' + b" " * 10**7 + b"}"))
    taken = []
    unpacking = gzip.GzipFile.read

    def counted(file, size=-1):
        taken.append(size)
        return unpacking(file, size)

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    assert beginning(path).startswith('{\n "application_model": 1')
    assert first_line(path) == "{"
    assert all(0 < size <= 1 << 16 for size in taken)
    assert taken
