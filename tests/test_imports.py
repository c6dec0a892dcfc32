"""Importing is light, and whatever is public is documented."""

import inspect
import subprocess
import sys

import pytest
from shared.heavy_imports import HEAVY

import harness
from harness.policy import hooks
from harness.results.measures import MEASURES

HOOKS = [name for name in dir(hooks) if hasattr(getattr(hooks, name), "harness_spec")]


@pytest.mark.parametrize(
    "statement", ["import harness", "import harness.cli", "from harness import hookimpl, register"]
)
def test_importing_stays_light(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["run", "--help"], ["list", "--help"], ["check", "--help"], ["data", "--help"], ["theory", "--help"]],
)
def test_asking_for_help_stays_light(arguments: list[str]) -> None:
    code = (
        f"import sys\nsys.argv = ['harness', *{arguments!r}]\nimport harness.cli\n"
        "try:\n    harness.cli.main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.split() == []
    assert "Usage" in done.stdout


def test_every_public_name_is_there() -> None:
    assert [name for name in harness.__all__ if not hasattr(harness, name)] == []
    assert sorted(set(harness.__all__)) == list(harness.__all__)
    assert set(harness.__all__) <= set(dir(harness))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="simulat"):
        harness.simulat  # noqa: B018 - looking it up is the test


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_says_what_it_asks(name: str) -> None:
    words = inspect.getdoc(getattr(hooks, name)) or ""
    assert words.splitlines()[0].endswith(("?", ".")), name
    assert len(words.splitlines()) >= 3, f"{name}: say when it is called, with what, and what it returns"


@pytest.mark.parametrize("name", harness.__all__)
def test_every_public_function_and_class_is_documented(name: str) -> None:
    thing = getattr(harness, name)
    thing = getattr(thing, "py_func", thing)  # what is compiled is documented where it is written
    if inspect.isclass(thing) or inspect.isfunction(thing):
        words = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
        assert words, name
        assert not words.startswith(f"{name}("), f"{name}: a dataclass's own signature is not documentation"


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_documented(name: str) -> None:
    measure = MEASURES[name]
    assert measure.name == name
    assert measure.meaning.endswith("."), name
    assert len(measure.meaning) > 10, name
    assert measure.better in ("more", "less", "neither")
