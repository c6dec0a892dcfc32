"""The comment lines of a log, such as `; MaxProcs: 128` and `; TimeZoneString: Europe/Stockholm`."""

import re
from collections.abc import Iterable

from harness.errors import HarnessError, shortened

#: A whole number, with at most a remark in parentheses behind it.
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3}){1,5}|-?\d{1,18})(?:\s*\(.*\))?", re.ASCII)
_OFFSET = re.compile(r"([+-]?\d{1,5})(?:\s*\(.*\))?", re.ASCII)


def header_procs(header: Iterable[str]) -> int | None:
    """Return the processors of the machine: `MaxProcs`, else `MaxNodes`."""
    return header_number(header, "MaxProcs") or header_number(header, "MaxNodes")


def check_header(header: Iterable[str], where: str) -> None:
    """Refuse a header with a malformed number that a replay needs. `where` begins the message."""
    try:
        for field in ("MaxProcs", "MaxNodes", "UnixStartTime"):
            header_number(header, field)
        header_zone(tuple(header))
    except HarnessError as error:
        raise HarnessError(f"{where}: {error}") from None


def header_number(header: Iterable[str], field: str) -> int | None:
    """Return the first number of a header field, as 1664 for `MaxProcs: 1664 (72, 1368, 224)`; None if there is none.

    Text that begins like a number but is not one, such as `1e3`, is refused. Numbers below 1 are unknown.
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
    """Return the texts of all header lines with this field."""
    pattern = re.compile(rf"\s*;+\s*{re.escape(field)}\s*:\s*(.*)", re.IGNORECASE)
    return [match[1].strip() for line in header if (match := pattern.match(line))]


def header_zone(header: tuple[str, ...]) -> str:
    """Return the name of the log's time zone, by default UTC.

    A header with only `TimeZone`, seconds east of Greenwich in whole hours, gives a zone with this offset all year.
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
            return f"Etc/GMT{-int(match[1]) // 3600:+d}"  # these names have the opposite sign
    return names[0] if names else "UTC"
