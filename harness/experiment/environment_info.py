"""The software versions and the machine that made a result."""

import os
import platform
from importlib.metadata import version
from typing import Any

from harness import __version__
from harness.numba_support.fingerprint import engine_version


def environment_info() -> dict[str, dict[str, Any]]:
    """Return the versions and the description of this machine."""
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
