"""Columns of a log for requests besides processors, memory and a partition.

- `nodes`: the number of nodes, with an equal number of processors each and fewer on the last; fewer nodes are allowed.
- `exclusive`: 1 if the job shares its nodes with no other job.
- `node_memory`: KB on each node.
- `features` and `any_feature`: bits. Its nodes have all of the former, and one of the latter.
- `needs_NAME`: units of a countable resource on each node, or licences if the platform has the resource as a whole.

Unknown or none is −1. The header names the bits: `; Feature: 3 bigmem` is the third.
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

#: Names of columns that count resources begin with this.
NEEDS = "needs_"

#: The columns of requests that the Standard Workload Format does not have.
REQUEST_COLUMNS = ("nodes", "exclusive", "node_memory", "features", "any_feature")

#: The number of different features that the jobs of a log may request: the bits of a whole number.
MOST_FEATURES = 62

_FEATURE = re.compile(r"[\w.:/-]+")


def is_request_column(column: str) -> bool:
    """Return whether a column contains requests."""
    return column in REQUEST_COLUMNS or is_width(column) or re.fullmatch(rf"{NEEDS}[\w.:/-]+", column) is not None


class Numbers(NamedTuple):
    """The valid numbers of a column besides −1: in words, and as a test."""

    expected: str
    among: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]


def numbers_in(column: str) -> Numbers | None:
    """Return the valid numbers of a column of requests or dependencies; None for other columns."""
    if column in AFTER:
        return Numbers("0, 1 or 2, for its end, success or start", lambda values: np.isin(values, (0, 1, 2)))
    if column == "exclusive":
        return Numbers("0 or 1", lambda values: np.isin(values, (0, 1)))
    if (column in REQUEST_COLUMNS and column != "node_memory") or column in WIDTHS or column.startswith(NEEDS):
        return Numbers("a whole number of at least 0", _is_whole)
    return Numbers("a number of at least 0", lambda values: values >= 0) if is_request_column(column) else None


def _is_whole(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    whole: npt.NDArray[np.bool_] = (values >= 0) & (values == np.floor(values)) & (values < 2.0**63)
    return whole


def names_in(header: Iterable[str], field: str) -> dict[int, str]:
    """Return the names that numbers of a column represent: `; Partition: 2 debug` gives debug for 2."""
    found = [re.match(r"(\d+)\s+(\S+)", text) for text in header_texts(header, field)]
    return {int(match[1]): match[2] for match in found if match}


def features_of(constraint: str) -> tuple[list[str], list[str]] | None:
    """Return the features of which a constraint requires all, and those of which it requires one.

    The form is Slurm's: `intel&gpu`, `intel|amd`, `gpu&(intel|amd)`. Return None for other operators.
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
    """The constraints of the jobs of a log as bits of features, and the number of those with other operators."""

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
        sums = [sum({1 << self.names.index(name) for name in names}) for names in lists]
        return np.array(sums, dtype=np.int64)

    @property
    def columns(self) -> dict[str, npt.NDArray[np.int64]]:
        """Return the columns of features; none if no job requests a feature."""
        both = {"features": self.features, "any_feature": self.any_feature}
        return {name: np.where(bits > 0, bits, -1) for name, bits in both.items() if bits.any()}

    @property
    def header(self) -> tuple[str, ...]:
        """Return the header lines that name the bits."""
        return tuple(f"; Feature: {number} {name}" for number, name in enumerate(self.names, 1))
