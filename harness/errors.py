"""The one error a user of the harness causes, and how its sentence is written."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

#: How alike two spellings must be, of 1: almost the same, alike, and alike enough if the first words are equal.
_SAME, _ALIKE, _RELATED = 0.8, 0.6, 0.4

#: A list of all names is cut after these.
_LISTED = 40


class HarnessError(Exception):
    """Something in the input or the call is wrong; the message says what, where, and what would be right.

    The command line prints the message and exits with status 2. Nothing else catches it.
    """


class EndedError(SystemExit):
    """Somebody called `os._exit` in the middle of a command."""

    def __str__(self) -> str:
        return f"os._exit({self.code!r})"


class CannotRunError(HarnessError):
    """One combination of workload, platform and scheduler cannot run. The others of a field can."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a sentence about an unknown `name`: its nearest match, `otherwise`, or all there is.

    Where the names are many, `otherwise` says where to find them.
    """
    names = sorted(known)
    close = _nearest(name, names)
    if close:
        return f"did you mean {close!r}?"
    if otherwise:
        return otherwise
    if not names:
        return "there is none to choose from"
    more = [f"… ({len(names) - _LISTED:,} more)"] if len(names) > _LISTED else []
    return "known: " + ", ".join([*names[:_LISTED], *more])


def _nearest(name: str, names: list[str]) -> str:
    """Return the name that was probably meant; empty if none is near.

    That is one with almost the same spelling. Otherwise it is one with the same first word, or one that begins with
    the name or that the name begins with; and otherwise one with a similar spelling.
    """
    given = name.lower()
    alike = {one: SequenceMatcher(None, one.lower(), given).ratio() for one in names}
    best = max(names, key=lambda one: alike[one], default="")
    if not best or alike[best] >= _SAME:
        return best
    related = [one for one in names if alike[one] >= _RELATED and _related(one.lower(), given)]
    if related:
        return max(related, key=lambda one: alike[one])
    return best if alike[best] >= _ALIKE else ""


def _related(one: str, other: str) -> bool:
    """Return whether the first words of two names are equal, or one name begins with the other; of three letters."""
    first, second = (re.split(r"[\W_]+", name)[0] for name in (one, other))
    shorter = min(one, other, key=len)
    begins = one.startswith(shorter) and other.startswith(shorter)
    return (len(first) > 2 and first == second) or (len(shorter) > 2 and begins)


def shown_name(name: object) -> str:
    """Return a name of an input in quotes; a text that is no name is not shown, as the input may be any file."""
    text = str(name)
    return repr(text) if re.fullmatch(r"[A-Za-z_#][\w .()#/%@-]{0,39}", text, re.ASCII) else "(not a name)"


def shortened(text: str, most: int = 80) -> str:
    """Return `text` as it is shown in an error: on one line, in ASCII, cut where it is too long."""
    shown = ascii(text.strip())[1:-1]
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def brief(sentence: str) -> str:
    """Return `sentence` in one line; itself, its words and quotations are cut where they go on for ever."""
    told = re.sub(
        r"""\S{200,}|(?<!\w)'[^']{200,}'(?!\w)|(?<!\w)"[^"]{200,}"(?!\w)""",
        lambda long: f"{long[0][:80]}…{long[0][-40:]}",
        " ".join(sentence.split()),
    )
    return told if len(told) <= 560 else f"{told[:360]} … {told[-190:]}"
