"""Tests of the boundary to numba: its internals stay in one package, and other versions get the public interface."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import harness
from harness.numba_support.compile_options import TESTED

ROOT = Path(harness.__file__).parent.parent

#: What other packages may import of numba: its public names, and no module but these two.
PUBLIC = {
    "numba": {"TypingError", "config", "from_dtype", "njit", "objmode", "prange", "typeof", "types"},
    "numba.extending": {"overload", "overload_attribute", "overload_method", "register_jitable"},
}


def imports(path):
    """Yield the modules that a file imports, with the names that it takes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or "", {one.name for one in node.names}
        elif isinstance(node, ast.Import):
            yield from ((one.name, set()) for one in node.names)


def beyond_public(path):
    """List the imports of numba and llvmlite in a file that are not public."""
    found = [(module, names) for module, names in imports(path) if module.split(".")[0] in ("numba", "llvmlite")]
    return [(module, names) for module, names in found if module not in PUBLIC or not names <= PUBLIC[module]]


@pytest.mark.parametrize("package", ["harness", "plugins", "reports"])
def test_only_one_package_imports_the_internals_of_numba(package):
    files = [path for path in sorted((ROOT / package).rglob("*.py")) if path.parent.name != "numba_support"]
    assert files
    assert {str(path): found for path in files if (found := beyond_public(path))} == {}


def test_the_package_for_numba_does_not_import_the_engine():
    for path in sorted((ROOT / "harness" / "numba_support").glob("*.py")):
        above = [module for module, _ in imports(path) if module.startswith(("harness.engine", "harness.policy_api"))]
        assert not above, f"{path.name} imports {above}"


def test_the_packages_bound_of_numba_is_the_version_tested():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert f"numba>={TESTED[0]},<{TESTED[1]}" in dependencies


@pytest.mark.slow
def test_the_public_interface_of_another_version_gives_the_same_schedules_and_sentences():
    program = str(Path(__file__).with_name("public_interface_runs.py"))
    found = [
        json.loads(subprocess.run([sys.executable, program, *given], capture_output=True, check=True, text=True).stdout)
        for given in ([], ["99.0"])
    ]
    assert [one.pop("internals") for one in found] == [True, False]
    assert found[0] == found[1]
    assert {"counts", "nodes", "holds", "lacking", "forbidden"} == set(found[0])
