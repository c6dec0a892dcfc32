"""What is published says how it is made anew."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

_ROOT = Path(__file__).parents[2]
_FILES = sorted(path for path in (_ROOT / "reports").iterdir() if path.is_file())


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_every_published_file_has_its_command(path: Path) -> None:
    if path.suffix == ".md":
        assert re.search(r"^ {4,}(harness|python) ", path.read_text(encoding="utf-8"), re.MULTILINE)
    else:
        assert f"`{path.name}`" in (_ROOT / "reports/README.md").read_text(encoding="utf-8")


def test_the_picture_is_of_the_field_that_it_is_said_to_be_of() -> None:
    field = tomllib.loads((_ROOT / "policies/demo.toml").read_text(encoding="utf-8"))
    known = {
        f"{order} + {start}" for group in field["scheduler"] for order in [group["order"]] for start in group["start"]
    }
    texts = {
        "".join(text.itertext())
        for text in ElementTree.parse(_ROOT / "reports/demo-waits.svg").iter()
        if text.tag.endswith("text")
    }
    assert f"Waiting times: {field['workloads'][0]['name']}" in texts
    assert {text for text in texts if " + " in text} <= known
    assert len(texts & known) == 4
