"""Every sentence of SECURITY.md is held by tests that exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "SECURITY.md"
#: Sentence → the tests that hold it, as `path::function`.
HELD = tomllib.loads(Path(__file__).with_name("security_sentences.toml").read_text(encoding="utf-8"))
#: Sections that make no statement about the program.
WITHOUT_STATEMENTS = ("How to report a hole",)


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each section."""
    _, *parts = re.split(r"^#+ ", text, flags=re.MULTILINE)
    for part in parts:
        heading, _, body = part.partition("\n")
        yield heading, body


def sentences(body: str) -> Iterator[str]:
    """Yield each sentence, list item and table row of a section, without its marks and line breaks."""
    for block in re.split(r"\n\s*\n|\n(?=- |\|)", body):
        block = " ".join(block.split()).removeprefix("- ")
        if re.fullmatch(r"[|: -]*", block) or block.startswith("| limit |"):
            continue
        if block.startswith("|"):
            yield block.strip("| ")
        else:
            yield from re.split(r"(?<=[.])\s+(?=[A-Z`*])", block)


def stated() -> list[str]:
    """Return the sentences of the page that need a test."""
    text = PAGE.read_text(encoding="utf-8")
    return [one for heading, body in sections(text) if heading not in WITHOUT_STATEMENTS for one in sentences(body)]


def test_every_sentence_has_its_tests_and_no_other_is_listed():
    assert len(set(stated())) == len(stated())
    assert {one for one in stated() if one not in HELD} == set()
    assert {one for one in HELD if one not in stated()} == set()


@pytest.mark.parametrize("sentence", HELD)
def test_the_tests_of_a_sentence_exist(sentence):
    assert HELD[sentence], "no test is named"
    for test in HELD[sentence]:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_sentences_are_told_apart():
    body = "One `a.b` thing. Another\none.\n\n- An item. And more.\n\n| limit | value |\n|---|---|\n| size | 1 MB |\n"
    assert list(sentences(body)) == ["One `a.b` thing.", "Another one.", "An item.", "And more.", "size | 1 MB"]
