"""The glossary has at most 60 terms, its page is generated, and identifiers consist of its words or English words."""

import ast
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / ".docs").exists():
    pytest.skip("the site is not made here", allow_module_level=True)

GLOSSARY = runpy.run_path(str(ROOT / ".docs/glossary.py"))
TERMS = GLOSSARY["terms"]()
WORDS = tomllib.loads(Path(__file__).with_name("identifier_words.toml").read_text(encoding="utf-8"))
#: The number of identifier words to be renamed on 2026-11-20.
MOST_TO_RENAME = 19


def words(identifier: str) -> list[str]:
    """Return the words of an identifier in lower case, without those of one or two letters."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)
    return [part.lower() for part in parts if len(part) > 2]


def identifiers(source: str) -> Iterator[str]:
    """Yield each name that a module defines: functions, classes, arguments, variables and fields."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def accepted() -> set[str]:
    """Return all words that the glossary and the list of this folder accept."""
    of_glossary = {word for name, term in TERMS.items() for word in [*name.split(), *term.get("code", [])]}
    return of_glossary | {word for group in WORDS.values() for word in group}


def test_the_page_is_generated_from_the_data():
    page = (ROOT / ".docs/glossary.md").read_text(encoding="utf-8")
    assert page == GLOSSARY["page"](), "call `python .docs/glossary.py`"


def test_there_are_at_most_sixty_terms():
    assert 40 <= len(TERMS) <= 60


@pytest.mark.parametrize("name", TERMS)
def test_a_term_belongs_to_the_field_or_is_defined_here(name):
    term = TERMS[name]
    assert term["of"] in ("field", "here")
    assert set(term) <= {"of", "meaning", "code"}
    assert term["meaning"].endswith(".")
    assert all(len(sentence.split()) <= 25 for sentence in re.split(r"(?<=\.)\s", term["meaning"]))


def test_the_list_of_names_to_change_only_becomes_shorter():
    assert len(WORDS["to_rename"]) <= MOST_TO_RENAME


def test_identifiers_consist_of_words_of_the_glossary_or_of_english():
    dictionary = pytest.importorskip("spellchecker").SpellChecker().word_frequency
    known = accepted()
    unknown = {
        f"{path.relative_to(ROOT)}: {word}"
        for path in sorted((ROOT / "harness").rglob("*.py"))
        for identifier in [path.stem, *identifiers(path.read_text(encoding="utf-8"))]
        for word in words(identifier)
        if word not in known and word not in dictionary
    }
    assert unknown == set()


def test_identifiers_are_split_into_words():
    assert words("next_waitingJob") == ["next", "waiting", "job"]
    assert words("HTTPServer_of_2") == ["http", "server"]
    assert set(identifiers("class A:\n    def go(self, far):\n        self.size = near = 1\n")) == {
        "A", "go", "self", "far", "size", "near",
    }  # fmt: skip
