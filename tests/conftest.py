"""What all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """The folder with the real logs, given by `HARNESS_DATA`."""
    place = os.environ.get("HARNESS_DATA", "").split(os.pathsep)[0]
    if not Path(place or "/nonexistent").is_dir():
        pytest.skip("the real logs are not here: set HARNESS_DATA to their folder")
    return Path(place)
