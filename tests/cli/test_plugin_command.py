"""`harness plugin new` and `harness plugin check`: what they make, what they say, what they refuse."""

import re
import shlex
from pathlib import Path

import pytest
from calling import Call

from harness.disk import bundled
from harness.policy.kinds import KINDS
from harness.policy.registry import Plugins, plugins


@pytest.mark.slow
@pytest.mark.parametrize("hook", KINDS)
def test_a_new_plugin_passes_every_check_at_once(tmp_path: Path, harness_says: Call, hook: str) -> None:
    answer = harness_says("plugin", "new", "my-idea", "--hook", hook, "--out", tmp_path)
    assert answer.status == 0
    source = tmp_path / "my-idea" / "src" / "my_idea" / "__init__.py"
    assert str(source) in answer.out.splitlines()
    assert "my-idea" in Plugins([source]).policies[hook]
    answer = harness_says("plugin", "check", source, "--examples", "2")
    assert answer.status == 0
    assert re.search(rf"my-idea +{hook} +(\d+) of \1 +passes", answer.out)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("hook", KINDS)
def test_a_new_plugin_runs_as_its_readme_says(tmp_path: Path, harness_says: Call, hook: str) -> None:
    harness_says("plugin", "new", "my-idea", "--hook", hook, "--out", tmp_path)
    readme = (tmp_path / "my-idea" / "README.md").read_text(encoding="utf-8")
    command = shlex.split(re.findall(r"^\$ harness (run .*)$", readme, re.MULTILINE)[0])
    answer = harness_says(*command, "--plugins", tmp_path / "my-idea" / "src" / "my_idea" / "__init__.py")
    assert answer.status == 0, answer.err
    assert "my-idea" in answer.out


def test_nothing_is_left_to_fill_in(tmp_path: Path, harness_says: Call) -> None:
    harness_says("plugin", "new", "my-idea", "--out", tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 4
    for path in files:
        unfilled = re.findall(r"\$\w+", path.read_text())
        assert unfilled == [], path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9lives"], "cannot be the name of a plugin"),
        (["My-Policy"], "cannot be the name of a plugin"),
        (["a--b"], "cannot be the name of a plugin"),
        (["../up"], "cannot be the name of a plugin"),
        (["lambda"], "cannot be the name of a plugin"),
        (["random"], "a Python package 'random' already exists"),
        (["harness"], "a Python package 'harness' already exists"),
        (["wfp3"], "there is already a policy 'wfp3' (order_queue)"),
        (["mine", "--hook", "order"], "there is no hook 'order' for policies; did you mean 'order_queue'?"),
        (["mine", "--out", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_names_and_places_that_will_not_do(
    tmp_path: Path, harness_says: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = harness_says("plugin", "new", *arguments)
    assert answer.status == 2
    assert sentence in answer.err
    assert len(answer.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, harness_says: Call) -> None:
    (tmp_path / "mine").mkdir()
    answer = harness_says("plugin", "new", "mine", "--out", tmp_path)
    assert answer.status == 2
    assert "exists already" in answer.err
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


BROKEN = """
import harness

def upside_down(job, clock):
    return -clock.now

@harness.hookimpl
def order_queue():
    return [harness.Order("upside-down", upside_down)]
"""


@pytest.mark.slow
def test_a_broken_plugin_fails_with_an_explanation(tmp_path: Path, harness_says: Call) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    for what in (tmp_path / "broken.py", tmp_path):
        answer = harness_says("plugin", "check", what, "--examples", "10")
        assert answer.status == 1
        assert re.search(r"upside-down +order_queue +\d+ of \d+ +fails varies", answer.out)
        assert "why it matters" in answer.out
        assert "harness run failing.swf" in answer.out


def test_what_runs_as_plain_python_is_told_why(tmp_path: Path, harness_says: Call) -> None:
    text = BROKEN.replace("-clock.now", "eval('0.0') + job.submit").replace("upside-down", "stringy")
    (tmp_path / "stringy.py").write_text(text)
    answer = harness_says("plugin", "check", tmp_path / "stringy.py", "--examples", "2")
    assert answer.status == 0
    assert "stringy runs as plain Python: " in answer.err


@pytest.mark.slow
def test_a_bundled_plugin_is_checked_where_it_is(harness_says: Call) -> None:
    """One of them: tests/plugins/test_conformance.py puts every bundled policy to every check."""
    hook = "set_sleep"
    answer = harness_says("plugin", "check", bundled.folder("plugins") / f"{hook}.py", "--examples", "2")
    assert answer.status == 0, answer.out
    for name in plugins().policies[hook]:
        assert re.search(rf"^{name} +{hook} +(\d+) of \1 +passes", answer.out, re.MULTILINE), name


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("nowhere", "expected a plugin file, a folder of them, or the name of an installed plugin"),
        ("", "offers no policies"),
    ],
)
def test_what_is_no_plugin_is_refused(tmp_path: Path, harness_says: Call, what: str, sentence: str) -> None:
    (tmp_path / "empty.py").write_text("'''Nothing.'''\n")
    answer = harness_says("plugin", "check", tmp_path / what)
    assert answer.status == 2
    assert sentence in answer.err
