"""What is in a file, for all readers: its bytes, packed or not, and its text, whoever wrote it on whatever system."""

import bz2
import gzip
import io
import lzma
import os
import re
import select
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from harness.disk.size_limit import SMALL, TREE, max_size, size_words, too_large
from harness.errors import HarnessError

#: For so long a pipe may be silent before anything comes [s].
PATIENCE = 60.0

#: How names of packed files end.
_ENDINGS = (".gz", ".bz2", ".xz", ".zip")

#: As much of a file is looked at to know its format [bytes].
_BEGINNING = 1 << 16

#: The longest line of a text [bytes]: the columns of a longer one would fill the memory.
LONGEST_LINE = 1 << 20

#: About the size of the pieces in which readers read [bytes].
_PIECE = 1 << 22

_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")

#: What cannot be unpacked raises one of these.
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)


def stored_bytes(path: Path, expected: str) -> bytes:
    """Return the bytes of a file; refuse one that cannot be read, or that is larger than the limit of `--max-size`."""
    most = max_size()
    try:
        found = os.stat(path)
        if stat.S_ISFIFO(found.st_mode):
            content = _piped(path, most)
        elif stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):  # /dev/zero and /dev/full have no end
            raise HarnessError(f"{path}: cannot be read as {expected}: it is a device; expected a file")
        else:
            with open(path, "rb") as file:
                content = file.read((min(found.st_size, most) or most) + 1)  # it is 0 for those of /proc
    except (OSError, ValueError) as error:
        known: dict[type, str] = {FileNotFoundError: "there is no such file", IsADirectoryError: "it is a folder"}
        why = known.get(type(error)) or getattr(error, "strerror", None) or error
        raise HarnessError(f"{path}: cannot be read as {expected}: {why}") from error
    if len(content) > most:
        raise too_large(path)
    return content


def unpacked(stored: bytes, path: Path, divisor: int = 1) -> bytes:
    """Return `stored`, unpacked if it is packed by gzip, bzip2, xz or (a single file) zip, whatever its name.

    Content above the limit of `--max-size`, divided by `divisor` (`size_limit.py`), is refused before it is unpacked.
    """
    most = max_size() // divisor
    how = next((packing for magic, packing in _PACKINGS.items() if stored.startswith(magic)), None)
    content = stored
    if how is not None:
        name, opened = how
        try:
            with opened(io.BytesIO(stored)) as file:
                content = file.read(most + 1)
        except EOFError:
            raise HarnessError(f"{path}: cannot be read: the {name} data ends too early; fetch it again") from None
        except DAMAGED as error:
            raise HarnessError(
                f"{path}: cannot be read: the {name} data is damaged ({error}); fetch it again"
            ) from error
    if len(content) > most:
        raise too_large(path, divisor)
    return content


def unpacked_name(path: str | Path) -> str:
    """Return a file's name without the ending that says how it is packed: `jobs.csv` of `below/jobs.csv.xz`."""
    name = Path(path).name
    return next((name[: -len(ending)] for ending in _ENDINGS if name.lower().endswith(ending)), name)


def suffix_of(path: str | Path) -> str:
    """Return how a file's name ends, in small letters, whether it is packed or not: `.csv` of `jobs.CSV.xz`."""
    return Path(unpacked_name(path)).suffix.lower()


def first_line(path: str | Path) -> str:
    """Return the first line of a file, by which its format is known; empty if it has none to show."""
    return _start(path, lambda plain: plain.readline(_BEGINNING)).strip("\n")


def beginning(path: str | Path) -> str:
    """Return the first 64 KB of a file, unpacked; empty if it has none to show."""
    return _start(path, lambda plain: plain.read(_BEGINNING))


def _start(path: str | Path, taken: Callable[[IO[bytes]], bytes]) -> str:
    """Return as text what is `taken` from where a file begins, without reading all of it."""
    if not os.path.isfile(path):
        return ""  # a name, or a pipe that can be read only once
    try:
        with open(path, "rb") as file:
            start = file.read(8)
            file.seek(0)
            packed = next((opened for magic, (_, opened) in _PACKINGS.items() if start.startswith(magic)), None)
            with packed(file) if packed else file as plain:
                return text_of(plain_lines(taken(plain)))
    except DAMAGED:
        return ""  # whoever reads the file will say what is wrong


def plain_lines(content: bytes) -> bytes:
    """Return `content` without the byte order mark some editors put first, and with the line ends of Unix."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def text_lines(content: bytes, path: Path) -> bytes:
    """Return `content` as `plain_lines` does; refuse a line above 1 MB."""
    content = plain_lines(content)
    begin, number = 0, 1
    while len(content) - begin > LONGEST_LINE:
        end = content.rfind(b"\n", begin, begin + LONGEST_LINE + 1)
        if end < 0:
            raise HarnessError(f"{path}: line {number}: expected at most {size_words(LONGEST_LINE)} in a line")
        number += content.count(b"\n", begin, end + 1)
        begin = end + 1
    return content


def pieces_of(content: bytes) -> Iterator[slice]:
    """Yield the places of pieces of about 4 MB, each of whole lines: readers need several times as much for a piece."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + _PIECE) + 1 or len(content)
        yield slice(begin, end)
        begin = end


def text_of(content: bytes) -> str:
    """Return `content` as text: UTF-8, or else Latin-1, as in the archive's older headers."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_text(path: Path, expected: str) -> str:
    """Return the text of a file, packed or not, with the line ends of Unix."""
    return text_of(text_lines(unpacked(stored_bytes(path, expected), path, TREE), path))


def toml_of(content: str | bytes, path: Path, expected: str) -> dict[str, Any]:
    """Return the tables of a text in TOML; clear words, with what was `expected`, if it is none."""
    why: object
    if len(content) > max_size() // SMALL:
        raise too_large(path, SMALL)
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        if not _LONG_KEY.search(text):
            return tomllib.loads(text)
        why = "a key of a hundred parts and more"  # whose reading takes the square of their number
    except RecursionError:
        why = "lists or tables lie too deep in each other"
    except ValueError as error:  # no UTF-8, no TOML, or a number of thousands of digits
        why = error
    raise HarnessError(f"{path}: cannot be read as {expected}: {why}; expected TOML")


def _piped(path: Path, most: int) -> bytes:
    """Return the bytes that come through a pipe, at most one more than `most`; refuse a pipe without a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # else opening alone would wait for a writer
    with open(descriptor, "rb") as pipe:
        if not select.select([pipe], [], [], PATIENCE)[0]:
            raise HarnessError(f"{path}: cannot be read: into this pipe nothing was written for {PATIENCE:g} s")
        os.set_blocking(descriptor, True)
        return pipe.read(most + 1)


def zip_of(stored: bytes, most: int) -> zipfile.ZipFile:
    """Open a zip of at most `most` files, each of which takes a kilobyte of memory."""
    found = stored.count(b"PK\1\2")  # the records of its directory, or such bytes by chance
    archive = None if found > 2 * most + 100 else zipfile.ZipFile(io.BytesIO(stored))
    if archive is None or len(archive.namelist()) > most:
        raise ValueError(f"it holds {len(archive.namelist()) if archive else found} files; expected at most {most}")
    return archive


def _only_file(file: IO[bytes]) -> IO[bytes]:
    archive = zip_of(file.read(max_size() + 1), 1)
    if not archive.namelist():
        raise ValueError("it holds no file; expected one")
    return archive.open(archive.namelist()[0])


#: Packing by the bytes that packed data begins with.
_PACKINGS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\0": ("xz", lzma.open),
    b"PK\x03\x04": ("zip", _only_file),
}
