"""`harness warm-up`: compile before the first run."""

from typing import Annotated

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said


def warm_up(
    names: Annotated[list[str] | None, typer.Argument(help="policies; all there are if none is named")] = None,
    plugins: options.PluginPaths = None,
    format: options.Format = "table",
) -> None:
    """Compile the event loop and policies, and keep what was compiled under HARNESS_CACHE.

    Later runs on such a machine, by the same user, start at once: call it when an image is built, or once on a
    cluster whose nodes are alike and share the folder.
    """
    with compiling_said(), warnings_said():
        from harness.experiment.precompile import warm_up as warmed
        from harness.present.tables import known_format, render

        known_format(format)
        rows = [
            (name, hook, "compiled" if compiled else "plain Python", seconds)
            for name, hook, compiled, seconds in warmed(names or (), plugins or ())
        ]
    say(render(("made ready", "hook", "as", "time"), rows, format, units=("", "", "", "s")))
