"""Writing fields, and variations without users."""

from pathlib import Path

import pytest
from small_fields import FIELD, Write, turn

import harness


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(text, name="field") -> path of a field of that text."""

    def write(text: str = FIELD, name: str = "field") -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variations are turned logs."""
    monkeypatch.setitem(vars(harness), "resample", turn)
