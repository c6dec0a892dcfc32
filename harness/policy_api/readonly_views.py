"""Read-only views of the engine's state for policies in plain Python and for stepping.

A view has no attribute that leads to the engine's arrays; `opened` reads them for the functions that policies call.
Compiled policies have the same views as types of numba: `shown`, `shown_reserving` and `opened` are known to both.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from harness.errors import HarnessError, did_you_mean
from harness.numba_support.readonly_types import makes_views, opens_views
from harness.policy.permissions import LENGTHS, PARTS, WRITABLE, Misuse, beyond, changed
from harness.policy.reads import READ_BY, record_with
from harness.policy_api.quick_records import columns_of, quick_bundle


class UnknownFieldError(AttributeError, HarnessError):
    """A policy used a field that a record lacks; `fields` are the fields that it has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.fields = tuple(known)
        super().__init__(name, name=name)

    def __str__(self) -> str:  # made when it is read: numpy and others often try names that are not there
        return f"there is no field {self.name!r} here; {did_you_mean(str(self.name), self.fields)}"


def _copied(column: Any) -> Any:
    """Return a copy of numbers of the engine: an array of numpy that shares them would lead to all of them."""
    copy = np.array(column)
    copy.setflags(write=False)
    return copy


class ReadOnlyView:
    """A view of a part of the engine."""

    __slots__ = ("_inside",)

    def __init__(self, inside: Any) -> None:
        _set_inside(self, inside)

    def __setattr__(self, name: str, value: Any) -> None:
        raise Misuse(changed(name))

    def __getattr__(self, name: str) -> Any:
        raise UnknownFieldError(name, [name for name in dir(type(self)) if not name.startswith("_")])

    def __setitem__(self, name: Any, value: Any) -> None:
        raise Misuse(changed(str(name)))

    def __deepcopy__(self, memo: Any) -> "ReadOnlyView":
        """Return the view itself: it shows the engine's own data, of which there is one."""
        return self


# The slot is taken out of the class: only these two functions reach the data behind a view.
_inside_of = ReadOnlyView.__dict__["_inside"].__get__
_set_inside = ReadOnlyView.__dict__["_inside"].__set__
delattr(ReadOnlyView, "_inside")


class Records(ReadOnlyView):
    """An array of records: `nodes[3].free`, or the column `nodes.free`, which is a copy."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_inside_of(self).count())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.__getattr__(index)
        inside, count = _inside_of(self), len(self)
        if isinstance(index, slice):
            return [inside.record(at) for at in range(*index.indices(count))]
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            raise Misuse(f"{beyond(inside.label)}: {index}, of {count}")
        return inside.record(at)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        inside = _inside_of(self)
        if name not in inside.array.dtype.names:
            raise UnknownFieldError(name, inside.array.dtype.names)
        if inside.touched is not None:
            inside.touched.add(f"{inside.record_name}.{name}")
        return _copied(inside.array[name][: len(self)])


class Record(ReadOnlyView):
    """One record, whose fields are attributes; they are numbers of Python's."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def copy(self) -> SimpleNamespace:
        """Return the fields as they are now, to be changed at will."""
        fields = vars(type(self))
        return SimpleNamespace(**{name: getattr(self, name) for name in fields if isinstance(fields[name], property)})


class _Part:
    """An array of the engine behind its view: the class of its records, their columns and their number."""

    def __init__(self, array: Any, label: str, permits: "_Permits", length: tuple[Any, str] | None = None) -> None:
        self.array = array
        self.label = label
        self.length = length
        self.touched = permits.touched
        self.record_name = record_with(array.dtype.names)
        writable = permits.writable
        self.kind = _record_kind(array.dtype, label, writable)
        if self.touched is not None:
            self.kind = _recording_kind(self.kind, self.record_name, self.touched)

    @cached_property
    def columns(self) -> list[Any]:
        """Return the fields, made when a record is first read: most arrays are never read."""
        return columns_of(self.array)

    def count(self) -> int:
        """Return how many records policies may see: of the jobs, those that have been submitted."""
        return len(self.array) if self.length is None else int(self.length[0][self.length[1]])

    def record(self, at: int) -> Any:
        """Return the view of one record."""
        return self.kind((self.columns, at))


@cache
def _record_kind(dtype: Any, label: str, writable: tuple[str, ...]) -> Any:
    """Return the class of the records of an array; it is kept, because making one takes long."""
    fields = {name: _property(k, dtype[name].shape != (), name in writable) for k, name in enumerate(dtype.names)}
    # A record keeps its columns and its index in the slot of `ReadOnlyView`.
    return type("Record", (Record,), {"__slots__": (), "__setattr__": _setter(writable), **fields})


def _recording_kind(kind: Any, record: str, touched: set[str]) -> Any:
    """Return the class of records that adds the fields which are read to a set."""

    def recording(name: str, field: property) -> property:
        def read(self: ReadOnlyView) -> Any:
            touched.add(f"{record}.{name}")
            return field.fget(self)  # type: ignore[misc]

        return property(read, field.fset)

    fields = {name: recording(name, field) for name, field in vars(kind).items() if isinstance(field, property)}
    return type("Record", (kind,), {"__slots__": (), **fields}) if record else kind


def _property(k: int, several: bool, writable: bool) -> property:
    """Return a field of records, that of column k."""

    def read(self: ReadOnlyView) -> Any:
        columns, at = _inside_of(self)
        return columns[k][at]

    def read_several(self: ReadOnlyView) -> Any:
        columns, at = _inside_of(self)
        return _copied(columns[k][at])

    def write(self: ReadOnlyView, value: Any) -> None:
        columns, at = _inside_of(self)
        columns[k][at] = float(value)

    return property(read_several if several else read, write if writable else None)


@cache
def _setter(writable: tuple[str, ...]) -> Any:
    def setter(self: ReadOnlyView, name: str, value: Any) -> None:
        if name not in writable:
            fields = [field for field in dir(type(self)) if not field.startswith("_")]
            raise Misuse(changed(name)) if name in fields else UnknownFieldError(name, fields)
        object.__setattr__(self, name, value)

    return setter


class State(ReadOnlyView):
    """The state as policies see it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        inside = _inside_of(self)
        if name not in inside.parts:
            raise UnknownFieldError(name, inside.parts)
        return inside.parts[name]


#: Makes a sentence of the error of a function that is called while no policy is called.
Explainer = Callable[[str, Exception], Exception]


class _Bundle:
    """The arrays of the engine behind the view of the state."""

    explain: Explainer | None = None

    def __init__(self, bundle: Any, permits: "_Permits") -> None:
        self.bundle = quick_bundle(bundle)
        self.touched = permits.touched
        others = _Permits((), permits.touched)
        self.parts = {
            name: view_of(getattr(bundle, name), permits if name == "jobs" else others, f"state.{name}", bundle.clock)
            for name in PARTS
        }


@dataclass(frozen=True)
class _Permits:
    """The fields of jobs that a policy may write, and the set of what it reads, if that is recorded."""

    writable: tuple[str, ...] = ()
    touched: set[str] | None = None


_READ_ONLY = _Permits()


def view_of(
    thing: Any, permits: _Permits = _READ_ONLY, label: str = "an array of the engine", clock: Any = None
) -> Any:
    """Return the view of a bundle, an array or a record of the engine."""
    if isinstance(thing, np.record):
        return _Part(thing.base, label, permits).record(0)
    if isinstance(thing, tuple):
        return State(_Bundle(thing, permits))
    if not isinstance(thing, np.ndarray):
        return thing
    if thing.dtype.names:
        length = LENGTHS.get(label.removeprefix("state.")) if clock is not None else None
        return Records(_Part(thing, label, permits, (clock, length) if length else None))
    return np.asarray(memoryview(thing.data).toreadonly())


def shown(thing: Any) -> Any:
    """Return what a policy may see of a bundle, an array or a record; of several in a tuple, each."""
    return tuple(map(view_of, thing)) if type(thing) is tuple else view_of(thing)


def shown_reserving(thing: Any) -> Any:
    """Return the same for start policies, which may write `job.reserved`."""
    return view_of(thing, _Permits(WRITABLE["start_jobs"]))


def unwrap(thing: Any) -> Any:
    """Return the engine's state behind a view; anything else as it is."""
    return _inside_of(thing).bundle if isinstance(thing, State) else thing


def shown_as(kind: Any, state: State) -> Any:
    """Return another view of the same run."""
    return kind(_inside_of(state))


def record_call(verb: str, thing: Any) -> None:
    """Record what a public function reads, if the reads of this view of the state are recorded."""
    if verb in READ_BY and isinstance(thing, State) and (touched := _inside_of(thing).touched) is not None:
        touched.add(READ_BY[verb])


#: While the reads of policies are recorded: a policy, with the orders that it wraps → what it has read.
_recorded: dict[Any, set[str]] | None = None


@contextmanager
def recording() -> Iterator[dict[Any, set[str]]]:
    """Record which fields the policies of runs within the block read; of those that run in plain Python."""
    global _recorded
    before, _recorded = _recorded, {}
    try:
        yield _recorded
    finally:
        _recorded = before


makes_views(shown)
makes_views(shown_reserving, WRITABLE["start_jobs"])
opens_views(unwrap)


def set_explainer(state: State, explain: Explainer) -> None:
    """Pass the errors of functions that are called with this view of the state through `explain`."""
    _inside_of(state).explain = explain


def explain_error(verb: str, expected: str, thing: Any, error: Exception) -> Exception:
    """Return the error that a public function raises; its first argument was `thing`, where a state, say, belongs."""
    given = "state" if isinstance(thing, State) else "record" if isinstance(thing, ReadOnlyView) else ""
    if given and (given == "state") != (expected == "state"):
        error = Misuse(f"called harness.{verb} with a {given}, where a {expected} was expected")
    elif expected == "state" and not (given or hasattr(thing, "clock")):
        error = Misuse(f"called harness.{verb} with {thing!r:.50}, where a {expected} was expected")
    explain = _inside_of(thing).explain if given == "state" else None
    return explain(verb, error) if explain else error


class Viewer:
    """Makes the views of one policy, each once for a run."""

    def __init__(self, writable: tuple[str, ...] = (), policies: Any = ()) -> None:
        touched = None if _recorded is None else _recorded.setdefault(policies, set())
        self.permits = _Permits(writable, touched)
        self.made: dict[int, tuple[Any, Any]] = {}

    def __call__(self, thing: Any) -> Any:
        """Return the view of a bundle, an array or a record."""
        anchor = getattr(thing, "clock", thing)  # bundles are made anew, around the same clock
        found = self.made.get(id(anchor))
        if found is None or found[0] is not anchor:
            found = self.made[id(anchor)] = (anchor, view_of(thing, self.permits))
        return found[1]
