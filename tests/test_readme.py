"""What the README shows works: its Python is run, its commands are called, its links lead somewhere."""

import re
import shlex
import sys
from pathlib import Path

import pytest

import harness.cli
from harness.policy.registry import plugins

README = Path(__file__).resolve().parent.parent / "README.md"

if not README.exists():  # an sdist without it, say
    pytest.skip("the README is not here", allow_module_level=True)

TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
#: The commands of each block: later ones may need what earlier ones made.
SESSIONS = [
    [line.removeprefix("$ harness ") for line in block.splitlines() if line.startswith("$ ")]
    for language, block in BLOCKS
    if language == "console"
]


@pytest.fixture
def with_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the README tells to make; they are the blocks that begin `# file: NAME`."""
    for code in PYTHON:
        if named := re.match(r"# file: (\S+)\n", code):
            (tmp_path / named[1]).write_text(code[named.end() :])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_something_to_test() -> None:
    assert len(SESSIONS) > 5
    assert len(PYTHON) > 1


@pytest.mark.parametrize("commands", SESSIONS, ids=lambda commands: commands[0])
def test_every_command_works(
    with_its_files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], commands: list[str]
) -> None:
    for command in commands:
        monkeypatch.setattr(sys, "argv", ["harness", *shlex.split(command)])
        harness.cli.main()  # ends without SystemExit when all is well
        assert any(text.strip() for text in capsys.readouterr())
        if named := re.search(r"--schedule (\S+)", command):
            assert (with_its_files / named[1]).exists()


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.splitlines()[0])
def test_every_python_block_works(with_its_files: Path, capsys: pytest.CaptureFixture[str], code: str) -> None:
    exec(compile(code, str(README), "exec"), {"__name__": "__main__"})


def test_the_environment_is_what_the_code_reads() -> None:
    """No variable is documented that nothing reads, and none is read that is not documented."""
    package = Path(harness.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert set(re.findall(r"`(HARNESS_\w+)`", TEXT)) == set(re.findall(r"environ\S*?\(?\[?\"(HARNESS_\w+)\"", code))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", TEXT))))
def test_every_link_within_the_repository_leads_somewhere(target: str) -> None:
    if "://" not in target:
        assert (README.parent / target).exists()


def test_the_bundled_policies_are_still_what_they_were() -> None:
    """The README's plugin does not take the name of a bundled one."""
    assert "my-wfp3" not in plugins().policies["order_queue"]
