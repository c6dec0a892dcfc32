"""The content of files for all readers: bytes, packed or not, and text in common encodings and line ends."""

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

#: Time limit for the first byte from a pipe [s].
PATIENCE = 60.0

#: Suffixes of packed files.
_ENDINGS = (".gz", ".bz2", ".xz", ".zip")

#: The part of a file that is read to recognise its format [bytes].
_BEGINNING = 1 << 16

#: The longest line of a text [bytes]. The columns of a longer one could fill the memory.
LONGEST_LINE = 1 << 20

#: The approximate size of the pieces that readers process [bytes].
_PIECE = 1 << 22

_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")

#: Exceptions for packed data that cannot be unpacked.
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
    """Return the bytes of a file. Refuse one that cannot be read, or is larger than the limit of `--max-size`."""
    most = max_size()
    try:
        found = os.stat(path)
        if stat.S_ISFIFO(found.st_mode):
            content = _piped(path, most)
        elif stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):  # /dev/zero has no end
            raise HarnessError(f"{path}: cannot be read as {expected}: it is a device; expected a file")
        else:
            with open(path, "rb") as file:
                content = file.read((min(found.st_size, most) or most) + 1)  # the size of files in /proc is 0
    except (OSError, ValueError) as error:
        known: dict[type, str] = {FileNotFoundError: "there is no such file", IsADirectoryError: "it is a folder"}
        why = known.get(type(error)) or getattr(error, "strerror", None) or error
        raise HarnessError(f"{path}: cannot be read as {expected}: {why}") from error
    if len(content) > most:
        raise too_large(path)
    return content


def unpacked(stored: bytes, path: Path, divisor: int = 1) -> bytes:
    """Return `stored`, unpacked if it is packed by gzip, bzip2, xz or (a single file) zip, whatever its name.

    Content above the limit of `--max-size`, divided by `divisor` (`size_limit.py`), is refused without unpacking all.
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
    """Return a file's name without the suffix of its packing: `jobs.csv` for `below/jobs.csv.xz`."""
    name = Path(path).name
    return next((name[: -len(ending)] for ending in _ENDINGS if name.lower().endswith(ending)), name)


def suffix_of(path: str | Path) -> str:
    """Return the suffix of a file's name in lower case, without that of its packing: `.csv` for `jobs.CSV.xz`."""
    return Path(unpacked_name(path)).suffix.lower()


def first_line(path: str | Path) -> str:
    """Return the first line of a file, which shows its format; empty if the file cannot be read."""
    return _start(path, lambda plain: plain.readline(_BEGINNING)).strip("\n")


def beginning(path: str | Path) -> str:
    """Return the first 64 KB of a file, unpacked; empty if the file cannot be read."""
    return _start(path, lambda plain: plain.read(_BEGINNING))


def _start(path: str | Path, read: Callable[[IO[bytes]], bytes]) -> str:
    """Return as text the part that `read` takes from the beginning of a file."""
    if not os.path.isfile(path):
        return ""  # a name, or a pipe that can be read only once
    try:
        with open(path, "rb") as file:
            start = file.read(8)
            file.seek(0)
            packed = next((opened for magic, (_, opened) in _PACKINGS.items() if start.startswith(magic)), None)
            with packed(file) if packed else file as plain:
                return text_of(plain_lines(read(plain)))
    except DAMAGED:
        return ""  # the reader of the file raises the error


def plain_lines(content: bytes) -> bytes:
    """Return `content` without a byte order mark, and with Unix line ends."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def text_lines(content: bytes, path: Path) -> bytes:
    """Return `content` as `plain_lines` does. Refuse a line above 1 MB."""
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
    """Yield pieces of about 4 MB, each of whole lines, since readers need several times the memory of a piece."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + _PIECE) + 1 or len(content)
        yield slice(begin, end)
        begin = end


def text_of(content: bytes) -> str:
    """Return `content` as text in UTF-8, or else Latin-1, as in old headers of the archive."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_text(path: Path, expected: str) -> str:
    """Return the text of a file, packed or not, with Unix line ends."""
    return text_of(text_lines(unpacked(stored_bytes(path, expected), path, TREE), path))


def toml_of(content: str | bytes, path: Path, expected: str) -> dict[str, Any]:
    """Return the tables of a TOML text. If it is not TOML, the error names what was `expected`."""
    why: object
    if len(content) > max_size() // SMALL:
        raise too_large(path, SMALL)
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        if not _LONG_KEY.search(text):
            return tomllib.loads(text)
        why = "a key of a hundred parts and more"  # which takes quadratic time
    except RecursionError:
        why = "lists or tables are nested too deeply"
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        why = error
    raise HarnessError(f"{path}: cannot be read as {expected}: {why}; expected TOML")


def _piped(path: Path, most: int) -> bytes:
    """Return the bytes from a pipe, at most one more than `most`. Refuse a pipe without a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # otherwise opening would wait for a writer
    with open(descriptor, "rb") as pipe:
        if not select.select([pipe], [], [], PATIENCE)[0]:
            raise HarnessError(f"{path}: cannot be read: into this pipe nothing was written for {PATIENCE:g} s")
        os.set_blocking(descriptor, True)
        return pipe.read(most + 1)


def zip_of(stored: bytes, most: int) -> zipfile.ZipFile:
    """Open a zip of at most `most` files. Each file takes a kilobyte of memory."""
    found = stored.count(b"PK\1\2")  # entries of its directory, or the same bytes by chance
    archive = None if found > 2 * most + 100 else zipfile.ZipFile(io.BytesIO(stored))
    if archive is None or len(archive.namelist()) > most:
        raise ValueError(f"it holds {len(archive.namelist()) if archive else found} files; expected at most {most}")
    return archive


def _only_file(file: IO[bytes]) -> IO[bytes]:
    archive = zip_of(file.read(max_size() + 1), 1)
    if not archive.namelist():
        raise ValueError("it holds no file; expected one")
    return archive.open(archive.namelist()[0])


#: The first bytes of packed data → name of the packing, and its opener.
_PACKINGS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\0": ("xz", lzma.open),
    b"PK\x03\x04": ("zip", _only_file),
}
