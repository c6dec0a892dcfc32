"""What is released has one version, and says so everywhere."""

import importlib.util
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import harness

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / ".ci" / "release.py"

if not SCRIPT.exists():
    pytest.skip("nothing is released from here", allow_module_level=True)


@pytest.fixture
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_script", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of which the change log has a heading for the version."""
    (tmp_path / "harness").mkdir()
    shutil.copy(ROOT / "harness/__init__.py", tmp_path / "harness")
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {harness.__version__} - 2026-11-19\n")
    return tmp_path


def test_packaging_reads_the_version_where_python_does(release: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "harness/__init__.py"
    assert release.version(ROOT) == harness.__version__


def test_one_version_is_released(release: ModuleType, checkout: Path) -> None:
    tag = f"v{harness.__version__}"
    assert list(release.disagreements(checkout, [tag])) == []
    assert list(release.disagreements(checkout, ["v9"])) == [f"the tag {tag} is not on this commit (it has v9)"]
    (checkout / "CITATION.cff").write_text("\nversion: 9\n")
    (checkout / "CHANGELOG.md").write_text("## Unreleased\n")
    assert len(list(release.disagreements(checkout, []))) == 3


def test_a_licence_that_is_left_out_is_noticed(release: ModuleType, tmp_path: Path) -> None:
    wheel, sdist = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("METADATA", "RECORD", "entry_points.txt"):
            archive.writestr(f"a-1.dist-info/{name}", "")
    assert release.missing(wheel) == ["licenses/LICENSE"]
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(ROOT / "LICENSE", "a-1/LICENSE")
    assert "LICENSE" not in release.missing(sdist)
    assert "PKG-INFO" in release.missing(sdist)
