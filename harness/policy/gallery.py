"""The gallery: policies from the literature, each a plugin in one file, which users load by name."""

import ast
from dataclasses import dataclass
from pathlib import Path

from harness.disk import bundled
from harness.errors import HarnessError, did_you_mean


@dataclass(frozen=True)
class Example:
    """One file of the gallery, with the description in its docstring."""

    name: str
    hooks: tuple[str, ...]
    rule: str
    source: str


def examples() -> dict[str, Path]:
    """Return the files of the gallery by name."""
    return {path.stem: path for path in sorted((bundled.folder("plugins") / "examples").glob("*.py"))}


def example_descriptions() -> list[Example]:
    """Return the description of each file of the gallery, without importing it."""
    found = []
    for name, path in examples().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        rule, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
        source = rest.partition("\n\n")[0].removeprefix("Source: ")
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        hooks = [
            one.name
            for one in functions
            if any(ast.unparse(mark).startswith("harness.hookimpl") for mark in one.decorator_list)
        ]
        found.append(Example(name, tuple(hooks), " ".join(rule.split()), " ".join(source.split())))
    return found


def plugin_path(given: str | Path) -> Path:
    """Return the file or folder of a plugin, given by its path or its name in the gallery."""
    path = Path(given)
    if path.exists():
        return path
    known = examples()
    if str(given) in known:
        return known[str(given)]
    raise HarnessError(
        f"--plugins {given}: no such file or folder, nor one of `harness list examples`; "
        f"{did_you_mean(str(given), known)}"
    )
