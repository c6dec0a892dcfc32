"""Writing fields."""

from pathlib import Path

import pytest
from shared.small_fields import FIELD, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(text, name="field") -> path of a field of that text."""

    def write(text: str = FIELD, name: str = "field") -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return path

    return write
