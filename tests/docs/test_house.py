"""What the pages about the house say of it is so: paths, rooms, the instant, commands, the catalogue."""

import ast
import dataclasses
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer.main

import harness
import harness.cli
from harness.engine import loop
from harness.workload.catalogue import Trace, catalogue

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "CONTRIBUTING.md").exists():  # an sdist without it, say
    pytest.skip("the pages are not here", allow_module_level=True)

PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in (
        "README.md", "CONTRIBUTING.md", "SECURITY.md", "harness/README.md", "workloads/README.md", "plugins/README.md",
        "plugins/examples/README.md", ".docs/tutorial.md", ".docs/explanation.md",
        *(f".docs/guides/{name}.md" for name in ("policy", "slurm", "gate", "energy", "today", "cluster")),
    )
}  # fmt: skip
HOUSE, GUIDE = PAGES["harness/README.md"], PAGES["CONTRIBUTING.md"]

#: Paths as pages name them, from the root of the repository.
PATHS = sorted(
    set(re.findall(r"`((?:harness|tests|plugins|policies|platforms|workloads|reports)/[\w./-]*)`", HOUSE + GUIDE))
)

every_page = pytest.mark.parametrize("page", PAGES)


def section(page: str, title: str) -> str:
    """The text below a heading."""
    return re.split(r"^## ", page.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(page: str, title: str) -> list[str]:
    """The first cells of the table below a heading, without their marks; the head is left out."""
    return [cell.strip("`* ") for cell in re.findall(r"^\| ([^|]+) \|", section(page, title), flags=re.MULTILINE)][1:]


@pytest.mark.parametrize("path", PATHS)
def test_every_path_that_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_path_of_the_scripts_is_there() -> None:
    """Of CI, of the documentation and of make: nobody notices a test that is no longer run."""
    for script in (".ci/run", "mkdocs.yml", "Makefile"):
        text = (ROOT / script).read_text(encoding="utf-8")
        named = re.findall(r"(?<![\w./\"])((?:tests|reports|\.docs|harness)/[\w./-]+\w)", text)
        assert [path for path in named if not (ROOT / path).exists()] == [], script


def _modules() -> list[Path]:
    return [path for room in ("harness", "plugins", "reports") for path in sorted((ROOT / room).rglob("*.py"))]


def test_no_module_is_too_long_to_read() -> None:
    """350 lines, but for a study that says why."""
    studies = {"service_rate.py"}  # figures of one paper, read top to bottom beside it
    long = {path.name for path in _modules() if len(path.read_text(encoding="utf-8").splitlines()) > 350}
    assert long <= studies


def test_every_module_has_a_name_of_its_own() -> None:
    names = [path.name for path in _modules() if path.name not in ("__init__.py", "__main__.py")]
    named_alike = {name for name in names if names.count(name) > 1}
    assert named_alike == set()


def test_the_map_has_the_rooms_of_the_contract_in_their_order() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [f"harness/{room}/" for layer in contract["layers"] for room in layer.split(" : ")]
    assert [*first_column(HOUSE, "The rooms"), "harness/errors/"] == layers


def test_every_folder_of_the_package_has_its_tests() -> None:
    """The page on the tests has a row for each folder, and all its paths exist."""
    page = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    folders = {f"harness/{path.name}/" for path in (ROOT / "harness").iterdir() if (path / "__init__.py").exists()}
    code = set(first_column(page, "Which tests belong to which code"))
    assert folders <= code
    named = set(re.findall(r"`((?:harness|tests|plugins|reports)/[\w./*-]*)`", page))
    assert {path for path in named if not list(ROOT.glob(path.rstrip("/")))} == set()


def test_no_test_imports_another_test_file() -> None:
    """Shared code of tests is in `tests/shared/`, or in a module of the folder that is no test."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name) for name in names if name.rpartition(".")[2].startswith("test_")]
    assert found == []


def calls(source: str) -> list[str]:
    """The functions that a piece of code calls by name, from top to bottom."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [node.func.id for node in sorted(found, key=lambda node: node.lineno) if isinstance(node.func, ast.Name)]


def test_the_life_of_an_instant_is_what_the_loop_does() -> None:
    """A loop without features: what others add is left out."""
    steps = re.findall(r"^\| \d+ \| `(\w+)` \|", section(HOUSE, "The life of an instant"), flags=re.MULTILINE)
    made = ast.parse(inspect.getsource(loop.make_loop))
    instants = ast.unparse(next(node for node in ast.walk(made) if isinstance(node, ast.For)))
    inside = {
        "apply_events": [one.apply.__name__ for one in loop.SOURCES if one.apply and not one.needs],
        "decide": ["ask_start"],
        "finish_instant": calls(ast.unparse(ast.parse(inspect.getsource(loop.finish_instant)))),
        "forget_departed": [],
    }
    called = [step for name in calls(instants) for step in inside.get(name, [name])]
    assert [name for name in called if name not in ("range", "full", "close", "len")] == steps


def test_the_ten_changes_are_ten_on_both_pages() -> None:
    assert first_column(HOUSE, "Where a change is made") == first_column(GUIDE, "The ten changes")
    assert len(first_column(GUIDE, "The ten changes")) == 10


def test_every_word_of_make_that_is_named_can_be_made() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    workflows = [path.read_text() for path in (ROOT / ".github").rglob("*.yml")]
    named = set(re.findall(r"(?:`|run: |^)make ([\w-]+)", "\n".join([*PAGES.values(), *workflows]), flags=re.MULTILINE))
    assert {"test", "test-all", "lint", "docs"} <= named <= targets


@every_page
def test_every_command_that_is_named_is_one(page: str) -> None:
    """Down to the subcommand, with options that it has."""
    for line in re.findall(r"(?:`|^\$ |^|/)(harness (?:[a-z]+ ?)[^`\n]*)", PAGES[page], flags=re.MULTILINE):
        words = shlex.split(line.partition("  #")[0].partition(" …")[0])
        command = typer.main.get_command(harness.cli.app)
        for word in words[1:]:
            if hasattr(command, "commands") and not word.startswith("--"):
                assert word in command.commands, line
                command = command.commands[word]
        known = {name for parameter in command.params for name in parameter.opts} | {"--help", "--debug"}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize("code", sorted(set(re.findall(r'`python -c "([^`]+)"`', "".join(PAGES.values())))))
def test_what_is_said_to_python_works_at_once(code: str) -> None:
    """In a process that has imported nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_what_is_cited_is_this_version() -> None:
    assert f"\nversion: {harness.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_key_of_the_catalogue_is_explained() -> None:
    keys = {field.name for field in dataclasses.fields(Trace)} - {"name"} | {"[NAME]"}
    assert set(first_column(PAGES["workloads/README.md"], "The catalogue")) == keys
    assert catalogue()


def test_the_reader_that_is_shown_reads(tmp_path: Path) -> None:
    code = re.findall(r"^```python\n# file: (\S+)\n(.*?)^```$", PAGES["workloads/README.md"], flags=re.M | re.S)
    [(name, text)] = code
    (tmp_path / name).write_text(text)
    (tmp_path / "night.acct").write_text("0;60;4\n10;30;2\n")
    log = harness.read_workload(tmp_path / "night.acct", plugins=[tmp_path / name])
    assert log.jobs[["submit", "run", "procs"]].to_numpy().tolist() == [[0, 60, 4], [10, 30, 2]]
