"""Compiled code kept on disk under a name that contains everything it was made from.

numba's own cache looks at one source file; what is compiled here depends on several: the engine's files, an
author's plugin and what it imports. So a small piece of source is written to a file named by a digest of them all,
and numba keeps its result beside that file. The next process loads it in a few milliseconds.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
from numba import njit

from harness.version import engine_version

#: Called with the name of what is about to be compiled because it was not found on disk.
on_compiling: list[Callable[[str], None]] = []


def kernel_folder() -> Path:
    """Where compiled kernels are kept: under HARNESS_CACHE, or the user's cache folder."""
    return Path(os.environ.get("HARNESS_CACHE") or platformdirs.user_cache_dir("harness")) / "kernels"


def compile_and_keep(
    name: str,
    source: str,
    names: dict[str, Any],
    signature: Any,
    *,
    made_from: tuple[str, ...] = (),
    module: str = __name__,
    **options: Any,
) -> Any:
    """Compile the function `kernel` of `source`, in which `names` are known, or load it from disk.

    What it calls back in Python it finds in `module`.
    """
    parts = [source, repr(signature), repr(options), *made_from, engine_version(), numba.__version__, np.__version__]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    path = kernel_folder() / f"{name}_{digest}.py"
    # Compiled functions are linked by name: two kernels of one name, compiled by different processes, would be one.
    own_name = f"kernel_{digest}"
    source = source.replace("def kernel(", f"def {own_name}(")
    kept = _write(path, source)
    if not any((path.parent / "__pycache__").glob(f"{path.stem}.*.nbi")):
        for tell in on_compiling:
            tell(name)
    # The module named here must be importable when the kernel is loaded again; what the kernel calls are globals,
    # not closures, because numba never finds closures over compiled functions again.
    namespace = {**names, "np": np, "__name__": module}
    exec(compile(source, str(path) if kept else "<kernel>", "exec"), namespace)
    return njit(signature, cache=kept, **options)(namespace[own_name])


def _write(path: Path, source: str) -> bool:
    """Put the source on disk, unless it is there; False if there is nowhere to keep it."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_text(source)
            partial.replace(path)
    except OSError:
        return False
    return True
