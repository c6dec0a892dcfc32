"""Small faults in Python text: every place where one could be, and the text with it."""

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

_SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: The order of whose first two arguments means nothing.
_SYMMETRIC = {"min", "max", "minimum", "maximum", "fmin", "fmax", "isclose"}

#: How something looks on a page is for people to judge; `strict` of a zip is an assertion.
_LOOKS = {
    "strict",
    "indent",
    "height",
    "wide",
    "minsize",
    "size",
    "standoff",
    "width",
    "thickness",
    "xgap",
    "ygap",
    "nticks",
    "style",
}

#: A number from here on is doubled: one more of 600 changes next to nothing.
_LARGE = 60

#: Letters shown before and after a change.
_AROUND = 36

_PAIRS = (
    "min max|minimum maximum|fmin fmax|argmin argmax|idxmin idxmax|any all|floor ceil|first last|sum mean|log log10"
)
_NAMES = {a: b for pair in _PAIRS.split("|") for a, b in (pair.split(), pair.split()[::-1])}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, and what the head of its statement says without and with it."""

    file: str
    line: int
    old: str
    new: str
    place: tuple[int, int]  # which statement of the module, which change of it

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays when lines move."""
        return (self.file, self.old, self.new)

    @property
    def told(self) -> tuple[str, str]:
        """The statement without and with it, as far as they differ and a little more."""
        begin = max(0, _common(self.old, self.new) - _AROUND)
        end = max(0, _common(self.old[::-1], self.new[::-1]) - _AROUND)
        cut = (f"{'… ' * (begin > 0)}{text[begin : len(text) - end]}{' …' * (end > 0)}" for text in self.key[1:])
        return next(cut), next(cut)

    @property
    def lot(self) -> str:
        """Its place in the order in which faults are drawn."""
        return hashlib.sha256("\0".join(self.key).encode()).hexdigest()


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield the faults of a module, each once."""
    seen = set()
    for number, statement in enumerate(_statements(ast.parse(text))):
        head = _head(statement)
        for change, (node, _) in enumerate(_changes(head)):
            mutant = Mutant(
                file, node.lineno, _said(head), _said(_changed(copy.deepcopy(head), change)), (number, change)
            )
            if mutant.key not in seen and mutant.old != mutant.new:
                seen.add(mutant.key)
                yield mutant


def planted(text: str, mutant: Mutant) -> str:
    """Return the text of a module with the fault."""
    tree = ast.parse(text)
    number, change = mutant.place
    statement = _statements(tree)[number]
    new = _changed(statement, change)
    _replace(tree, statement, new)
    return ast.unparse(ast.fix_missing_locations(tree))


def _changed(statement: ast.stmt, change: int) -> ast.stmt:
    node, new = list(_changes(statement))[change]
    if not isinstance(new, ast.AST):
        new()
        return statement
    if node is statement:
        return new
    _replace(statement, node, new)
    return statement


def _statements(tree: ast.Module) -> list[ast.stmt]:
    """The statements in which a fault can be: not imports, not what only a type checker reads."""
    found: list[ast.stmt] = []

    def walk(body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass) or _is_text(statement):
                continue
            if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
                continue
            found.append(statement)
            for field in ("body", "orelse", "finalbody"):
                walk(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                walk(handler.body)

    walk(tree.body)
    return found


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _head(statement: ast.stmt) -> ast.stmt:
    """A copy without what is under it."""
    statement = copy.copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        if isinstance(getattr(statement, field, None), list):
            setattr(statement, field, [ast.Pass()] if field == "body" else [])
    return copy.deepcopy(statement)


def _said(statement: ast.stmt) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(statement)).removesuffix("pass").split())


def _replace(tree: ast.AST, node: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        if parent is new:
            continue  # it may hold what it replaces
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, field, new)
            elif isinstance(value, list):
                value[:] = [new if item is node else item for item in value]


def _changes(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST | Callable[[], None]]]:
    """Yield (node, what replaces it, or does the change in place), in a fixed order."""
    if isinstance(statement, ast.AugAssign | ast.Raise) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ):
        yield statement, ast.Pass()
    if isinstance(statement, ast.If | ast.While):
        yield statement.test, ast.UnaryOp(ast.Not(), statement.test)
    if isinstance(statement, ast.Raise):
        return  # the words of a message are no formula
    if isinstance(statement, ast.AugAssign):
        yield from _other(statement.op, lambda op: setattr(statement, "op", op), statement)
    for node in _expressions(statement):
        yield from _in_expression(node)


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield what the head of a statement computes: no annotations, no decorators, no f-strings."""
    for field, value in ast.iter_fields(statement):
        if field in ("body", "orelse", "finalbody", "handlers", "annotation", "returns", "decorator_list", "bases"):
            continue
        for part in value if isinstance(value, list) else [value]:
            waiting = [part] if isinstance(part, ast.AST) else []
            while waiting:
                node = waiting.pop(0)
                if not isinstance(node, ast.JoinedStr):
                    yield node
                    waiting = [*_parts(node), *waiting]


def _parts(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.keyword) and node.arg in _LOOKS:
        return []
    if isinstance(node, ast.Dict):
        return [
            value
            for key, value in zip(node.keys, node.values, strict=True)
            if not (isinstance(key, ast.Constant) and key.value in _LOOKS)
        ]
    return [child for child in ast.iter_child_nodes(node) if child is not getattr(node, "annotation", None)]


def _in_expression(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | Callable[[], None]]]:
    match node:
        case ast.Compare(ops=[op, *_]):
            yield from _other(op, lambda new: node.ops.__setitem__(0, new), node)
            if isinstance(op, ast.Lt | ast.Gt | ast.LtE | ast.GtE):
                yield node, ast.UnaryOp(ast.Not(), node)
        case ast.BinOp(op=op) | ast.BoolOp(op=op):
            yield from _other(op, lambda new: setattr(node, "op", new), node)
        case ast.UnaryOp():
            yield node, node.operand
        case ast.IfExp():
            yield node, ast.IfExp(node.test, node.orelse, node.body)
        case ast.Constant(value=bool() as value):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            others = (value + 1, value - 1) if abs(value) < _LARGE else (2 * value,)
            yield from ((node, ast.Constant(other)) for other in others)
        case ast.Call():
            yield from _in_call(node)
        case ast.comprehension():
            yield from ((test, ast.UnaryOp(ast.Not(), test)) for test in node.ifs)


def _in_call(call: ast.Call) -> Iterator[tuple[ast.AST, Callable[[], None]]]:
    named = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if (
        len(call.args) > 1
        and named not in _SYMMETRIC
        and not any(isinstance(arg, ast.Starred) for arg in call.args[:2])
    ):
        yield call, lambda: call.args.__setitem__(slice(2), call.args[1::-1])
    if named in _NAMES:
        yield call, partial(setattr, call.func, "id" if isinstance(call.func, ast.Name) else "attr", _NAMES[named])


def _other(op: ast.AST, put: Callable[[Any], None], node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[], None]]]:
    if type(op) in _SWAPPED:
        yield node, lambda: put(_SWAPPED[type(op)]())
