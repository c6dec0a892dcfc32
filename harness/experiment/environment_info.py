"""What a result was made with and on."""

import os
import platform
from importlib.metadata import version
from typing import Any

from harness import __version__
from harness.numba_support.fingerprint import engine_version


def surroundings() -> dict[str, dict[str, Any]]:
    """Return what a result is made with and on: the versions, and the machine."""
    return {
        "versions": {
            "harness": __version__,
            "engine": engine_version(),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numba", "numpy", "pandas")},
        },
        "machine": {
            "name": platform.node(),
            "system": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        },
    }
