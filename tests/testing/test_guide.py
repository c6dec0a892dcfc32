"""The author's guide, plugins/README.md: its plugins are checked, its Python runs, its commands work as printed."""

import re
import shlex
import sys
from pathlib import Path

import pytest

import harness.cli
from harness.disk.bundled import folder
from harness.engine.records import public
from harness.engine.records.docs import RECORDS, fields
from harness.policy.kinds import KINDS
from harness.policy.vocabulary import described
from harness.present.tables import render
from harness.testing import check_policy

GUIDE = folder("plugins") / "README.md"
TEXT = GUIDE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SESSIONS = [
    [line.removeprefix("$ ") for line in code.splitlines()] for language, code in BLOCKS if language == "console"
]

#: The commands that install something: run in an environment of their own.
PACKAGING = next(session for session in SESSIONS if any("pip install" in command for command in session))

CALLED = [session for session in SESSIONS if session is not PACKAGING]


@pytest.fixture
def with_its_files(tmp_path, monkeypatch):
    """A folder with the files that the guide tells to make: the blocks that begin `# file: NAME`."""
    for _, code in BLOCKS:
        if named := re.match(r"# file: (\S+)\n", code):
            (tmp_path / named[1]).write_text(code[named.end() :])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_something_to_test():
    assert len(CALLED) > 5
    assert len(PYTHON) > 5
    assert {language for language, _ in BLOCKS} == {"python", "console", "toml"}
    commands = {command.split()[1] for session in CALLED for command in session}
    assert commands >= {"run", "plugin", "tournament", "check"}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("session", CALLED, ids=lambda session: session[0])
def test_every_command_works(with_its_files, monkeypatch, capsys, session):
    for command in session:
        fewer = ["--examples", "3"] if "plugin check" in command else []  # the checks themselves are tested elsewhere
        monkeypatch.setattr(sys, "argv", [*shlex.split(command), *fewer])
        harness.cli.main()  # ends without SystemExit when all is well
        assert capsys.readouterr().out.strip(), command


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.splitlines()[0])
def test_every_python_block_works(with_its_files, monkeypatch, code):
    exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.part)
def test_the_questions_of_the_guide_are_those_of_the_hooks(kind):
    question = kind.question()
    assert f"\n| `{kind.hook}` | {question[0].lower()}{question[1:]} | `" in TEXT


def test_every_plugin_is_put_to_the_checks_in_the_guide_itself():
    files = re.findall(r"# file: (my_\w+\.py)", TEXT)
    assert len(files) >= 4
    for name in files:
        assert f"--plugins {name}" in TEXT, name


@pytest.mark.slow
def test_the_model_passes_the_checks_like_any_other(with_its_files):
    check_policy("my-model", plugins=["my_model.py"], examples=2)


@pytest.mark.slow
def test_the_tests_of_the_guide_pass(with_its_files, fresh):
    assert "passed" in fresh("pytest -q -p no:cacheprovider test_my_wfp3.py", with_its_files)


@pytest.mark.slow
def test_packaging_works_as_printed(fresh, tmp_path):
    place = tmp_path
    for command in PACKAGING:
        if command.startswith("cd "):
            place = place / command.removeprefix("cd ")
        else:
            fresh(command, place)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", TEXT))))
def test_every_link_leads_somewhere(target):
    assert (GUIDE.parent / target).exists()


# ---------------------------------------------------------------- the records


def shown(what):
    """What stands in the guide as `harness list` prints it."""
    return re.search(rf"<!-- generated: harness list {what} .*?-->\n(.*?)\n<!-- end -->", TEXT, re.DOTALL)[1].strip()


def test_the_functions_of_the_guide_are_those_that_are_listed():
    assert shown("verbs") == render(("function", "what it does", "for"), list(described()), "markdown").strip()


@pytest.mark.parametrize("record", RECORDS)
def test_every_field_of_a_record_is_found_with_the_comment_beside_it(record):
    source = Path(public.__file__).read_text(encoding="utf-8")
    layout = getattr(public, RECORDS[record][0])
    listed = {name: (kind, meaning) for where, name, kind, meaning in fields() if where == record}
    assert list(listed) == list(layout.names)
    for name, (kind, meaning) in listed.items():
        assert kind.split(" ")[0] == ("number" if layout[name].base.kind == "f" else "whole")
        assert not meaning or f"# {meaning}\n" in source
    assert all(meaning for _, meaning in listed.values())
