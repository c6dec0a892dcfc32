"""`harness plugin`: make a new plugin, and check one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import echo

app = typer.Typer(no_args_is_help=True, help="Make a new plugin, and check one.")


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="name of the distribution and of its policy, as in my-policy")],
    hook: Annotated[str, typer.Option(help="the decision of the policy; see `harness list hooks`")] = "order_queue",
    out: Annotated[Path, typer.Option(help="create the distribution in this folder")] = Path("."),
) -> None:
    """Make a distribution with one policy, which can be installed at once and passes its own tests."""
    from harness.policy.template import new_distribution

    folder = new_distribution(name, hook, out)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            echo(path)


@app.command("check")
def check(
    what: Annotated[str, typer.Argument(help="a plugin file, a folder of them, or the name of an installed plugin")],
    examples: Annotated[int, typer.Option(help="generated cases for each check", min=1, max=10**5)] = 30,
) -> None:
    """Run the checks of harness.testing on every policy of a plugin. Exit status 1: one fails."""
    import harness.testing  # noqa: F401 - raises if an optional dependency is missing
    from harness.present.tables import render
    from harness.testing.separate_process import check_plugin

    def show_progress(words: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)

    try:
        results = check_plugin(what, examples, show_progress)
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    rows = [(r.policy, r.hook, f"{r.passed} of {r.of}", f"fails {r.failed}" if r.failed else "passes") for r in results]
    echo(render(("policy", "hook", "checks", "verdict"), rows, "table"))
    failures = [result.why for result in results if result.failed]
    for text in failures:
        echo(f"\n{text}")
    if failures:
        raise typer.Exit(1)
