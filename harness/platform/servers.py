"""Servers of a published table: those that became node types, those that could not, and how one is picked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, did_you_mean
from harness.platform.machine import NodeType
from harness.platform.validation import quoted

#: How many names a sentence may list.
_FEW = 12


@dataclass(frozen=True)
class Server:
    """What tells one row from the others."""

    row: int  # as a spreadsheet numbers it: the header is row 1
    vendor: str = ""
    system: str = ""
    processor: str = ""
    result: str = ""  # SPEC's own number of the result, the same in every export
    measured: str = "1"  # so many nodes together; the node type is one node's share


@dataclass(frozen=True)
class Servers:
    """A table of servers: every row is either a node type or refused with the reason."""

    path: Path
    types: dict[Server, NodeType]  # each of count 1
    refused: dict[Server, str]

    def pick(self, facts: Mapping[str, str | int]) -> NodeType:
        """Return the node type of the one row with exactly these facts; refuse none, and several."""
        left = [*self.types, *self.refused]
        for fact, wanted in facts.items():
            known = {getattr(server, fact) for server in left}
            left = [server for server in left if getattr(server, fact) == wanted]
            if not left:
                hint = f"known: {min(known)} to {max(known)}" if fact == "row" else self._hint(str(wanted), known)
                raise HarnessError(f"{fact} = {quoted(wanted)}: no such row in {self.path}; {hint}")
        left = [server for server in left if server in self.types] or left
        said = ", ".join(f"{fact} = {quoted(value)}" for fact, value in facts.items())
        if len(left) > 1:
            rows = ", ".join(str(server.row) for server in left[:_FEW]) + ", …" * (len(left) > _FEW)
            raise HarnessError(f"{said}: {len(left)} rows of {self.path} match; expected one: add row, one of {rows}")
        if left[0] in self.refused:
            raise HarnessError(f"{said}: row {left[0].row} of {self.path} is no node type: {self.refused[left[0]]}")
        return self.types[left[0]]

    def _hint(self, wanted: str, known: Collection[str]) -> str:
        """Name the nearest, or all of a few, or where to look at the many."""
        near = did_you_mean(wanted, known)
        many = len(known) > _FEW and not near.startswith("did you mean")
        return f"see harness list platforms --from {self.path}" if many else near
