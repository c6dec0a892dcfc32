"""What jobs ask for besides processors, memory and a partition: the further columns of a log that say it.

`nodes` (so many, as many processors of each and fewer of the last; fewer nodes where these do), `exclusive` (1: shares
its nodes with nobody), `node_memory` (KB of each node), `features` and `any_feature` (bits: its nodes have all of
these, and one of those), and `needs_NAME`: units of a countable resource on each of its nodes, or, if the platform has
them as a whole, licences. Unknown or none is −1. What a bit stands for is said by a line of the header,
`; Feature: 3 bigmem` for the third.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.workload.log import AFTER
from harness.workload.swf_header import header_texts
from harness.workload.widths import WIDTHS, is_width

#: What the names of columns begin with that count resources.
NEEDS = "needs_"

#: The columns of a log that say what its jobs ask for, besides those of the Standard Workload Format.
ASKED_COLUMNS = ("nodes", "exclusive", "node_memory", "features", "any_feature")

#: How many different features the jobs of a log may ask for: bits of a whole number.
MOST_FEATURES = 62

_FEATURE = re.compile(r"[\w.:/-]+")


def is_asked(column: str) -> bool:
    """Say whether a column of that name says what jobs ask for."""
    return column in ASKED_COLUMNS or is_width(column) or re.fullmatch(rf"{NEEDS}[\w.:/-]+", column) is not None


class Numbers(NamedTuple):
    """The numbers that a column may have besides −1: in words, and what tells which they are."""

    expected: str
    among: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]


def numbers_in(column: str) -> Numbers | None:
    """Return which numbers a column of a log may have that says what jobs ask for or wait for; None for other ones."""
    if column in AFTER:
        return Numbers("0, 1 or 2, for its end, success or start", lambda values: np.isin(values, (0, 1, 2)))
    if column == "exclusive":
        return Numbers("0 or 1", lambda values: np.isin(values, (0, 1)))
    if (column in ASKED_COLUMNS and column != "node_memory") or column in WIDTHS or column.startswith(NEEDS):
        return Numbers("a whole number of at least 0", _is_whole)
    return Numbers("a number of at least 0", lambda values: values >= 0) if is_asked(column) else None


def _is_whole(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    whole: npt.NDArray[np.bool_] = (values >= 0) & (values == np.floor(values)) & (values < 2.0**63)
    return whole


def names_in(header: Iterable[str], field: str) -> dict[int, str]:
    """Return what the numbers of a column stand for: `; Partition: 2 debug` says that 2 is debug."""
    found = [re.match(r"(\d+)\s+(\S+)", text) for text in header_texts(header, field)]
    return {int(match[1]): match[2] for match in found if match}


def features_of(constraint: str) -> tuple[list[str], list[str]] | None:
    """Return the features that a constraint wants all of, and those of which it wants one; None if it says more.

    `intel&gpu`, `intel|amd`, `gpu&(intel|amd)`, as Slurm writes them.
    """
    text = re.sub(r"\s*([&|()])\s*", r"\1", constraint.strip())
    one, either = _FEATURE.pattern, rf"{_FEATURE.pattern}(?:\|{_FEATURE.pattern})+"
    if re.fullmatch(rf"{one}(?:&{one})*|", text):
        return _FEATURE.findall(text), []
    if re.fullmatch(rf"{either}|\({either}\)", text):
        return [], _FEATURE.findall(text)
    if group := re.fullmatch(rf"((?:{one}&)*)\(({either})\)((?:&{one})*)", text):
        return _FEATURE.findall(group[1] + group[3]), _FEATURE.findall(group[2])
    return None


class Constraints:
    """The constraints of the jobs of a log, as bits of features, and those that say more than can be heeded."""

    def __init__(self, texts: "Sequence[str] | pd.Series[str]", where: str) -> None:
        codes, different = pd.factorize(np.asarray(texts, dtype=object))
        read = [features_of(text) if text else ([], []) for text in different]
        self.names = list(dict.fromkeys(name for found in read if found for part in found for name in part))
        if len(self.names) > MOST_FEATURES:
            raise HarnessError(f"{where}: jobs ask for {len(self.names)} features; expected at most {MOST_FEATURES}")
        every, some = zip(*(found or ([], []) for found in read), strict=True) if read else ((), ())
        self.features = self._bits(every)[codes]
        self.any_feature = self._bits(some)[codes]
        self.beyond = int(np.isin(codes, [k for k, found in enumerate(read) if found is None]).sum())
        self.example = next((text for text, found in zip(different, read, strict=True) if found is None), "")

    def _bits(self, lists: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
        """Return the bits of the features in each of the lists."""
        sums = [sum({1 << self.names.index(name) for name in names}) for names in lists]
        return np.array(sums, dtype=np.int64)

    @property
    def columns(self) -> dict[str, npt.NDArray[np.int64]]:
        """Return the columns of a log that say it; none if no job asks for a feature."""
        both = {"features": self.features, "any_feature": self.any_feature}
        return {name: np.where(bits > 0, bits, -1) for name, bits in both.items() if bits.any()}

    @property
    def header(self) -> tuple[str, ...]:
        """Return the lines of a header that say what the bits stand for."""
        return tuple(f"; Feature: {number} {name}" for number, name in enumerate(self.names, 1))
