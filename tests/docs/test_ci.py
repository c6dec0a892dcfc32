"""CI begins as a new user does: with the README's two commands, word for word."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / ".ci/new-user").exists() or not (ROOT / "README.md").exists():
    pytest.skip("CI does not run from here", allow_module_level=True)

README = (ROOT / "README.md").read_text(encoding="utf-8")


def listed() -> list[str]:
    """Return the commands that `.ci/new-user` runs."""
    return subprocess.check_output([ROOT / ".ci/new-user", "--list"], text=True).splitlines()


def test_the_new_user_runs_the_two_commands_of_the_readme_word_for_word() -> None:
    [section] = re.findall(r"^## Two commands\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    first, *_ = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert listed()[:2] == first.splitlines()
    assert [line.split("  ")[0] for line in first.splitlines()] == ["make demo", "make test"]


def test_then_the_new_user_puts_harness_on_the_path_and_runs_the_next_line() -> None:
    before, after = README.split("\n$ ", 1)
    activated = ". .venv/bin/activate"
    assert f"\n```sh\n{activated}\n```\n" in before
    assert listed()[2:] == [f"{activated} && {after.splitlines()[0]}"]


def test_ci_runs_the_new_user_first_and_all_tests_afterwards() -> None:
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    called = [line for line in lines if re.match(r"\s*(make|\.ci/|harness|apt-get|\{ apt-get|\.venv)", line)]
    assert called[0] == ".ci/new-user"
    assert "make test-all" in called


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "Makefile", ".github/workflows/ci.yml"])
def test_both_commands_for_tests_are_named_wherever_one_is(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "make test-all" in text
    assert re.search(r"make test(?!-)", text)


def test_quick_tests_are_what_make_test_runs() -> None:
    recipes = re.findall(r"^(test(?:-all)?):.*\n\t(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: "--quick" in recipe for name, recipe in recipes} == {"test": True, "test-all": False}
