"""Where plugins come from: installed distributions, paths, objects given from Python."""

import os
import subprocess
import sys

import pytest

import harness
from harness.policy.registry import plugins

MODULE = """
import harness

def oldest(job, clock):
    '''The oldest first.'''
    return job.submit

@harness.hookimpl
def order_queue():
    return [harness.Order("oldest", oldest)]
"""


@pytest.fixture
def installed(tmp_path):
    """A folder that looks like an installed distribution with an entry point, as pip would leave it."""
    (tmp_path / "stranger.py").write_text(MODULE)
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[harness]\nstranger = stranger\n")
    return tmp_path


def command(folder, *arguments):
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_an_installed_distribution_is_found_by_its_entry_point(installed):
    done = command(installed, "list", "orders", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert "oldest,,The oldest first." in done.stdout
    done = command(installed, "run", "lublin(jobs=50)", "--order", "oldest", "--format", "csv")
    assert done.returncode == 0, done.stderr


def test_a_broken_distribution_is_named(installed):
    (installed / "stranger.py").write_text("import no_such_module\n")
    done = command(installed, "list", "orders")
    assert done.returncode == 2
    assert done.stderr.startswith("harness: the entry point 'stranger' fails: ModuleNotFoundError")
    assert done.stderr.count("\n") == 1


def test_registered_policies_are_found_until_they_are_taken_back():
    def longest_name(job, clock):
        return -job.estimate

    policy = harness.Order("by-registration", longest_name)
    harness.register(policy)
    try:
        assert plugins().policies["order_queue"]["by-registration"] is policy
    finally:
        harness.unregister(policy)
    assert "by-registration" not in plugins().policies["order_queue"]


def test_a_folder_of_plugins_is_found_file_by_file(tmp_path):
    (tmp_path / "one.py").write_text(MODULE)
    (tmp_path / "two.py").write_text(MODULE.replace("oldest", "eldest"))
    (tmp_path / "_three.py").write_text("raise RuntimeError('not a plugin: its name begins with an underscore')")
    found = plugins(str(tmp_path)).policies["order_queue"]
    assert {"oldest", "eldest", "fcfs"} <= set(found)


MEASURES = """
import harness

def {name}(schedule):
    '''The longest job.'''
    return {value}

@harness.hookimpl
def score_schedule():
    return [harness.Measure("{name}", "s", "less", "max run", {name})]
"""


def measured(tmp_path, name, value):
    path = tmp_path / "measures.py"
    path.write_text(MEASURES.format(name=name, value=value))
    return command(tmp_path, "run", "lublin(jobs=50)", "--plugins", str(path), "--format", "csv")


def test_measures_of_plugins_are_shown_with_the_others(tmp_path):
    done = measured(tmp_path, "longest", 'schedule.frame["run"].max()')
    assert done.returncode == 0, done.stderr
    assert "\nlongest," in done.stdout
    listed = command(tmp_path, "list", "measures", "--plugins", str(tmp_path / "measures.py"), "--format", "csv")
    assert "longest,s,less,max run,The longest job." in listed.stdout


@pytest.mark.parametrize(
    ("name", "value", "word"), [("mean_wait", "0.0", "taken"), ("broken", "1 / 0", "in the measure")]
)
def test_measures_that_cannot_be_are_refused(tmp_path, name, value, word):
    done = measured(tmp_path, name, value)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


READER = """
import harness

@harness.hookimpl
def read_workload(source, lenient):
    return {answer}

@harness.hookimpl
def read_platform(source):
    return {answer}
"""


@pytest.mark.parametrize("answer", ["3", "'x'", "[]", "1.5", "object()"])
def test_a_reader_that_returns_something_else_is_named_in_a_sentence(tmp_path, answer):
    (tmp_path / "reader.py").write_text(READER.format(answer=answer))
    for read, kind in ((harness.read_workload, "Log"), (harness.read_platform, "Platform")):
        with pytest.raises(harness.HarnessError, match=rf"mine: {read.__name__} returned .* harness\.{kind} or None"):
            read("mine", plugins=[tmp_path / "reader.py"])


def test_what_a_reader_raises_tells_what_it_read(tmp_path):
    (tmp_path / "reader.py").write_text(READER.format(answer="1 / 0"))
    for read, what in ((harness.read_workload, "workload"), (harness.read_platform, "platform")):
        with pytest.raises(ZeroDivisionError) as raised:
            read("mine", plugins=[tmp_path / "reader.py"])
        assert raised.value.__notes__ == [f"while a plugin read the {what} mine"]
