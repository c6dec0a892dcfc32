"""The pages of the site do what they say: every command of the tutorial and the guides is called, in their order."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

import harness.cli

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / ".docs").exists():
    pytest.skip("the site is not made here", allow_module_level=True)

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [
        *sorted((ROOT / ".docs").rglob("*.md")),
        ROOT / "plugins/examples/README.md",
        ROOT / "workloads/README.md",
    ]
}
#: Blocks of a page: language and text.
BLOCKS = {
    name: re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL) for name, text in PAGES.items()
}

every_page = pytest.mark.parametrize("page", PAGES)


#: The mark of a command that needs a log which a new user does not have.
NEEDS_A_LOG = re.compile(r"# .*needs the (?:log|data set)")


def commands(page: str) -> list[str]:
    """What a page calls, in its order."""
    shown = "".join(text for language, text in BLOCKS[page] if language == "console")
    return [line.removeprefix("$ harness ") for line in shown.splitlines()]


def make_files(page: str, folder: Path) -> None:
    """Make the files that a page tells to make: its blocks that begin `# file: NAME`."""
    for _, text in BLOCKS[page]:
        if named := re.match(r"# file: (\S+)\n", text):
            (folder / named[1]).write_text(text, encoding="utf-8")


def test_there_are_a_tutorial_guides_and_an_explanation() -> None:
    assert {".docs/tutorial.md", ".docs/explanation.md"} < set(PAGES)
    assert len([page for page in PAGES if page.startswith(".docs/guides/")]) >= 5


@every_page
def test_every_page_calls_something(page: str) -> None:
    assert commands(page)
    assert all(line.startswith("$ harness ") for language, text in BLOCKS[page] if language == "console"
               for line in text.splitlines())  # fmt: skip


@pytest.mark.slow
@every_page
def test_every_command_works(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that are not marked run without any log, also where there are some."""
    data = os.environ.get("HARNESS_DATA", "")
    make_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in commands(page):
        if NEEDS_A_LOG.search(command) and not data:
            continue
        monkeypatch.setenv("HARNESS_DATA", data if NEEDS_A_LOG.search(command) else "")
        fewer = ["--examples", "2"] if command.startswith("plugin check") else []  # the checks are tested elsewhere
        monkeypatch.setattr(sys, "argv", ["harness", *shlex.split(command, comments=True), *fewer])
        harness.cli.main()  # ends without SystemExit when all is well
        assert any(text.strip() for text in capsys.readouterr()), command


@every_page
def test_every_link_within_the_repository_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"(?ms)^```.*?^```$", "", PAGES[page])):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_the_tutorial_ends_with_a_verdict_on_its_three_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which of three, and how sure: with fewer variations than the tutorial has, and fewer jobs."""
    page = ".docs/tutorial.md"
    make_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    [example] = [command for command in commands(page) if command.startswith("data example")]
    [verdict] = [command for command in commands(page) if re.fullmatch(r"tournament \S+ --resample 20", command)]
    for command in (f"{example} --jobs 400", verdict.replace("20", "6")):
        monkeypatch.setattr(sys, "argv", ["harness", *shlex.split(command)])
        harness.cli.main()
    said = capsys.readouterr().out
    assert re.search(
        r"^(fcfs|wfp3|spf) (is best|ranks first) by mean bounded slowdown .* over 7 variations", said, re.MULTILINE
    )
    assert len(re.findall(r"^ +\d +(?:fcfs|wfp3|spf) ", said, re.MULTILINE)) == 3
