"""The one error a user of the harness causes, and how its sentence is written."""

from collections.abc import Iterable
from difflib import get_close_matches


class HarnessError(Exception):
    """Something in the input or the call is wrong; the message says what, where, and what would be right.

    The command line prints the message and exits with status 2. Nothing else catches it.
    """


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a sentence about an unknown `name`: its nearest match, or `otherwise`, or all there is to choose from.

    Where the names are many, `otherwise` says where to find them.
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    if otherwise:
        return otherwise
    if not names:
        return "there is none to choose from"
    return "known: " + ", ".join(names)
