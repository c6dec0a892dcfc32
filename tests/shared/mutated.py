"""Valid inputs spoilt in all ways: bytes, numbers, words, lines, brackets, packings, arguments, cells."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

#: No input is larger, whatever is repeated in it.
LARGEST = 300_000

NUMBERS = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "7",
        "60",
        "3600",
        "0.25",
        "1.5",
        "-0.0",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1e308",
        "-1e308",
        "1e-320",
        "0x10",
        "1_000",
        "1,000",
    ),
    *("1e15", "99999999999999", f"{2**31}", f"{2**53 + 1}", f"{2**63 - 1}", f"{2**63}", f"{-(2**63) - 1}", f"{2**64}"),
    *("9" * 400, "9" * 5_000, "0." + "1" * 5_000, "9" * 100_000),
)
WORDS = (
    *("", "\0", "\x1b[2J", "\u202e", "\ufeff", "📈", "\r", "\n", "\t", " ", "'", '"', "''", '"""', ";", "|", ",", "="),
    *("#", "null", "true", "None", "[]", "{}", "[[", "]]", "()", "\\", "\\u0000", "%s%n", "{{7*7}}", "<script>", "-"),
    *("../" * 50, "a" * 300, "a" * 3_000, "b" * 100_000, "a b " * 500, "__import__('os').abort()", "2021-02-30"),
)
_RAW = (b"\xff", b"\xff\xfe", b"\xef\xbb", b"\xed\xa0\x80", b"\x9b31m")
NASTY = (*(text.encode() for text in (*NUMBERS, *WORDS)), *_RAW)

LITERALS = (
    *("0", "-1", "1", "2", "7", "60", "0.25", "1.5", "1e15", "1e300", "1e-300", "1e999", "-1e300", f"{2**31}"),
    *(f"{2**53 + 1}", f"{2**63 - 1}", f"{2**63}", "9" * 400, "9" * 5_000, "true", "[]", "[[]]", '[1, "a"]', "{}"),
    *('""', '"a"', '"\\u001b[2J"', '"\\u202e"', f'"{"a" * 3_000}"', '"1"', '"nan"', '"../.."', '"easy(a=[1,2])"'),
    *('"fcfs"', '"lublin(jobs=1000000000000)"', f'"{"(" * 500}"', '"log"', '"/dev/null"', '"."'),
)
_VALUE = re.compile(rb'"[^"\n]*"|-?\b\d[\d.]*\b')
_TOKEN = re.compile(rb'"[^"\n]*"|[\w.+:-]+')


def spoilt(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of the valid inputs after one to four small accidents."""
    return drawn(lambda dice: _spoilt(dice, dice.choice(seeds)))


def drawn(make: Callable[[Random], T]) -> st.SearchStrategy[T]:
    """What `make` makes with dice: Hypothesis draws how they fall, all at once, so that inputs differ widely."""
    return st.randoms(use_true_random=True).map(make)


def _spoilt(dice: Random, content: bytes) -> bytes:
    for _ in range(dice.choice((1, 1, 1, 2, 3, 4))):
        content = dice.choice(_ACCIDENTS)(dice, content)[:LARGEST]
    return content


def _place(dice: Random, content: bytes) -> int:
    return dice.randint(0, len(content))


def _byte(dice: Random, content: bytes) -> bytes:
    place = _place(dice, content)
    return content[:place] + bytes([dice.randrange(256)]) + content[place + 1 :]


def _cut(dice: Random, content: bytes) -> bytes:
    place = _place(dice, content)
    return content[:place] + content[place + dice.randint(1, 60) :]


def _end(dice: Random, content: bytes) -> bytes:
    return content[: _place(dice, content)]


def _insert(dice: Random, content: bytes) -> bytes:
    place = _place(dice, content)
    return content[:place] + dice.choice(NASTY) + content[place:]


def _repeat(dice: Random, content: bytes) -> bytes:
    place = _place(dice, content)
    piece = content[place : place + dice.randint(1, 60)]
    return content[:place] + piece * dice.choice((2, 3, 100, 5_000)) + content[place:]


def _replace(dice: Random, content: bytes) -> bytes:
    """A number, word or quoted text becomes another, of its own kind or not."""
    tokens = list(_TOKEN.finditer(content))
    if not tokens:
        return _insert(dice, content)
    old = dice.choice(tokens)
    new = dice.choice((dice.choice(tokens)[0], dice.choice(NASTY), dice.choice(NUMBERS).encode()))
    if old[0].startswith(b'"') and dice.random() < 0.5:
        new = b'"' + new.strip(b'"') + b'"'
    return content[: old.start()] + new + content[old.end() :]


def _literal(dice: Random, content: bytes) -> bytes:
    """A number or quoted text becomes another value that TOML and JSON can write."""
    values = list(_VALUE.finditer(content))
    if not values:
        return _insert(dice, content)
    old = dice.choice(values)
    same = [value for value in LITERALS if value.startswith('"') == old[0].startswith(b'"')]
    new = dice.choice((dice.choice(same), dice.choice(LITERALS))).encode()
    return content[: old.start()] + new + content[old.end() :]


def _lines(dice: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    first, second = (dice.randrange(len(lines)) for _ in range(2))
    lines[first], lines[second] = lines[second], lines[first] * dice.choice((0, 1, 2))
    return b"\n".join(lines)


def _deep(dice: Random, content: bytes) -> bytes:
    place = _place(dice, content)
    bracket = dice.choice((b"[", b"(", b"{", b"not ", b"- ", b"a.", b"a=[", b'{"a":', b"easy(a="))
    return content[:place] + bracket * dice.choice((10, 200, 20_000)) + content[place:]


def _pack(dice: Random, content: bytes) -> bytes:
    return dice.choice(PACKINGS)(content)


def zipped(content: bytes) -> bytes:
    """A zip of one file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("inside"), content)
    return packed.getvalue()


PACKINGS = (lambda content: gzip.compress(content, mtime=0), bz2.compress, lzma.compress, zipped)
_ACCIDENTS = (_byte, _byte, _cut, _end, _insert, _repeat, *[_replace] * 6, *[_literal] * 4, _lines, _deep, _pack)


def spoilt_call(seeds: Sequence[Sequence[str]]) -> st.SearchStrategy[list[str]]:
    """A valid call after one to three accidents to its arguments, of which it may borrow from others."""
    known = sorted({argument for seed in seeds for argument in seed})

    def make(dice: Random) -> list[str]:
        call = list(dice.choice(seeds))
        for _ in range(dice.randint(1, 3)):
            place = dice.randint(1, len(call))
            new = dice.choice((dice.choice(known), dice.choice(NUMBERS), dice.choice(WORDS)))
            how = dice.choice(("replace", "insert", "drop", "spoil"))
            if how == "spoil" and place < len(call):
                new = _spoilt(dice, call[place].encode()).decode(errors="surrogateescape")
            call[place : place + (how != "insert")] = [] if how == "drop" else [new]
        return call

    return drawn(make)
