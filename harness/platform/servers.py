"""Servers of a published table: as node types, or refused with a reason."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, did_you_mean
from harness.platform.machine import NodeType
from harness.platform.validation import quoted

#: Messages list at most this many names.
_FEW = 12


@dataclass(frozen=True)
class Server:
    """The facts that identify a row."""

    row: int  # as a spreadsheet numbers it: the header is row 1
    vendor: str = ""
    system: str = ""
    processor: str = ""
    result: str = ""  # SPEC's number of the result, the same in every export
    measured: str = "1"  # nodes measured together; the node type is the share of one


@dataclass(frozen=True)
class Servers:
    """A table of servers: every row is either a node type or refused with the reason."""

    path: Path
    types: dict[Server, NodeType]  # each of count 1
    refused: dict[Server, str]

    def pick(self, facts: Mapping[str, str | int]) -> NodeType:
        """Return the node type of the only row with these facts. Refuse none, and several."""
        left = [*self.types, *self.refused]
        for fact, wanted in facts.items():
            known = {getattr(server, fact) for server in left}
            left = [server for server in left if getattr(server, fact) == wanted]
            if not left:
                hint = f"known: {min(known)} to {max(known)}" if fact == "row" else self._hint(str(wanted), known)
                raise HarnessError(f"{fact} = {quoted(wanted)}: no such row in {self.path}; {hint}")
        left = [server for server in left if server in self.types] or left
        shown = ", ".join(f"{fact} = {quoted(value)}" for fact, value in facts.items())
        if len(left) > 1:
            rows = ", ".join(str(server.row) for server in left[:_FEW]) + ", …" * (len(left) > _FEW)
            raise HarnessError(f"{shown}: {len(left)} rows of {self.path} match; expected one: add row, one of {rows}")
        if left[0] in self.refused:
            raise HarnessError(f"{shown}: row {left[0].row} of {self.path} is no node type: {self.refused[left[0]]}")
        return self.types[left[0]]

    def _hint(self, wanted: str, known: Collection[str]) -> str:
        """Return the nearest name, else all of a few, else the command that lists them."""
        near = did_you_mean(wanted, known)
        many = len(known) > _FEW and not near.startswith("did you mean")
        return f"see harness list platforms --from {self.path}" if many else near
