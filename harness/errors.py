"""Errors of users: the exception, and helpers for its message."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

#: Similarity of two spellings, at most 1: almost the same, similar, and enough if the first words are equal.
_SAME, _ALIKE, _RELATED = 0.8, 0.6, 0.4

#: Messages list at most this many names.
_LISTED = 40


class HarnessError(Exception):
    """The input or the call is wrong. The message names the error, its place, and the expected input.

    The command line prints the message and exits with status 2. Nothing else catches it.
    """


class UnexpectedExitError(SystemExit):
    """A plugin or library called `os._exit` in the middle of a command."""

    def __str__(self) -> str:
        return f"os._exit({self.code!r})"


class CannotRunError(HarnessError):
    """One combination of workload, platform and scheduler cannot run, while others of its field can."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message about an unknown `name`: the nearest match, else `otherwise`, else all names.

    `otherwise` should tell where a long list of names can be found.
    """
    names = sorted(known)
    close = _nearest(name, names)
    if close:
        return f"did you mean {close!r}?"
    if otherwise:
        return otherwise
    if not names:
        return "there are none to choose from"
    more = [f"… ({len(names) - _LISTED:,} more)"] if len(names) > _LISTED else []
    return "known: " + ", ".join([*names[:_LISTED], *more])


def _nearest(name: str, names: list[str]) -> str:
    """Return the name that was probably meant; empty if none is near.

    The first choice is a name with almost the same spelling. Next is a related name (same first word, or one begins
    with the other), and then a name with a similar spelling.
    """
    given = name.lower()
    scores = {one: SequenceMatcher(None, one.lower(), given).ratio() for one in names}
    best = max(names, key=lambda one: scores[one], default="")
    if not best or scores[best] >= _SAME:
        return best
    related = [one for one in names if scores[one] >= _RELATED and _related(one.lower(), given)]
    if related:
        return max(related, key=lambda one: scores[one])
    return best if scores[best] >= _ALIKE else ""


def _related(one: str, other: str) -> bool:
    """Return whether two names have the same first word, or one begins with the other; at least three letters count."""
    first, second = (re.split(r"[\W_]+", name)[0] for name in (one, other))
    shorter = min(one, other, key=len)
    begins = one.startswith(shorter) and other.startswith(shorter)
    return (len(first) > 2 and first == second) or (len(shorter) > 2 and begins)


def shown_name(name: object) -> str:
    """Return a name from an input in quotes. Other text is not shown, since the input may be any file."""
    text = str(name)
    return repr(text) if re.fullmatch(r"[A-Za-z_#][\w .()#/%@-]{0,39}", text, re.ASCII) else "(not a name)"


def shortened(text: str, most: int = 80) -> str:
    """Return text of an input for a message: on one line, in ASCII, cut to `most` characters."""
    shown = ascii(text.strip())[1:-1]
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def brief(sentence: str) -> str:
    """Return a message in one line. The message, and long words and quotations in it, are cut."""
    line = re.sub(
        r"""\S{200,}|(?<!\w)'[^']{200,}'(?!\w)|(?<!\w)"[^"]{200,}"(?!\w)""",
        lambda long: f"{long[0][:80]}…{long[0][-40:]}",
        " ".join(sentence.split()),
    )
    return line if len(line) <= 560 else f"{line[:360]} … {line[-190:]}"
