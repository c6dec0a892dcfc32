"""Distributions are installed, found and tested where nothing else of theirs is: in an environment of their own."""

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import harness
from harness.policy import KINDS
from harness.template import new_distribution

pytestmark = pytest.mark.slow

OURS = Path(__file__).with_name("distribution")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of a fresh environment, which sees the harness and what it needs, and nothing that was installed."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    found = folder / "bin" / "python"
    site = subprocess.check_output(
        [found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    ).strip()
    places = [Path(harness.__file__).parent.parent, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    Path(site, "borrowed.pth").write_text("".join(f"{place}\n" for place in places))
    return found


def call(python, *arguments, cwd, status=0):
    """Run it as somebody in that environment does; no variable of ours helps it find anything."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), "-m", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(python, folder, cwd):
    options = ("--disable-pip-version-check", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    call(python, "pip", "install", *options, folder, cwd=cwd)


def test_somebody_elses_distribution_is_installed_found_and_passes(python, tmp_path):
    install(python, OURS, tmp_path)
    assert "aged-area" in call(python, "harness", "list", "orders", cwd=tmp_path)
    scheduler = ("--order", "aged-area(weight=2)", "--start", "patient(limit=1)")
    assert '"aged-area(weight=2)"' in call(
        python, "harness", "run", "lublin(jobs=200)", *scheduler, "--format", "json", cwd=tmp_path
    )
    answer = call(python, "harness", "plugin", "check", "sched-aging", "--examples", "5", cwd=tmp_path)
    assert answer.count("passes") == 2
    assert "passed" in call(python, "pytest", "-q", "-p", "no:cacheprovider", OURS / "tests", cwd=tmp_path)


def test_a_new_distribution_for_each_hook_is_installed_found_and_passes_its_own_tests(python, tmp_path):
    names = {hook: f"fresh-{hook.replace('_', '-')}" for hook in KINDS}
    folders = [new_distribution(name, hook, tmp_path) for hook, name in names.items()]
    for folder in folders:
        install(python, folder, tmp_path)
        (folder / "src").rename(folder / "elsewhere")  # what is tested is what was installed
    listed = call(python, "harness", "list", cwd=tmp_path)
    for name in names.values():
        assert name in listed
        assert "passes" in call(python, "harness", "plugin", "check", name, "--examples", "3", cwd=tmp_path)
    assert "passed" in call(python, "pytest", "-q", *folders, "-p", "no:cacheprovider", cwd=tmp_path)
