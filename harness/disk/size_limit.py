"""The size limit of an unpacked input: `--max-size`, or the environment variable `HARNESS_MAX_SIZE`.

Formats whose readers need more memory per byte use a fraction of the limit, divided by `TABLE`, `TREE` or `SMALL`.
"""

import os
import re
from pathlib import Path

from harness.errors import HarnessError

#: The environment variable of the limit, which child processes inherit.
VARIABLE = "HARNESS_MAX_SIZE"

#: The default limit [bytes].
_USUAL = 1 << 29

#: Divisors of the limit: tables of text, trees such as JSON, and small files such as TOML.
TABLE, TREE, SMALL = 4, 16, 64

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)i?B?", re.ASCII | re.IGNORECASE)


def max_size() -> int:
    """Return the limit [bytes]."""
    text = os.environ.get(VARIABLE, "")
    return size_of(text, VARIABLE) if text else _USUAL


def set_max_size(text: str | None) -> str | None:
    """Set the limit of this process and its child processes."""
    if text is not None:
        os.environ[VARIABLE] = str(size_of(text, "--max-size"))
    return text


def size_of(text: str, where: str) -> int:
    """Return the bytes of a size such as `500MB`, `2GB`, or a number of bytes."""
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].upper()] if match else 0
    if not 0 < size < 1 << 60:
        raise HarnessError(f"{where}={text!r:.40}: expected a size such as 500MB or 2GB")
    return size


def too_large(path: str | Path, divisor: int = 1, held: int = 0) -> HarnessError:
    """Return the error for content above the limit. `held` is its size, if known [bytes]."""
    most = max_size()
    holds = f"holds {size_words(held)} unpacked" if held else f"holds more than {size_words(most // divisor)}"
    limit = f"at most {size_words(most // divisor)} in this format with --max-size {size_words(most)}"
    needed = size_words(2 * max(most, held * divisor)).replace(" ", "")
    return HarnessError(f"{path}: {holds}: expected {limit}; --max-size {needed} reads more, and takes more memory")


def refuse_large(held: int, path: str | Path) -> None:
    """Refuse content of `held` bytes that is above the limit."""
    if held > max_size():
        raise too_large(path, held=held)


def size_words(size: int) -> str:
    """Return a number of bytes in words: `512 MB`."""
    unit = next(unit for unit, factor in reversed(_UNITS.items()) if size >= factor or factor == 1)
    return f"{-(-size // _UNITS[unit])} {unit}B"
