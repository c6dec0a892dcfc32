"""Compiled code kept on disk under a name that contains everything it was made from.

numba's own cache looks at one source file; what is compiled here depends on several: the engine's files, an
author's plugin and what it imports. So each kernel has a file of its own, named by a digest of them all. The next
process loads it in a few milliseconds.

What is kept is code: the folder is its user's alone, and a file is believed only with its digest.
"""

import hashlib
import os
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit

from harness.disk.atomic import replacing_quietly
from harness.disk.data_search import cache_folder
from harness.errors import HarnessError
from harness.numba_support.compile_options import USE_INTERNALS
from harness.numba_support.fingerprint import compiler_version, engine_version

if USE_INTERNALS:
    from harness.numba_support import internals

#: Called with the name of each kernel that is compiled because it was not found on disk.
on_compiling: list[Callable[[str], None]] = []

#: Called with the words for a kernel that is compiled or loaded, the time so far [s], and whether it is done. It is
#: called at the beginning, every `SLOW` seconds, and at the end.
on_progress: list[Callable[[str, float, bool], None]] = []

#: Compiling that takes longer is reported [s].
SLOW = 5.0

_DIGEST = hashlib.sha256().digest_size
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class KeptCodeError(HarnessError):
    """Compiled code lies where others could have written it."""


def kernel_folder() -> Path:
    """Say where compiled kernels are kept: under HARNESS_CACHE, or the user's cache folder."""
    return cache_folder() / "kernels"


def compile_and_keep(
    name: str,
    source: str,
    names: dict[str, Any],
    signature: Any,
    *,
    made_from: tuple[str, ...] = (),
    module: str = __name__,
    words: str = "",
    **options: Any,
) -> Any:
    """Compile the function `kernel` of `source`, in which `names` are known, or load it from disk.

    `module` is where it finds the Python functions that it calls back. `words` name it in messages.
    """
    processor = internals.processor() if USE_INTERNALS else ""
    ours, python = (engine_version(), compiler_version()), sys.implementation.cache_tag or ""
    versions = (*ours, numba.__version__, np.__version__, python)
    parts = [source, repr(signature), repr(options), *made_from, processor, *versions]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # Compiled functions are linked by name: two kernels of one name, compiled by different processes, would be one.
    own_name = f"kernel_{digest}"
    source = source.replace("def kernel(", f"def {own_name}(")
    # The module named here must be importable when the kernel is loaded again; the functions it calls are globals,
    # not closures, because numba never finds closures over compiled functions again.
    namespace = {**names, "np": np, "__name__": module}
    exec(compile(source, f"<{name}>", "exec"), namespace)
    dispatcher = njit(**options)(namespace[own_name])
    if USE_INTERNALS:
        dispatcher._cache = _Keeper(name, kernel_folder() / f"{name}_{digest}.kernel")
    else:
        _report_compiling(name)
    with internals.compiling_fast() if USE_INTERNALS else nullcontext(), _progress_reported(words or name):
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def _report_compiling(name: str) -> None:
    for report in on_compiling:
        report(name)


@contextmanager
def _progress_reported(words: str) -> Iterator[None]:
    """Report the beginning and the end of a block, and how long it has taken so far."""
    began, over = time.monotonic(), threading.Event()

    def report(ended: bool) -> None:
        for tell in on_progress:
            tell(words, time.monotonic() - began, ended)

    def watch() -> None:
        while not over.wait(SLOW):
            report(False)

    report(False)
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        report(True)


class _Keeper:
    """Keeps the code of one kernel, in the place of numba's own cache."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the kept code; None if there is none that can be trusted and used in this process."""
        kept = self._read()
        found = internals.read(kept, context) if kept else None
        if found is None:
            _report_compiling(self.name)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled code, if there is a folder for it."""
        kept = internals.written(result)
        if kept is None:
            return
        try:
            make_private(self.path.parent)
            with replacing_quietly(self.path) as temporary:
                temporary.touch(mode=0o600)
                temporary.write_bytes(hashlib.sha256(kept).digest() + kept)
        except OSError:
            return

    def _read(self) -> bytes | None:
        try:
            make_private(self.path.parent)
            with self.path.open("rb") as file:
                _refuse_strangers(self.path, os.fstat(file.fileno()))
                content = file.read()
        except OSError:
            return None
        if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            return content[_DIGEST:]
        warnings.warn(f"{self.path} is damaged: this kernel is compiled anew", stacklevel=2)
        return None


def kept_for_later() -> bool:
    """Return whether there is a folder in which compiled code can be kept."""
    try:
        make_private(kernel_folder())
    except OSError:
        return False
    return os.access(kernel_folder(), os.W_OK)


def make_private(folder: Path) -> None:
    """Make a folder for code that is its user's alone; refuse one that others may write to."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_strangers(folder, folder.stat())


def _refuse_strangers(path: Path, status: os.stat_result) -> None:
    """Refuse a file or folder that another user may have written; the administrator is trusted."""
    if not hasattr(os, "getuid"):
        return
    if status.st_uid not in (os.getuid(), 0):
        raise KeptCodeError(
            f"{path} belongs to another user, and what is kept there runs as code: expected a folder of one's own "
            "(set HARNESS_CACHE)"
        )
    if status.st_mode & _WRITABLE_BY_OTHERS:
        raise KeptCodeError(
            f"{path} may be written by others, and what is kept there runs as code: expected a folder of one's own "
            f"(chmod go-w {path}, or set HARNESS_CACHE)"
        )
