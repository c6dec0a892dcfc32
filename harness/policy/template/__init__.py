"""Make a new distribution with one policy, from the files in this folder."""

import keyword
import re
import shutil
import sys
import tempfile
from pathlib import Path
from string import Template

from harness import __version__
from harness.errors import HarnessError, did_you_mean
from harness.policy.kinds import KINDS

_HERE = Path(__file__).parent


def new_distribution(name: str, hook: str = "order_queue", out: str | Path = ".") -> Path:
    """Write a distribution called `name` with one policy of that name into a new folder of `out`, and return the
    folder.

    It installs with pip, has an entry point for the harness, and passes its own tests. Nothing is written if the name
    or the place is invalid.
    """
    if hook not in KINDS:
        raise HarnessError(f"there is no hook {hook!r} for policies; {did_you_mean(hook, KINDS)}")
    kind, package = KINDS[hook], _package(name)
    _refuse_taken(name, hook)
    parent = Path(out)
    folder = parent / name
    if not parent.is_dir():
        raise HarnessError(f"{out}: no such folder")
    if folder.exists():
        raise HarnessError(f"{folder} exists already: expected the name of a new folder")
    words = {
        "name": name,
        "package": package,
        "function": package,
        "class": "".join(part.capitalize() for part in package.split("_")),
        "hook": hook,
        "part": kind.part,
        "listed": kind.plural,
        "question": kind.question(),
        "platform": " --platform synthetic-11" if hook in ("set_sleep", "account_energy") else "",
        "version": __version__,
    }
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{hook}.py": f"src/{package}/__init__.py",
        "test_policy.py": f"tests/test_{package}.py",
    }
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".new-") as scratch:
            for source, target in files.items():
                path = Path(scratch) / name / target
                path.parent.mkdir(parents=True, exist_ok=True)
                text = Template((_HERE / f"{source}.in").read_text(encoding="utf-8")).substitute(words)
                path.write_text(text, encoding="utf-8")
            shutil.move(Path(scratch) / name, folder)
    except OSError as error:
        raise HarnessError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder


def _package(name: str) -> str:
    """Return the import name; refuse a name that is not valid for a distribution, a package and a policy."""
    package = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z][a-z0-9]*)*", name) or keyword.iskeyword(package):
        raise HarnessError(
            f"{name!r} cannot be the name of a plugin: expected small letters and digits, with single hyphens before "
            "letters, as in my-policy"
        )
    if package in sys.stdlib_module_names or package in ("harness", "tests", "numpy", "numba"):
        raise HarnessError(f"{name!r} cannot be the name of a plugin: a Python package {package!r} already exists")
    return package


def _refuse_taken(name: str, hook: str) -> None:
    from harness.policy.registry import plugins

    if name in plugins().policies[hook]:
        raise HarnessError(f"there is already a policy {name!r} ({hook}): expected another name")
