"""Read-only views of records and arrays in compiled code, with bounds that are checked.

The type `ReadOnly` stands around a bundle, an array or a record. A bundle shows only the parts that are visible, and
of some parts only the first records. Arrays refuse indices beyond their ends and offer nothing that writes. Records
have the fields of their layout, of which the `writable` ones can be set. In the machine the value is the one inside,
so that a view costs nothing but the check of each index.
"""

import operator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_borrowed, iternext_impl
from numba.core.typing.arraydecl import get_array_index_type
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    overload,
    overload_method,
    register_model,
)
from numba.np.arrayobj import load_item, make_array

from harness.numba_support.compile_options import COUNT_REFERENCES
from harness.numba_support.pointer_tables import Bundle, changes_only_the_type
from harness.policy.permissions import LENGTHS, PARTS, Misuse, beyond, changed


class ReadOnly(types.Type):  # type: ignore[misc]  # numba is untyped
    """A bundle, a record or an array of the engine as policies see it; `label` names an array in messages."""

    def __init__(self, inside: Any, writable: tuple[str, ...] = (), label: str = "an array of the engine") -> None:
        self.inside = inside
        self.writable = writable
        self.label = label
        super().__init__(name=f"ReadOnly({inside}, {writable}, {label})")

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two of these types one."""
        return self.inside, self.writable, self.label

    @property
    def iterator_type(self) -> Any:
        """What a loop over the array steps through."""
        return ReadOnlyIterator(self)

    @property
    def item(self) -> Any:
        """What an index gives."""
        return self.around(self.inside.dtype, self.label)

    def unify(self, context: Any, other: Any) -> Any:
        """Return the type of a variable that is the one or the other."""
        if not isinstance(other, ReadOnly) or self.writable != other.writable:
            return None
        inside = self.inside if self.inside == other.inside else self.inside.unify(context, other.inside)
        return inside and ReadOnly(inside, self.writable, self.label)

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Return whether a value of this type is one of the other's too."""
        if not isinstance(other, ReadOnly) or self.writable != other.writable:
            return None
        return context.can_convert(self.inside, other.inside)

    def around(self, inside: Any, label: str) -> Any:
        """Return how a part of this is seen: numbers as they are."""
        compound = isinstance(inside, types.Array | types.Record)
        return ReadOnly(inside, self.writable, label) if compound else inside

    def part(self, name: str) -> Any:
        """Return the type of the part of that name in the engine, None if policies do not see it."""
        if isinstance(self.inside, Bundle):
            return self.inside.parts.get(name) if name in PARTS else None
        record = self.inside if isinstance(self.inside, types.Record) else self.inside.dtype
        if not isinstance(record, types.Record) or name not in record.fields:
            return None
        kind = record.typeof(name)
        if record is self.inside:
            return kind
        return None if isinstance(kind, types.NestedArray) else types.Array(kind, 1, "A")


class ReadOnlyIterator(types.SimpleIteratorType):  # type: ignore[misc]
    """A loop over a shown array."""

    def __init__(self, array: ReadOnly) -> None:
        self.array = array
        super().__init__(f"iter({array})", array.item)


@register_model(ReadOnly)
def _model(manager: Any, shown: ReadOnly) -> Any:
    """Represent a view as the value inside."""
    return manager.lookup(shown.inside)


@register_model(ReadOnlyIterator)
class _IteratorModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, iterator: ReadOnlyIterator) -> None:
        members = [("index", types.EphemeralPointer(types.intp)), ("array", iterator.array.inside)]
        super().__init__(dmm, iterator, members)


# ---------------------------------------------------------------- making and opening views


def makes_views(function: Any, writable: tuple[str, ...] = ()) -> None:
    """Compile calls of `function` to a view of its argument; of several in a tuple, each."""

    def typed(thing: Any) -> Any:
        if isinstance(thing, types.BaseTuple):
            return types.Tuple([typed(part) for part in thing])
        compound = isinstance(thing, Bundle | types.Array | types.Record)
        return ReadOnly(thing, writable) if compound else thing

    changes_only_the_type(function, typed)


def opens_views(function: Any) -> None:
    """Compile calls of `function` to the value inside a view; anything else stays as it is."""
    changes_only_the_type(function, lambda thing: thing.inside if isinstance(thing, ReadOnly) else thing)


def opened(thing: Any) -> Any:
    """Return the value inside a view, in compiled code."""
    return thing


opens_views(opened)


# ---------------------------------------------------------------- attributes


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = ReadOnly

    def generic_resolve(self, shown: ReadOnly, name: str) -> Any:
        if name == "size" and isinstance(shown.inside, types.Array):
            return types.intp
        part = shown.part(name)
        return None if part is None else shown.around(part, f"state.{name}")


@lower_getattr_generic(ReadOnly)
def _get(context: Any, builder: Any, shown: ReadOnly, value: Any, name: str) -> Any:
    if name == "size":
        return make_array(shown.inside)(context, builder, value).nitems
    part = _part(context, builder, shown.inside, value, name)
    if name in LENGTHS and isinstance(shown.inside, Bundle):
        clock = _part(context, builder, shown.inside, value, "clock")
        submitted = _part(context, builder, shown.part("clock"), clock, LENGTHS[name])
        array = make_array(shown.part(name))(context, builder, part)
        array.nitems = submitted
        array.shape = cgutils.pack_array(builder, [submitted])
        part = array._getvalue()
    return part


def _part(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return context.get_getattr(kind, name)(context, builder, kind, value, name)


@lower_setattr_generic(ReadOnly)
def _set(context: Any, builder: Any, sig: Any, arguments: Any, name: str) -> Any:
    shown, kind = sig.args
    if name not in shown.writable or not isinstance(shown.inside, types.Record):
        raise Misuse(changed(name))
    context.get_setattr(name, signature(types.void, shown.inside, kind))(builder, arguments)


# ---------------------------------------------------------------- arrays


@infer_global(len)
class _Length(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, named: Any) -> Any:
        (array,) = arguments
        if isinstance(array, ReadOnly) and isinstance(array.inside, types.Array):
            return signature(types.intp, array)
        return None


@lower_builtin(len, ReadOnly)
def _len(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return _get(context, builder, sig.args[0], arguments[0], "size")


@infer_global(operator.getitem)
class _Item(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, named: Any) -> Any:
        array, index = arguments
        if not isinstance(array, ReadOnly) or not isinstance(array.inside, types.Array):
            return None
        if isinstance(index, types.Integer):
            return signature(array.item, array, index)
        if isinstance(index, types.SliceType):
            return signature(array.around(get_array_index_type(array.inside, index).result, array.label), array, index)
        return None


@lower_builtin(operator.getitem, ReadOnly, types.Integer)
def _item(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    shown, kind = sig.args
    array = make_array(shown.inside)(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], kind, types.intp)
    zero, size = index.type(0), array.nitems
    index = builder.select(builder.icmp_signed("<", index, zero), builder.add(index, size), index)
    refuse_beyond(context, builder, shown, index, size)
    return _load(context, builder, shown, array, index)


def refuse_beyond(context: Any, builder: Any, shown: ReadOnly, index: Any, size: Any) -> None:
    """Emit code that refuses an index which an array does not have."""
    with cgutils.if_unlikely(builder, builder.icmp_unsigned(">=", index, size)):
        context.call_conv.return_user_exc(builder, Misuse, (beyond(shown.label),))


def _load(context: Any, builder: Any, shown: ReadOnly, array: Any, index: Any) -> Any:
    """Return the entry at an index that is there."""
    (stride,) = cgutils.unpack_tuple(builder, array.strides, count=1)
    entry = cgutils.pointer_add(builder, array.data, builder.mul(stride, index))
    return load_item(context, builder, shown.inside, entry)


@lower_builtin(operator.getitem, ReadOnly, types.SliceType)
def _slice(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    shown, kind = sig.args
    slicing = signature(sig.return_type.inside, shown.inside, kind)
    return context.get_function(operator.getitem, slicing)(builder, arguments)


@infer
class _Iterator(AbstractTemplate):  # type: ignore[misc]
    key = "getiter"

    def generic(self, arguments: Any, named: Any) -> Any:
        (array,) = arguments
        if isinstance(array, ReadOnly) and isinstance(array.inside, types.Array):
            return signature(array.iterator_type, array)
        return None


@lower_builtin("getiter", ReadOnly)
def _iterate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    iterator = context.make_helper(builder, sig.return_type)
    zero = context.get_constant(types.intp, 0)
    iterator.index = cgutils.alloca_once_value(builder, zero)
    iterator.array = arguments[0]
    return impl_ret_borrowed(context, builder, sig.return_type, iterator._getvalue())


@lower_builtin("iternext", ReadOnlyIterator)
@iternext_impl(RefType.BORROWED)
def _next(context: Any, builder: Any, sig: Any, arguments: Any, result: Any) -> None:
    shown = sig.args[0].array
    iterator = context.make_helper(builder, sig.args[0], value=arguments[0])
    array = make_array(shown.inside)(context, builder, iterator.array)
    index = builder.load(iterator.index)
    valid = builder.icmp_signed("<", index, array.nitems)
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(_load(context, builder, shown, array, index))
        builder.store(cgutils.increment_index(builder, index), iterator.index)


@lower_cast(ReadOnly, ReadOnly)
def _cast(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return context.cast(builder, value, kind.inside, wanted.inside)


# ---------------------------------------------------------------- numpy, where it reads

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne")
_SUMMARIES = ("sum", "min", "max", "mean", "any", "all", "argmin", "argmax", "argsort", "cumsum")


def _numbers(thing: Any) -> bool:
    """Return whether it is a shown array of numbers."""
    inside = thing.inside if isinstance(thing, ReadOnly) else None
    return isinstance(inside, types.Array) and not isinstance(inside.dtype, types.Record)


def _reads_two(function: Any) -> None:
    @overload(function, jit_options=COUNT_REFERENCES, strict=False)
    def read(a: Any, b: Any) -> Any:
        return (lambda a, b: function(opened(a), opened(b))) if _numbers(a) or _numbers(b) else None


def _reads(function: Any, name: str) -> None:
    def read(array: Any) -> Any:
        return (lambda array: function(opened(array))) if _numbers(array) else None

    overload(function, jit_options=COUNT_REFERENCES, strict=False)(read)
    overload_method(ReadOnly, name, jit_options=COUNT_REFERENCES, strict=False)(read)


for _name in _OPERATORS:
    _reads_two(getattr(operator, _name))
for _name in _SUMMARIES:
    _reads(getattr(np, _name), _name)


@overload_method(ReadOnly, "copy", jit_options=COUNT_REFERENCES, strict=False)
def _copy(array: Any) -> Any:
    """Numbers as an array of the policy's own."""
    return (lambda array: opened(array).copy()) if _numbers(array) else None
