"""The one error a user of the harness causes, and how its sentence is written."""

import re
from collections.abc import Iterable
from difflib import get_close_matches


class HarnessError(Exception):
    """Something in the input or the call is wrong; the message says what, where, and what would be right.

    The command line prints the message and exits with status 2. Nothing else catches it.
    """


class EndedError(SystemExit):
    """Somebody called `os._exit` in the middle of a command."""

    def __str__(self) -> str:
        return f"os._exit({self.code!r})"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a sentence about an unknown `name`: its nearest match, `otherwise`, or all there is.

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
