"""Conditions on jobs as users write them: `procs <= 64 and user != 3`. Nothing else can be said, or run."""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import bounded_number, syntax

#: What a condition may name, by column of the jobs under preparation.
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
            self.text = ast.unparse(self._tree)  # one spelling, whatever the blanks and parentheses were
            self._truth(self._tree, dict.fromkeys(COLUMNS, np.empty(0)))  # refuses now what it would refuse later
        except (ValueError, RecursionError):
            raise HarnessError(f"the condition {text!r}: expected something like procs <= 64 and user != 3") from None

    def holds(self, columns: Mapping[str, npt.NDArray[Any]]) -> Bools:
        """Return for which jobs it holds, given the columns by the names of `COLUMNS`."""
        return self._truth(self._tree, columns)

    def _truth(self, node: ast.expr, columns: Mapping[str, npt.NDArray[Any]]) -> Bools:
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return reduce(np.logical_and, self._truths(parts, columns))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return reduce(np.logical_or, self._truths(parts, columns))
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return np.logical_not(self._truth(part, columns))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
                values = [self._value(part, columns) for part in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                truths = [_COMPARISONS[type(op)](a, b) for op, a, b in pairs]
                rows = np.ones(len(next(iter(columns.values()))), dtype=np.bool_)  # numbers alone hold for all or none
                return reduce(np.logical_and, truths, rows)
        raise HarnessError(
            f"the condition {self.text!r}: {ast.unparse(node)!r} is not a comparison; "
            "expected comparisons (== != < <= > >=) of columns and numbers, joined by and, or, not"
        )

    def _truths(self, nodes: Iterable[ast.expr], columns: Mapping[str, npt.NDArray[Any]]) -> list[Bools]:
        return [self._truth(node, columns) for node in nodes]

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
