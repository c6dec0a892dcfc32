"""Which of numba's interfaces compiles, and with which options.

The modules `internals`, `front_end` and `late_linking` use private parts of numba, which differ between its versions.
They are imported only with the versions tested. With any other version numba's public interface compiles everything:
that takes longer, and no compiled code is kept on disk.
"""

from typing import Any

import numba

#: The versions of numba whose internals are used: from the first, up to but not including the second.
TESTED = ("0.60", "0.69")


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


USE_INTERNALS = _numbers(TESTED[0]) <= _numbers(numba.__version__) < _numbers(TESTED[1])

#: For code that only compiled code calls: without the wrappers for Python, which cost most of the compile time.
NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: For code that counts no references: Python holds all arrays until it returns.
NO_REFERENCES: dict[str, Any] = {"_nrt": False} if USE_INTERNALS else {"fastmath": False}  # which is the default
COUNT_REFERENCES: dict[str, Any] = {"_nrt": True} if USE_INTERNALS else {"fastmath": False}

#: For kernels of the engine, which compiled code alone calls …
KERNEL: dict[str, Any] = {**NO_WRAPPERS, **NO_REFERENCES, "error_model": "numpy"}

#: … and for its functions, which are written without closures and without whole-array expressions.
ENGINE = dict(KERNEL)
if USE_INTERNALS:
    from harness.numba_support.front_end import ShortPipeline

    ENGINE["pipeline_class"] = ShortPipeline
