"""`harness plugin`: begin a plugin of one's own, and check one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.policy import Policy

app = typer.Typer(no_args_is_help=True, help="Begin a plugin of your own, and check one.")


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="of the distribution and of its policy, as in my-policy")],
    hook: Annotated[str, typer.Option(help="what the policy decides, see `harness.hooks`")] = "order_queue",
    out: Annotated[Path, typer.Option(help="the folder in which a new one is made")] = Path("."),
) -> None:
    """Make a distribution with one policy: it installs, is found, and passes its own tests at once."""
    from harness.template import new_distribution

    folder = new_distribution(name, hook, out)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            print(path)


@app.command("check")
def check(
    what: Annotated[str, typer.Argument(help="a plugin file, a folder of them, or the name of an installed plugin")],
    examples: Annotated[int, typer.Option(help="made-up cases for every check", min=1)] = 30,
) -> None:
    """Put every policy that a plugin offers to the checks of harness.testing. Exit status 1 if one fails."""
    from harness.report.tables import render
    from harness.testing.offered import offered

    plugins, policies = offered(what)
    rows, failures = [], []
    for policy in policies:
        passed, failure = _checked(policy, plugins, examples)
        rows.append((policy.name, policy.hook, passed, "fails " + failure[0] if failure else "passes"))
        failures += [failure[1]] if failure else []
    print(render(("policy", "hook", "checks", "verdict"), rows, "table"))
    for text in failures:
        print(f"\n{text}")
    if failures:
        raise typer.Exit(1)


def _checked(policy: "Policy", plugins: tuple[str, ...], examples: int) -> tuple[str, tuple[str, str] | None]:
    """How many checks it passed of how many, and which it failed with what explanation. Says what is going on."""
    import sys

    from harness.testing.kit import PolicyFailure, chosen_checks, run_check
    from harness.testing.subject import find

    subject = find(policy.name, policy.hook, plugins)
    if subject.plain:
        print(f"{policy.name} runs as plain Python: {subject.plain}", file=sys.stderr)
    checks = chosen_checks(subject)
    for passed, one in enumerate(checks):
        if sys.stderr.isatty():
            print(f"\r\033[K{policy.name}: {one.name} ({passed + 1} of {len(checks)})", end="", file=sys.stderr)
        try:
            run_check(subject, one, examples)
        except PolicyFailure as failure:
            return f"{passed} of {len(checks)}", (failure.check, str(failure))
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
    return f"{len(checks)} of {len(checks)}", None
