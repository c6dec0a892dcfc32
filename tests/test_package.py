"""What is built for installation: everything the harness needs, and no name but `harness`."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from harness.disk.bundled import FOLDERS

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.slow


def built(kind: str, place: Path) -> Path:
    """Build a wheel or an sdist of this checkout into `place`, as pip does."""
    pytest.importorskip("hatchling")
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("not in a checkout")
    code = f"import sys, hatchling.build\nprint(hatchling.build.build_{kind}(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return place / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with zipfile.ZipFile(built("wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with tarfile.open(built("sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def files_below(folder: Path) -> set[str]:
    """The files that belong to the project, by their path from the root."""
    names = (path.relative_to(ROOT) for path in folder.rglob("*") if path.is_file())
    return {name.as_posix() for name in names if not any(part.startswith((".", "__pycache__")) for part in name.parts)}


def test_the_wheel_installs_no_name_but_harness(wheel: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"harness"}


def test_the_wheel_holds_the_whole_package(wheel: list[str]) -> None:
    assert files_below(ROOT / "harness") - set(wheel) == set()
    assert "harness/py.typed" in wheel


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_wheel_carries_the_folders_of_the_house(wheel: list[str], folder: str) -> None:
    expected = {f"harness/bundled_data/{name}" for name in files_below(ROOT / folder)}
    assert expected, f"{folder}/ is empty: git would drop it, and the wheel could not be built"
    assert expected - set(wheel) == set()


def test_the_wheel_carries_nothing_compiled(wheel: list[str]) -> None:
    assert [name for name in wheel if "__pycache__" in name or name.endswith((".pyc", ".nbi", ".nbc"))] == []


def test_the_sdist_can_test_itself(sdist: list[str]) -> None:
    for name in ("tests", "harness", *FOLDERS):
        assert files_below(ROOT / name) - set(sdist) == set(), name
    assert {"Makefile", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"} - set(sdist) == set()
