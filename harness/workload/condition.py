"""Conditions on jobs, as in `procs <= 64 and user != 3`. No other expression is accepted, and no code runs."""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import bounded_number, syntax

#: Name in a condition → column of the jobs under preparation.
COLUMNS = {
    "job": "job",
    "submit": "submit",
    "procs": "width",
    "run": "work",
    "estimate": "planned",
    "wait": "wait",
    "memory": "memory",
    "status": "status",
    "user": "user",
    "group": "group",
    "executable": "executable",
    "queue": "queue",
    "partition": "partition",
}

Bools = npt.NDArray[np.bool_]

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Condition:
    """Comparisons of columns and numbers, joined by `and`, `or`, `not` and parentheses."""

    def __init__(self, text: str) -> None:
        try:
            self._tree = syntax(text)
            self.text = ast.unparse(self._tree)  # one spelling, independent of blanks and parentheses
            self._truth(self._tree, dict.fromkeys(COLUMNS, np.empty(0)))  # raises all errors at once
        except (ValueError, RecursionError):
            raise HarnessError(f"the condition {text!r}: expected something like procs <= 64 and user != 3") from None

    def holds(self, columns: Mapping[str, npt.NDArray[Any]]) -> Bools:
        """Return the jobs that meet the condition, as booleans, given the columns named in `COLUMNS`."""
        return self._truth(self._tree, columns)

    def _truth(self, node: ast.expr, columns: Mapping[str, npt.NDArray[Any]]) -> Bools:
        match node:
            case ast.BoolOp(op=op, values=parts):
                truths = [self._truth(part, columns) for part in parts]
                return reduce(np.logical_and if isinstance(op, ast.And) else np.logical_or, truths)
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return np.logical_not(self._truth(part, columns))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
                values = [self._value(part, columns) for part in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                truths = [_COMPARISONS[type(op)](a, b) for op, a, b in pairs]
                rows = np.ones(len(next(iter(columns.values()))), dtype=np.bool_)  # numbers alone have no rows
                return reduce(np.logical_and, truths, rows)
        raise HarnessError(
            f"the condition {self.text!r}: {ast.unparse(node)!r} is not a comparison; "
            "expected comparisons (== != < <= > >=) of columns and numbers, joined by and, or, not"
        )

    def _value(self, node: ast.expr, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
        match node:
            case ast.Name(id=name):
                if name not in columns:
                    raise HarnessError(
                        f"the condition {self.text!r}: there is no column {name!r}; {did_you_mean(name, columns)}"
                    )
                return columns[name]
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return bounded_number(number)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -bounded_number(number)
        raise HarnessError(f"the condition {self.text!r}: expected a column or a number for {ast.unparse(node)!r}")
