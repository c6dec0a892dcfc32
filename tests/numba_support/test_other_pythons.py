"""300 runs give the same to the last bit on other Pythons, with old numpy and for other processors."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import digests
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.study


def printed(python: str | Path, cache: Path, **environment: str) -> list[str]:
    """Run the script with a Python, compiling anew."""
    done = subprocess.run(
        [python, digests.__file__],
        env=os.environ | {"HARNESS_CACHE": str(cache)} | environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What this Python gives, on this machine's processor."""
    found = printed(sys.executable, tmp_path_factory.mktemp("here"))
    assert len(found) == 300
    assert len(set(found)) > 290
    return found


def test_for_a_processor_without_extensions(here: list[str], tmp_path: Path) -> None:
    assert printed(sys.executable, tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == here


@pytest.mark.parametrize(
    ("version", "more"),
    [
        (f"{sys.version_info.major}.{sys.version_info.minor}", "numpy==1.26.*"),
        ("3.11", "numpy"),
        ("3.12", "numpy"),
        ("3.13", "numpy"),
        ("3.14", "numpy"),
    ],
)
def test_with_another_python_or_numpy(here: list[str], tmp_path: Path, version: str, more: str) -> None:
    python = working(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    other = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", other], check=True)
    call = [other / "bin" / "pip", "install", "--quiet", str(ROOT), more]
    installed = subprocess.run(call, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"{more} and what else is needed cannot be installed for Python {version}")
    assert printed(other / "bin" / "python", tmp_path / "cache") == here


def working(version: str) -> str | None:
    """Return a Python of that version that runs, from the path or from pyenv; None if there is none."""
    places = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for python in (shutil.which(f"python{version}"), *map(str, places)):
        if python and not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
            return python
    return None
