"""Gathers the pages of the site from the folders of the repository. MkDocs calls the functions named `on_…`.

No text is kept twice: a page is a Markdown file of the repository, a source file that one of them links to, or is
generated from docstrings (the typed stub says what is public) and from the command line's own help.
"""

import ast
import logging
import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from links import broken_links  # noqa: E402

LOG = logging.getLogger("mkdocs.hooks.gathering")

#: The folder of pages that belong to the site only. All other pages are in the folder of their subject.
HERE = ".docs/"

#: Title of each page in the menu, and its path. The reports are added automatically.
MENU = {
    "Start": {"Overview": "README.md", "Tutorial": ".docs/tutorial.md", "Changes": "CHANGELOG.md"},
    "Guides": {
        "Write a policy": ".docs/guides/policy.md",
        "Replay a Slurm": ".docs/guides/slurm.md",
        "A gate in CI": ".docs/guides/gate.md",
        "Energy": ".docs/guides/energy.md",
        "From today": ".docs/guides/today.md",
        "On a cluster": ".docs/guides/cluster.md",
        "Instants, adequacy, statistics": ".docs/explanation.md",
    },
    "Reference": {
        "Workloads": "workloads/README.md",
        "Platforms": "platforms/README.md",
        "Fields": "policies/README.md",
        "Glossary": ".docs/glossary.md",
        "Commands": "commands.md",
    },
    "Extend": {
        "Writing a plugin": "plugins/README.md",
        "Gallery": "plugins/examples/README.md",
        "Hooks": "api/hooks.md",
        "Testing a policy": "api/testing.md",
    },
    "Python": {},
    "Results": {},
    "Development": {
        "Structure of the code": "harness/README.md",
        "Contributing": "CONTRIBUTING.md",
        "Tests": "tests/README.md",
        "Security": "SECURITY.md",
    },
}

#: Pages of whole modules: the title, and where its docstrings are.
MODULES = {
    "api/hooks.md": ("Hooks", "harness.policy.hooks"),
    "api/testing.md": ("Testing a policy", "harness.testing"),
    "api/theory.md": ("Theory", "harness.theory"),
}

#: How source files that a page links to are shown.
LANGUAGES = {".py": "python", ".pyi": "python", ".toml": "toml", ".yml": "yaml", ".cff": "yaml", ".csv": "text"}

#: A link or picture of Markdown: `](target)` or `](target#anchor)`.
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add every page, and the files that pages link to."""
    from mkdocs.structure.files import File, InclusionLevel

    pages = gathered()
    for name, text in pages.items():
        if not name.startswith(HERE):  # those MkDocs finds by itself
            files.append(File.generated(config, address(name), content=text))
    for target in {target for name, text in pages.items() for target in linked(name, text)} - set(pages):
        path = ROOT / target
        if path.suffix in LANGUAGES or not path.suffix:
            text = f"# {target}\n\n{fence(path.read_text(encoding='utf-8'), LANGUAGES.get(path.suffix, 'text'))}"
            off_menu = InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, f"{target}.md", content=text, inclusion=off_menu))
        else:
            files.append(File.generated(config, target, abs_src_path=str(path)))
    return files


def on_config(config: Any) -> Any:
    """Make the menu."""
    menu = {title: dict(entries) for title, entries in MENU.items()}
    menu["Python"] = {room: f"api/{room}.md" for room in sorted([*public_names(), "theory"])}
    menu["Results"] = {heading(path): path.relative_to(ROOT).as_posix() for path in reports()}
    config.nav = [{title: [{name: address(page)} for name, page in entries.items()]} for title, entries in menu.items()]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace links between files of the repository by links between their pages."""
    here = home(page.file.src_uri)

    def to_page(link: re.Match[str]) -> str:
        target = in_repository(here, link[1])
        if target is None:
            return link[0]
        known = next((uri for uri in (address(target), f"{target}.md") if uri in files.src_uris), None)
        if known is None:
            LOG.warning("%s: the link to %s leads to no page", here, link[1])
            return link[0]
        return f"]({posixpath.relpath(known, posixpath.dirname(page.file.src_uri) or '.')}{link[2] or ''})"

    return LINK.sub(to_page, markdown)


def on_post_build(config: Any) -> None:
    """Report broken links of the finished site, also in docstrings and menus, and resources that a page fetches."""
    for complaint in broken_links(Path(config.site_dir)):
        LOG.warning("%s", complaint)


# ---------------------------------------------------------------- pages


def gathered() -> dict[str, str]:
    """Return the text of every page, by its path in the repository or by a name of its own."""
    named = [page for entries in MENU.values() for page in entries.values()]
    paths = [ROOT / page for page in named if (ROOT / page).exists()] + reports()
    written = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    modules = {
        page: directive(f"# {title}", module, show_root_heading="false") for page, (title, module) in MODULES.items()
    }
    return written | {"commands.md": commands()} | modules | api()


def reports() -> list[Path]:
    """Return the pages of published results, the overview first."""
    return sorted((ROOT / "reports").glob("*.md"), key=lambda path: (path.name != "README.md", path.name))


def commands() -> str:
    """Return the page of all commands, made from their help."""
    import click
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from harness.cli import app

    command = get_command(app)
    name_whole_sentences(command)
    return get_docs_for_click(obj=command, ctx=click.Context(command, info_name="harness"), name="harness")


def name_whole_sentences(group: Any) -> None:
    """Show whole first sentences in the lists of commands, which a terminal would cut."""
    for command in getattr(group, "commands", {}).values():
        command.short_help = " ".join((command.help or "").split("\n\n")[0].split())
        name_whole_sentences(command)


def api() -> dict[str, str]:
    """Return a page for each folder of the package: its public names, and its numbers in a table."""
    import harness

    pages = {}
    for room, names in public_names().items():
        numbers = {name: getattr(harness, name) for name in names}
        numbers = {name: value for name, value in numbers.items() if isinstance(value, int | float)}
        blocks = [
            directive("", where, heading=f"harness.{name}") for name, where in names.items() if name not in numbers
        ]
        if numbers:
            rows = [f"| `harness.{name}` | {value} |" for name, value in numbers.items()]
            blocks += ["## Constants", "", "| name | value |", "|---|---|", *rows]
        pages[f"api/{room}.md"] = "\n".join([f"# Python: {room}", *blocks])
    return pages


def public_names() -> dict[str, dict[str, str]]:
    """Return folder → public name → module of its definition, as in the typed stub."""
    rooms: dict[str, dict[str, str]] = defaultdict(dict)
    for node in ast.parse((ROOT / "harness/__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                where = f"harness.{node.module}.{name.name}"
                if where != "harness.policy.hooks":  # a page of its own
                    rooms[node.module.partition(".")[0]][name.name] = where
    return rooms


def directive(title: str, name: str, **options: Any) -> str:
    """Return the block that mkdocstrings replaces by the documentation of `name`."""
    lines = [
        f"      {key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in options.items()
    ]
    return "\n".join([title, "", f"::: {name}", "    options:", *lines, ""])


def fence(text: str, language: str) -> str:
    """Return a source file as a block of code, also if it contains fences."""
    return f"~~~~~~{language}\n{text}\n~~~~~~\n"


# ---------------------------------------------------------------- links


def address(name: str) -> str:
    """Return the path in MkDocs of the page at `name`. The README of the repository is the first page."""
    return "index.md" if name == "README.md" else name.removeprefix(HERE)


def home(uri: str) -> str:
    """Return the path in the repository of the page that MkDocs has at `uri`."""
    if uri == "index.md":
        return "README.md"
    return HERE + uri if (ROOT / HERE / uri).exists() else uri


def linked(name: str, text: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to."""
    for target, _ in LINK.findall(text):
        if (path := in_repository(name, target)) is not None:
            yield path


def in_repository(name: str, target: str) -> str | None:
    """Return the target of a link of the page `name`: a file, or the README of a folder; None for other targets."""
    if "://" in target or target.startswith("mailto:"):
        return None
    path = ROOT / posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if path.is_dir():
        path = path / "README.md"
    return path.relative_to(ROOT).as_posix() if path.is_file() and path.is_relative_to(ROOT) else None


def heading(path: Path) -> str:
    """Return the title of a page."""
    first = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return first.removeprefix("# ")
