"""What the comment lines say that stand first in a log: `; MaxProcs: 128`, `; TimeZoneString: Europe/Stockholm`."""

import re
from collections.abc import Iterable

from harness.errors import HarnessError, shortened

#: A number as a whole, after which only a remark in parentheses may stand.
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3}){1,5}|-?\d{1,18})(?:\s*\(.*\))?", re.ASCII)
_OFFSET = re.compile(r"([+-]?\d{1,5})(?:\s*\(.*\))?", re.ASCII)


def header_procs(header: Iterable[str]) -> int | None:
    """Return the processors of the machine: `MaxProcs`, or where only that is given, `MaxNodes`."""
    return header_number(header, "MaxProcs") or header_number(header, "MaxNodes")


def check_header(header: Iterable[str], where: str) -> None:
    """Refuse a header in which a number that a replay needs is malformed; `where` begins the error."""
    try:
        for field in ("MaxProcs", "MaxNodes", "UnixStartTime"):
            header_number(header, field)
        header_zone(tuple(header))
    except HarnessError as error:
        raise HarnessError(f"{where}: {error}") from None


def header_number(header: Iterable[str], field: str) -> int | None:
    """Return the first number the header gives for `field`, None if none: `MaxProcs: 1664 (72, 1368, 224)` is 1664.

    A text that begins as a number does and is none as a whole is refused: `1e3` is not 1. Numbers below 1 are unknown.
    """
    found = None
    for text in header_texts(header, field):
        match = _NUMBER.fullmatch(text)
        if match is None and re.match(r"[+-]?\.?\d", text):
            raise HarnessError(
                f"the header's {field}: {shortened(text, 30)!r}: expected a whole number, as in 1664 or 1664 (72, 1592)"
            )
        if match and found is None and (number := int(match[1].replace(",", ""))) > 0:
            found = number
    return found


def header_texts(header: Iterable[str], field: str) -> list[str]:
    """Return everything the header says about `field`: the rest of each line that begins with its name."""
    pattern = re.compile(rf"\s*;+\s*{re.escape(field)}\s*:\s*(.*)", re.IGNORECASE)
    return [match[1].strip() for line in header if (match := pattern.match(line))]


def header_zone(header: tuple[str, ...]) -> str:
    """Return the name of the log's time zone, UTC if it does not say.

    Where only `TimeZone` is given, whole hours east of Greenwich in seconds, it is the zone that never changes.
    """
    names = header_texts(header, "TimeZoneString")
    offsets = header_texts(header, "TimeZone")
    if not names and offsets:
        match = _OFFSET.fullmatch(offsets[0])
        if match is None and re.match(r"[+-]?\.?\d", offsets[0]):
            raise HarnessError(
                f"the header's TimeZone: {shortened(offsets[0], 30)!r}: expected seconds east of Greenwich, as in 3600"
            )
        if match and int(match[1]) % 3600 == 0:
            return f"Etc/GMT{-int(match[1]) // 3600:+d}"  # whose signs are those of seafarers
    return names[0] if names else "UTC"
