"""`harness plugin`: begin a plugin of one's own, and check one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import say

app = typer.Typer(no_args_is_help=True, help="Begin a plugin of your own, and check one.")


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="of the distribution and of its policy, as in my-policy")],
    hook: Annotated[str, typer.Option(help="what the policy decides, see `harness.hooks`")] = "order_queue",
    out: Annotated[Path, typer.Option(help="the folder in which a new one is made")] = Path("."),
) -> None:
    """Make a distribution with one policy: it installs, is found, and passes its own tests at once."""
    from harness.policy.template import new_distribution

    folder = new_distribution(name, hook, out)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            say(path)


@app.command("check")
def check(
    what: Annotated[str, typer.Argument(help="a plugin file, a folder of them, or the name of an installed plugin")],
    examples: Annotated[int, typer.Option(help="made-up cases for every check", min=1, max=10**5)] = 30,
) -> None:
    """Put every policy that a plugin offers to the checks of harness.testing. Exit status 1 if one fails."""
    import harness.testing  # noqa: F401 - says what is missing
    from harness.present.tables import render
    from harness.testing.separate_process import check_plugin

    def tell(what: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)

    try:
        results = check_plugin(what, examples, tell)
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    rows = [(r.policy, r.hook, f"{r.passed} of {r.of}", f"fails {r.failed}" if r.failed else "passes") for r in results]
    say(render(("policy", "hook", "checks", "verdict"), rows, "table"))
    failures = [result.why for result in results if result.failed]
    for text in failures:
        say(f"\n{text}")
    if failures:
        raise typer.Exit(1)
