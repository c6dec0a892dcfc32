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
#: The commands of each block, with what is shown of their answers: later ones may need what earlier ones made.
SESSIONS = [
    re.findall(r"^\$ harness (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)
    for language, block in BLOCKS
    if language == "console"
]


@pytest.fixture
def with_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the README tells to make, the blocks that begin `# file: NAME`. No log is there."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    for code in PYTHON:
        if named := re.match(r"# file: (\S+)\n", code):
            (tmp_path / named[1]).write_text(code[named.end() :])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_something_to_test() -> None:
    assert len(SESSIONS) > 5
    assert len(PYTHON) > 1
    assert len([shown for session in SESSIONS for _, shown in session if shown.strip()]) > 5


def test_the_five_questions_have_answers() -> None:
    """Each shows what a command really said."""
    for number in range(1, 6):
        [section] = re.findall(rf"^### {number}\. (.*?)^##", TEXT, flags=re.MULTILINE | re.DOTALL)
        assert re.search(r"^\$ harness .*\n(?!\$ |```)", section, re.MULTILINE), section.splitlines()[0]


@pytest.mark.slow
def test_the_picture_at_the_top_is_what_its_script_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = README.parent / "reports"
    assert "](reports/demo-answer.svg)" in TEXT
    monkeypatch.syspath_prepend(str(reports))
    from demo_answer import picture

    assert picture(tmp_path / "demo") == (reports / "demo-answer.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session[0][0])
def test_every_command_works_and_says_what_is_shown(
    with_its_files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    session: list[tuple[str, str]],
) -> None:
    for command, shown in session:
        monkeypatch.setattr(sys, "argv", ["harness", *shlex.split(command)])
        harness.cli.main()  # ends without SystemExit when all is well
        said = capsys.readouterr()
        assert any(text.strip() for text in said)
        rest = " ".join(said.out.split())
        for piece in re.split(r"^…$", shown, flags=re.MULTILINE):  # in this order, whatever lies between them
            words = " ".join(piece.split())
            assert words in rest, command
            rest = rest[rest.index(words) + len(words) :]
        if named := re.search(r"--schedule (\S+)", command):
            assert (with_its_files / named[1]).exists()


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.splitlines()[0])
def test_every_python_block_works(with_its_files: Path, capsys: pytest.CaptureFixture[str], code: str) -> None:
    exec(compile(code, str(README), "exec"), {"__name__": "__main__"})


def test_the_environment_is_what_the_code_reads() -> None:
    """No variable is documented that nothing reads, and none is read that is not documented."""
    package = Path(harness.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert set(re.findall(r"`(HARNESS_\w+)`", TEXT)) == set(re.findall(r"\"(HARNESS_\w+)\"", code))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", TEXT))))
def test_every_link_within_the_repository_leads_somewhere(target: str) -> None:
    if "://" not in target:
        assert (README.parent / target).exists()


def test_the_bundled_policies_are_still_what_they_were() -> None:
    """The README's plugin does not take the name of a bundled one."""
    assert "my-wfp3" not in plugins().policies["order_queue"]
