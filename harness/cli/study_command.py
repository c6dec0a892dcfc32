"""Commands that are scripts of the folder `reports`, where each lies beside the page it makes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import typer

from harness.cli.examples import examples
from harness.disk.bundled import folder

#: What shows the help of a command, and of a script that is run by hand.
HELP = {"help_option_names": ["-h", "--help"]}

#: Every argument is the script's, --help too.
PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def study(script: str, name: str) -> Callable[[typer.Context], None]:
    """Return the command of that name, which hands its arguments to the command `app` of a script."""

    def command(context: typer.Context) -> None:
        with _beside():
            app = import_module(script).app
            app.registered_commands[0].epilog = examples(name)
            status = app(context.args, prog_name=context.command_path, standalone_mode=False, **HELP)
        if status:
            raise typer.Exit(status)

    return command


def load(script: str) -> ModuleType:
    """Import a script, which may import those beside it."""
    with _beside():
        return import_module(script)


@contextmanager
def _beside() -> Iterator[None]:
    """Let the scripts of the folder be imported, at any time in the block, and leave nothing behind there."""
    path, written = str(folder("reports")), sys.dont_write_bytecode
    sys.path.insert(0, path)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        sys.path.remove(path)
