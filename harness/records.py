"""The records that policies read, as a table: taken from the layouts of the engine and the comments beside them."""

import inspect
import io
import re
import tokenize
from functools import cache
from typing import Any

import numpy as np

#: What a policy's arguments are called → the layout, and which policies see it.
RECORDS = {
    "job": ("JOB", "`job` of orders, `state.jobs[i]` of the others"),
    "node": ("NODE", "`node` of energies, `state.nodes[i]` of the others"),
    "clock": ("CLOCK", "`clock` of orders and energies, `state.clock` of the others"),
}

_KINDS = {"f8": "number", "i8": "whole", "i4": "whole"}

_FIELD = re.compile(r'\s*\("(\w+)", "\w+"\),')


def fields() -> list[tuple[str, str, str, str]]:
    """(record, field, kind, meaning) of every field, in the order of the layouts."""
    from harness.engine import state

    return [
        (record, name, _KINDS[_code(layout, name)], _meanings(constant).get(name, ""))
        for record, (constant, _) in RECORDS.items()
        for layout in [getattr(state, constant)]
        for name in layout.names
    ]


def _code(layout: "np.dtype[Any]", name: str) -> str:
    kind = layout[name]
    return f"{kind.kind}{kind.itemsize}"


@cache
def _meanings(constant: str) -> dict[str, str]:
    """Field → the comment on its line of the layout called `constant`."""
    from harness.engine import state

    lines = inspect.getsource(state).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"{constant} = np.dtype("))
    found = {}
    for line in lines[first + 1 :]:
        if line.startswith(")"):
            break
        if field := _FIELD.match(line):
            found[field[1]] = _comment(line)
    return found


def _comment(line: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(line.strip()).readline)
    return next((token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT), "")
