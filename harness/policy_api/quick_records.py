"""The engine's records for functions in plain Python: those of numpy are ten times as slow to read and write."""

from functools import cache, cached_property
from typing import Any

import numpy as np


def columns_of(array: Any) -> list[Any]:
    """Return the fields of an array of records: of one number each as what Python reads and writes fastest."""
    bare = array.view(np.ndarray)  # fields of numpy's arrays of records are slow to get
    columns = [bare[name] for name in array.dtype.names]
    return [column if column.ndim > 1 else memoryview(column) for column in columns]


class Quick:
    """An array of records whose fields are read and written through plain arrays."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.bare = array.view(np.ndarray)
        self.made: dict[int, Any] = {}
        self.kind = _quick_record_kind(array.dtype)

    @cached_property
    def columns(self) -> list[Any]:
        """Return the fields, made when a record is first read."""
        return columns_of(self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self.made.get(index)
        except TypeError:  # a slice, which has no hash
            return self.array[index]
        if found is None:
            found = self.made[index] = self.kind()
            found.bare = self.bare
            found.columns = self.columns
            found.at = range(len(self.array))[index]
        return found

    def __setitem__(self, index: slice, entries: Any) -> None:
        self.bare[index] = entries

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


@cache
def _quick_record_kind(dtype: Any) -> Any:
    """Return the class of the quick records of an array."""
    fields = {name: _open_property(k, name) for k, name in enumerate(dtype.names)}
    return type("QuickRecord", (), {"__slots__": ("at", "bare", "columns"), **fields})


def _open_property(k: int, name: str) -> property:
    """Return a field of quick records, that of column k."""

    def read(self: Any) -> Any:
        return self.columns[k][self.at]

    def write(self: Any, value: Any) -> None:
        self.bare[name][self.at] = value  # as numpy converts it

    return property(read, write)


def quick_bundle(bundle: Any) -> Any:
    """Return the bundle with quick records; `real` is the one with numpy's, which compiled code takes."""
    parts = {name: getattr(bundle, name) for name in bundle._fields}
    for name, part in parts.items():
        if isinstance(part, np.record):
            parts[name] = Quick(part.base)[0]
        elif isinstance(part, np.ndarray) and part.dtype.names:
            parts[name] = Quick(part)
    kind: Any = type(bundle)
    quick = _quick_kind(kind)(**parts)
    quick.real = bundle
    return quick


@cache
def _quick_kind(kind: Any) -> Any:
    return type(f"Quick{kind.__name__}", (kind,), {})
