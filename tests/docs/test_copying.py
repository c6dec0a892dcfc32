"""What a reader copies from a page works: it installs what can be installed, and needs no log without a mark."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.experiment.field_reading import bundled_fields
from harness.workload.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "CONTRIBUTING.md").exists() or not (ROOT / ".docs").exists():  # an sdist without them, say
    pytest.skip("the pages are not here", allow_module_level=True)

#: Pages with commands to copy. Those of reports/ tell how a published figure was made, and with which logs.
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / ".docs").rglob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("harness", "platforms", "plugins", "plugins/examples", "policies")),
    ROOT / "workloads/README.md",
]
NEEDS_A_LOG = re.compile(r"# .*needs the (?:log|data set)")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
#: What `pip install` may name besides files and folders: packages of PyPI that a page needs.
PUBLISHED = {"scikit-learn"}
#: A checkout, as pages name it: where the reader is, or by its path.
CHECKOUT = r"(?:\.|\./[\w-]+|PATH/TO/CHECKOUT)"

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def called(text: str) -> Iterator[str]:
    """Yield the commands of a page that begin with `harness`."""
    for block in re.findall(r"^```(?:sh|console|yaml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^(?:\$ |- run: )?(harness .*)$", block, re.MULTILINE)


def logs_needed(command: str) -> set[str]:
    """Return the logs of the catalogue that a command needs, also by the name of a bundled field."""
    words = set(re.findall(r"[\w.-]+", command))
    fields = {name: path.read_text(encoding="utf-8") for name, path in bundled_fields().items() if name in words}
    named = words | {word for text in fields.values() for word in re.findall(r"[\w.-]+", text)}
    return named & set(catalogue())


def installed(text: str) -> Iterator[str]:
    """Yield what the `pip install` commands of a page install."""
    for given in re.findall(r"\bpip install ([^`#\n]*)", text):
        words = [word.strip("'\"") for word in given.split() if not word.startswith("-")]
        yield from words[: words.index("&&")] if "&&" in words else words


def can_be_installed(what: str) -> bool:
    """Return whether pip finds what a page names: a checkout, with extras it has, a wheel file or a known package."""
    if what in PUBLISHED or re.fullmatch(r"\S+\.whl(?:\[\w+\])?", what):
        return True
    checkout = re.fullmatch(rf"{CHECKOUT}(?:\[([\w,]+)\])?", what)
    return bool(checkout) and set((checkout[1] or "dev").split(",")) <= set(EXTRAS)


def test_the_rules_can_tell() -> None:
    """They refuse what the pages once named, and commands like it."""
    assert [can_be_installed(what) for what in ("sched-harness", "sched-harness[dask]", ".[desk]", "optuna")] == [
        False
    ] * 4
    assert logs_needed("harness tournament classic --resample 20 --dry-run") >= {"KTH-SP2", "CTC-SP2"}
    assert logs_needed("harness forecast KTH-SP2 --at 9000000") == {"KTH-SP2"}
    assert logs_needed("harness tournament demo --resample 20") == set()
    assert list(installed("- run: pip install sched-harness\n")) == ["sched-harness"]


@every_page
def test_no_page_suggests_an_installation_that_fails(page: Path) -> None:
    """The package is not published: `pip install sched-harness` finds nothing."""
    for what in installed(page.read_text(encoding="utf-8")):
        assert can_be_installed(what), what


@pytest.mark.parametrize("page", sorted((ROOT / "reports").glob("*.md")), ids=lambda page: page.name)
def test_no_report_suggests_an_installation_that_fails(page: Path) -> None:
    test_no_page_suggests_an_installation_that_fails(page)


def test_errors_name_extras_that_there_are() -> None:
    """A harness that is installed, from wherever, lets pip add an extra by the name of its distribution."""
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(harness.__file__).parent.rglob("*.py"))
    named = set(re.findall(r"pip install 'sched-harness\[(\w+)\]'", sources))
    assert len(named) > 4
    assert named <= set(EXTRAS)


@every_page
def test_a_command_that_needs_a_log_is_marked(page: Path) -> None:
    for command in called(page.read_text(encoding="utf-8")):
        if logs_needed(command.partition("#")[0]):
            assert NEEDS_A_LOG.search(command), f"mark it by `# needs the log NAME`, or use generated jobs: {command}"
