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


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share a cache among themselves, never the user's."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
