"""The gallery: policies of the literature, each a plugin in one file, that nobody has unless they ask for it."""

import ast
from dataclasses import dataclass
from pathlib import Path

from harness.disk import bundled
from harness.errors import HarnessError, did_you_mean


@dataclass(frozen=True)
class Example:
    """One file of the gallery, by what it says about itself."""

    name: str
    hooks: tuple[str, ...]
    rule: str
    source: str


def examples() -> dict[str, Path]:
    """Return the files of the gallery by their names."""
    return {path.stem: path for path in sorted((bundled.folder("plugins") / "examples").glob("*.py"))}


def described_examples() -> list[Example]:
    """Return what each file of the gallery is; none is imported."""
    found = []
    for name, path in examples().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        rule, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
        source = rest.partition("\n\n")[0].removeprefix("Source: ")
        hooks = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _marked(node)]
        found.append(Example(name, tuple(hooks), " ".join(rule.split()), " ".join(source.split())))
    return found


def _marked(function: ast.FunctionDef) -> bool:
    """Return whether a function answers a hook."""
    return any(ast.unparse(mark).startswith("harness.hookimpl") for mark in function.decorator_list)


def plugin_path(given: str | Path) -> Path:
    """Return the file or folder that a user's word for a plugin means: a path, or a name of the gallery."""
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
