"""What the comment lines say that stand first in a log: `; MaxProcs: 128`, `; TimeZoneString: Europe/Stockholm`."""

import re
from collections.abc import Iterable


def header_procs(header: Iterable[str]) -> int | None:
    """Return the processors of the machine: `MaxProcs`, or where only that is given, `MaxNodes`."""
    return header_number(header, "MaxProcs") or header_number(header, "MaxNodes")


def header_number(header: Iterable[str], field: str) -> int | None:
    """Return the number the header gives for `field`, None if none: `MaxProcs: 1664 (72, 1368, 224)` is 1664."""
    for text in header_texts(header, field):
        match = re.match(r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?![\d,])", text)
        if match and (number := int(match[0].replace(",", ""))) > 0:
            return number
    return None


def header_texts(header: Iterable[str], field: str) -> list[str]:
    """Return everything the header says about `field`: the rest of each line that begins with its name."""
    pattern = re.compile(rf"\s*;+\s*{re.escape(field)}\s*:\s*(.*)", re.IGNORECASE)
    return [match[1].strip() for line in header if (match := pattern.match(line))]


def header_zone(header: tuple[str, ...]) -> str:
    """Return the name of the log's time zone, UTC if it does not say.

    Where only `TimeZone` is given, whole hours east of Greenwich in seconds, it is the zone that never changes.
    """
    names = header_texts(header, "TimeZoneString")
    offsets = [re.fullmatch(r"(-?\d{1,5})\b.*", text) for text in header_texts(header, "TimeZone")]
    if not names and offsets and offsets[0] and int(offsets[0][1]) % 3600 == 0:
        return f"Etc/GMT{-int(offsets[0][1]) // 3600:+d}"  # whose signs are those of seafarers
    return names[0] if names else "UTC"
