"""`harness warm-up`: compile before the first run."""

from typing import Annotated

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr


def warm_up(
    names: Annotated[list[str] | None, typer.Argument(help="names of policies (default: all)")] = None,
    plugins: options.PluginPaths = None,
    format: options.Format = "table",
) -> None:
    """Compile the event loop and policies, and store the compiled code in the folder HARNESS_CACHE.

    Later runs by the same user on the same kind of machine then start at once. Call it when you build an image, or once
    on a cluster of identical nodes that share the folder.
    """
    with notices_on_stderr():
        from harness.experiment.precompile import warm_up as warmed
        from harness.present.tables import known_format, render

        known_format(format)
        rows = [
            (name, hook, "compiled" if compiled else "plain Python", seconds)
            for name, hook, compiled, seconds in warmed(names or (), plugins or ())
        ]
    echo(render(("compiled", "hook", "as", "time"), rows, format, units=("", "", "", "s")))
