"""The records that policies read, taken from the layouts of the engine and the comments beside them.

`harness list records` shows them. For type checkers and editors they are written down as classes too, by
`python -m harness.engine.records.docs >harness/policy/records.py`; a test holds that file to the layouts.
"""

import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype, types

from harness.engine.records import public

#: What a policy's arguments are called → the layout, and which policies see it.
RECORDS = {
    "job": ("JOB", "`job` of orders, `state.jobs[i]` of the others"),
    "node": ("NODE", "`node` of energies, `state.nodes[i]` of the others"),
    "clock": ("CLOCK", "`clock` of orders and energies, `state.clock` of the others"),
    "share": ("SHARE", "`user`, `group` and `queue` of the job in question, `users[i]`, `everybody`: what is counted"),
    "slice": ("SLICE", "`state.slices[i]`: some cores of one node held by one job"),
    "pace": ("PACE", "`state.paces[i]`: what a node draws at a rate"),
    "nap": ("NAP", "`state.naps[i]`: one way for a node to sleep"),
}

#: The one field that is a policy's own to write: of a job, for the start policy.
OWN = "reserved"

_KINDS = {"f8": ("number", "float"), "i8": ("whole", "int"), "i4": ("whole", "int")}

_FIELD = re.compile(r'\s*\("(\w+)", "\w+"(?:, \(\w+,\))?\),')

_HEAD = '''"""The records that policies read, for type checkers: made by `python -m harness.engine.records.docs`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Memory = npt.NDArray[np.float64]  # a policy's own floats for the run, zeros at first
Columns = npt.NDArray[np.float64]  # further columns of the workload: of a job, or a row for each submitted job
Dice = npt.NDArray[np.uint64]  # a policy's own random generator, for `harness.uniform`
Indices = npt.NDArray[np.int64]

Record = TypeVar("Record")


class Records(Generic[Record]):
    """Many records: one by its index, or one field of all of them as an array."""

    def __getitem__(self, index: int) -> Record:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Record]:
        raise NotImplementedError

    def __getattr__(self, field: str) -> npt.NDArray[Any]:
        raise AttributeError(field)
'''


def fields() -> list[tuple[str, str, str, str]]:
    """Return (record, field, kind, meaning) of every field, in the order of the layouts."""
    return [
        (record, name, _kind(layout[name])[0], _meanings(constant).get(name, ""))
        for record, (constant, _) in RECORDS.items()
        for layout in [_layout(constant)]
        for name in _names(layout)
    ]


def source() -> str:
    """Return the text of `harness/policy/records.py`."""
    return _HEAD + "".join("".join(f"{line}\n" for line in _class(record)) for record in (*RECORDS, "state"))


def _class(record: str) -> Iterator[str]:
    yield from ("", "", "@dataclass(frozen=True)")
    if record == "state":
        yield "class State:"
        yield from (
            '    """What is going on, for the functions of `harness list verbs`: jobs and nodes by index."""',
            "",
        )
        yield from (f"    {name}: {_bundled(kind)}" for name, kind in _seen().items())
        return
    constant, where = RECORDS[record]
    layout = _layout(constant)
    yield from (f"class {record.capitalize()}:", f'    """{where[0].upper()}{where[1:]}."""', "")
    for name in _names(layout):
        if name != OWN:
            meaning = _meanings(constant).get(name)
            yield f"    {name}: {_kind(layout[name])[1]}" + (f"  # {meaning}" if meaning else "")
    if OWN in _names(layout):
        yield from ("", "    @property", f"    def {OWN}(self) -> float:")
        yield f'        """Return the {_meanings(constant)[OWN]}."""'
        yield from ("        raise NotImplementedError", "", f"    @{OWN}.setter")
        yield f"    def {OWN}(self, value: float) -> None: ..."


def _seen() -> dict[str, Any]:
    from harness.engine.run_state import VIEW
    from harness.policy.permissions import PARTS

    return {name: VIEW.parts[name] for name in PARTS}


def _bundled(kind: Any) -> str:
    """Return the type of a part of the state, as Python writes it."""
    many = isinstance(kind, types.Array)
    record = kind.dtype if many else kind
    for name, (constant, _) in RECORDS.items():
        if record == from_dtype(_layout(constant)):
            return f"Records[{name.capitalize()}]" if many else name.capitalize()
    return "Indices"


def _layout(constant: str) -> "np.dtype[Any]":

    layout: np.dtype[Any] = getattr(public, constant)
    return layout


def _names(layout: "np.dtype[Any]") -> tuple[str, ...]:
    return layout.names or ()


def _kind(field: "np.dtype[Any]") -> tuple[str, str]:
    """Return what a field holds, in words and as Python writes it."""
    words, python = _KINDS[f"{field.base.kind}{field.base.itemsize}"]
    return (f"{words} × {field.shape[0]}", "npt.NDArray[np.float64]") if field.shape else (words, python)


@cache
def _meanings(constant: str) -> dict[str, str]:
    """Return field → the comment on its line of the layout called `constant`."""

    lines = inspect.getsource(public).splitlines()
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


if __name__ == "__main__":
    print(source(), end="")
