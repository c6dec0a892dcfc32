"""An environment of their own for what is installed, and what is not ours to collect."""

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import harness

collect_ignore = ["distribution"]  # its tests run where it is installed, see test_distribution.py

COMMANDS = {"harness": "harness.cli", "pytest": "pytest"}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Run a shell command in a fresh environment, which sees the harness and what it needs, and nothing else of ours.

    pip is told to take what is there instead of asking a registry.
    """
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.check_output(ask, text=True).strip())
    places = [Path(harness.__file__).parent.parent, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (site / "borrowed.pth").write_text("".join(f"{place}\n" for place in places))
    for name, module in COMMANDS.items():
        script = folder / "bin" / name
        script.write_text(f"#!{python}\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
        script.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}

    def run(command, cwd):
        done = subprocess.run(
            command, shell=True, cwd=cwd, capture_output=True, text=True, timeout=300, env=environment
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
