"""Tables: parameters of policies that are lists of numbers, or names that stand for numbers of a log."""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.disk.stored import read_text
from harness.errors import HarnessError, shortened
from harness.policy.csv_rows import is_name

#: The largest number of numbers in a table.
LONGEST = 1_000_000


class Named(float):
    """A user, group, queue or partition by its name in logs, instead of its number.

    Each log has its own numbers; until the number is looked up, it is one that no job has.
    """

    def __new__(cls, column: str, name: str) -> "Named":
        """Make a number that no job has."""
        return super().__new__(cls, math.inf)

    def __init__(self, column: str, name: str) -> None:
        self.column, self.name = column, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self._what == other._what

    def __ne__(self, other: object) -> bool:  # that of float would make two infinities equal
        return not self == other

    def __hash__(self) -> int:
        return hash(self._what)

    def __reduce__(self) -> Any:
        """Pickle as column and name."""
        return Named, self._what

    def __repr__(self) -> str:
        return repr(self.name)

    @property
    def _what(self) -> tuple[str, str]:
        return self.column, self.name

    @classmethod
    def of(cls, column: str, text: str, where: str) -> float:
        """Return the number or the name in a cell; refuse other numbers."""
        if text.isdecimal():
            return float(text)
        if is_name(text):
            return cls(column, text)
        raise HarnessError(f"{where}: {column} = {text!r}: expected a whole number of at least 0, or a name of the log")


class Table(tuple[float, ...]):
    """A parameter that is a list of numbers, `priority=[0, 10, 5]`; the policy's function gets an array.

    A user may also name a file of numbers, separated by commas or blanks; text after a `#` is ignored.
    """

    source: str = ""  # the file of the numbers

    @classmethod
    def of(cls, given: Any, where: str, reader: "Callable[[str], list[float]] | None" = None) -> "Table":
        """Return the table that a user gave, as a list or as the name of a file; error messages begin with `where`.

        `reader` reads files that are no lists of numbers.
        """
        if isinstance(given, Table):
            return given
        numbers: Iterable[Any] = given
        if isinstance(given, str):
            numbers = reader(given) if reader else _read(given, where)
        if not isinstance(numbers, list | tuple) or not all(_is_number(number) for number in numbers) or not numbers:
            raise HarnessError(f"{where}: expected a list of numbers, as in [0, 10, 5], or the name of a file of them")
        table = cls(numbers)
        table.source = given if isinstance(given, str) else ""
        return table

    def with_numbers(self, number_of: "Callable[[str, str], float]") -> "Table":
        """Return the table with numbers instead of names, by column and name; itself if there are none."""
        if not any(isinstance(one, Named) for one in self):
            return self
        table = Table(number_of(one.column, one.name) if isinstance(one, Named) else one for one in self)
        table.source = self.source
        return table

    def __repr__(self) -> str:
        return repr(self.source) if self.source else f"[{', '.join(map(str, self))}]"

    __str__ = __repr__


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _read(name: str, where: str) -> list[float]:
    path = Path(name)
    if not path.is_file():  # pipes are refused too: they might never end
        raise HarnessError(f"{where}: there is no file {name!r}: expected a list like [0, 10, 5], or a file of numbers")
    found: list[float] = []
    for place, line in enumerate(read_text(path, "a list of numbers").split("\n"), start=1):
        for word in re.findall(r"[^\s,;]+", line.partition("#")[0]):
            try:
                found.append(float(word))
            except ValueError:
                quote = f", not {shortened(word, 20)!r}" if found else ""  # otherwise it may be a file of any kind
                raise HarnessError(f"{where}: {name}, line {place}: expected numbers{quote}") from None
            if len(found) > LONGEST:
                raise HarnessError(f"{where}: {name}: expected at most {LONGEST:,} numbers")
    return found
