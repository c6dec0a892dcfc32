"""How compiled code holds a run: by one pointer, to a table of where its arrays, records and kernels lie.

A call hands on one number, however much there is. What a name of the state stands for is read from the table when it
is used; the table stays as it is during a run, which lets LLVM read it once. Nothing counts references: Python keeps
the arrays for the whole run.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from harness.numba_support.lazy_symbols import ASKER, NotMadeError

TABLE = types.Array(types.int64, 1, "C")  # the type of the table

_SLOTS = 2  # of a part in the table: its address, and how many entries it has


class Bundle(types.Type):  # type: ignore[misc]  # numba is untyped
    """What a pointer to the table leads to: parts by name, and kernels by the names under which they are called."""

    def __init__(self, name: str) -> None:
        super().__init__(f"<{name}>")

    @property
    def parts(self) -> dict[str, Any]:
        """Return the types of the arrays and records, by name."""
        return _parts[self.name]

    @property
    def kernels(self) -> dict[str, Any]:
        """Return the signatures of the kernels, by name."""
        return _kernels[self.name]

    def slot(self, name: str) -> int:
        """Return where a part or a kernel stands in the table."""
        return _SLOTS * [*self.parts, *sorted(self.kernels)].index(name)


# Not in the bundles: types are kept with compiled code, and the kernels of a bundle take the bundle as argument.
_parts: dict[str, dict[str, Any]] = {}
_kernels: dict[str, dict[str, Any]] = {}


def declare(bundle: Bundle, parts: dict[str, Any], kernels: dict[str, Any]) -> None:
    """Declare the parts of a bundle, and its kernels with their signatures."""
    _parts[bundle.name], _kernels[bundle.name] = parts, {}
    for name, asked in kernels.items():
        add_kernel(bundle, name, asked)


def add_kernel(bundle: Bundle, name: str, asked: Any) -> None:
    """Add a kernel of a bundle that compiled code may call, with its signature `asked`."""
    bundle.kernels[name] = asked
    lower_builtin(f"harness.asking.{name}", Bundle, types.VarArg(types.Any))(_lower_asking(bundle, name, asked))


@register_model(Bundle)
class _Pointer(models.OpaqueModel):  # type: ignore[misc]
    """An address."""


@cache
def entering(bundle: Bundle) -> Any:
    """Return a function that turns a table into the pointer to the bundle, in compiled code."""

    @intrinsic
    def entered(context: Any, table: Any) -> Any:
        def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            start = make_array(table)(context, builder, value=arguments[0]).data
            return builder.bitcast(start, context.get_value_type(bundle))

        return bundle(table), lower

    return entered


def changes_only_the_type(function: Any, typed: Callable[[Any], Any]) -> None:
    """Compile calls of `function` to its argument with another type, `typed(type of the argument)`."""

    class Typed(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, named: Any) -> Any:
            return signature(typed(arguments[0]), arguments[0])

    infer_global(function)(Typed)
    lower_builtin(function, types.Any)(lambda context, builder, signature, arguments: arguments[0])


def table_of(parts: Any) -> np.ndarray[Any, Any]:
    """Return the table of a run from its parts in order: arrays, records, and the addresses of kernels."""
    places = [(part, 1) if isinstance(part, int) else (part.ctypes.data, part.size) for part in map(_array, parts)]
    return np.array(places, np.int64).ravel()


def _array(part: Any) -> Any:
    return part.base if isinstance(part, np.record) else part


def slot_in(context: Any, builder: Any, bundle: Bundle, pointer: Any, name: str, further: int = 0) -> Any:
    """Return where in the table a name stands."""
    number = context.get_value_type(types.intp)
    place = ir.Constant(number, bundle.slot(name) + further)
    return builder.gep(builder.bitcast(pointer, number.as_pointer()), [place])


def _slot(context: Any, builder: Any, bundle: Bundle, pointer: Any, name: str, further: int = 0) -> Any:
    """Read a number of the table, which LLVM may take for one that never changes."""
    found = builder.load(slot_in(context, builder, bundle, pointer, name, further))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


# ---------------------------------------------------------------- parts


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Bundle

    def generic_resolve(self, bundle: Bundle, name: str) -> Any:
        if name in bundle.kernels:
            return types.BoundFunction(_asking(bundle.kernels[name], name), bundle)
        return bundle.parts.get(name)


@lower_getattr_generic(Bundle)
def _get(context: Any, builder: Any, bundle: Bundle, pointer: Any, name: str) -> Any:
    if name in bundle.kernels:
        return pointer  # the function that is called finds the kernel
    kind = bundle.parts[name]
    address = _slot(context, builder, bundle, pointer, name)
    if isinstance(kind, types.Record):
        return builder.inttoptr(address, context.get_value_type(kind))
    array = make_array(kind)(context, builder)
    step = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    size = _slot(context, builder, bundle, pointer, name, 1)
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=data, shape=[size], strides=[step], itemsize=step, meminfo=None)
    return array._getvalue()


# ---------------------------------------------------------------- kernels


def _asking(asked: Any, name: str) -> Any:
    """Return how a call of a kernel is typed: it has one signature."""

    class Asking(AbstractTemplate):  # type: ignore[misc]
        key = f"harness.asking.{name}"

        def generic(self, arguments: Any, named: Any) -> Any:
            if named or len(arguments) != len(asked.args) or not all(map(_can_be, arguments, asked.args)):
                return None
            return signature(asked.return_type, *asked.args, recvr=self.this)

    return Asking


def _can_be(given: Any, wanted: Any) -> bool:
    """Return whether a kernel takes a value of another type: whole numbers where numbers are expected."""
    given = types.unliteral(given)
    if isinstance(wanted, types.Float):
        return isinstance(given, types.Float | types.Integer | types.Boolean)
    if isinstance(wanted, types.Integer):
        return isinstance(given, types.Integer | types.Boolean)
    return isinstance(wanted, types.Array) or given == wanted


def _lower_asking(bundle: Bundle, name: str, asked: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kind = context.call_conv.get_function_type(asked.return_type, asked.args).as_pointer()
        kernel = builder.inttoptr(_slot(context, builder, bundle, arguments[0], name), kind)
        return _call(context.call_conv, builder, kernel, asked, arguments[1:])

    return lower


def calling(asked: Any, name: str = "") -> Any:
    """Return the function with which compiled code calls a kernel at an address: `call(address, …)`.

    With a `name` that is `call(…)`, for a function that is offered by that name: see `lazy_symbols`.
    """

    def lower(context: Any, builder: Any, sig: Any, given: Any) -> Any:
        convention = context.call_conv
        address = _found(context, builder, name) if name else given[0]
        kind = convention.get_function_type(asked.return_type, asked.args).as_pointer()
        values = cgutils.unpack_tuple(builder, given[-1], len(asked.args))
        return _call(convention, builder, builder.inttoptr(address, kind), asked, values)

    handed_on = types.StarArgTuple(asked.args)

    @intrinsic
    def call(context: Any, address: Any, *arguments: Any) -> Any:
        return asked.return_type(types.int64, handed_on), lower

    @intrinsic
    def call_named(context: Any, *arguments: Any) -> Any:
        return asked.return_type(handed_on), lower

    return call_named if name else call


def _found(context: Any, builder: Any, name: str) -> Any:
    """Return the address that belongs to a name; the function is compiled first if it has none."""
    number = context.get_value_type(types.int64)
    place = _place(context, builder, name)
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(place))):
        kind = ir.FunctionType(ir.VoidType(), [number]).as_pointer()
        asker = builder.inttoptr(builder.load(_place(context, builder, ASKER)), kind)
        builder.call(asker, [builder.ptrtoint(place, number)])
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(place))):
            context.call_conv.return_user_exc(builder, NotMadeError, ())
    return builder.load(place)


def _place(context: Any, builder: Any, name: str) -> Any:
    """Return where the address is that belongs to a name."""
    known = builder.module.globals.get(name)
    return known or ir.GlobalVariable(builder.module, context.get_value_type(types.int64), name)


def _call(convention: Any, builder: Any, kernel: Any, asked: Any, values: Any) -> Any:
    """Call a function, and fail as it fails."""
    status, answer = convention.call_function(builder, kernel, asked.return_type, asked.args, values)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return answer
