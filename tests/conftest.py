"""What all tests share."""

import os
from pathlib import Path

import pytest
from gates import Bench


@pytest.fixture
def data() -> Path:
    """The folder with the real logs, given by `HARNESS_DATA`."""
    place = os.environ.get("HARNESS_DATA", "").split(os.pathsep)[0]
    if not Path(place or "/nonexistent").is_dir():
        pytest.skip("the real logs are not here: set HARNESS_DATA to their folder")
    return Path(place)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A field, a policy and no baseline yet."""
    return Bench(tmp_path)


@pytest.fixture
def made(bench: Bench) -> Bench:
    """A field, a policy, and a baseline of both."""
    bench.make()
    return bench
