"""The settings of the site: it is searched and copied from without a server, as a reader of a folder does."""

import re
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Token

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "mkdocs.yml").exists() or not (ROOT / ".docs").exists():
    pytest.skip("the site is not made here", allow_module_level=True)

SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
STYLE = (ROOT / ".docs/style.css").read_text(encoding="utf-8")
#: The classes that Pygments gives to prompts and to printed lines.
CLASSES = {Token.Generic.Prompt: "gp", Token.Generic.Output: "go"}
PAGES = [*sorted((ROOT / ".docs").rglob("*.md")), ROOT / "README.md", *sorted((ROOT / "plugins").rglob("README.md"))]


def test_search_works_on_a_page_that_was_opened_as_a_file() -> None:
    """The index is a script, and a script of the site replaces the workers that browsers refuse to such pages."""
    assert re.search(r"^plugins:\n(?:  .*\n)*?  - offline$", SETTINGS, re.MULTILINE)
    assert "use_directory_urls: false" in SETTINGS
    [script] = re.findall(r"^  polyfills: \[(iframe-worker\S*)\]", SETTINGS, re.MULTILINE)
    code = (ROOT / ".docs" / script).read_text(encoding="utf-8")
    assert 'location.protocol==="file:"&&(window.Worker=' in code
    assert "Permission is hereby granted" in code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_copy_buttons_leave_out_are_prompts_and_printed_lines(page: Path) -> None:
    hidden = set(re.findall(r"\[data-md-copying\] \.(\w+)", STYLE))
    assert "line_spans: __span" in SETTINGS
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        lexed = get_lexer_by_name("console").get_tokens(block)
        copied = "".join(text for token, text in lexed if CLASSES.get(token) not in hidden).splitlines()
        typed = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        assert [line for line in copied if line] == typed
