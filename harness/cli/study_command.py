"""Commands that run a script of the folder `reports`. Each script makes the page of the same name."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import typer

from harness.cli.examples import add_examples
from harness.disk.bundled import folder

#: The options that print the help of a command.
HELP = {"help_option_names": ["-h", "--help"]}

#: Settings of a command that passes all its arguments to a script, also --help.
PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def study(script: str, name: str) -> Callable[[typer.Context], None]:
    """Return a command that passes its arguments to the command `app` of a script."""

    def command(context: typer.Context) -> None:
        with _importable_folder():
            app = import_module(script).app
            add_examples(app.registered_commands[0], name)
            status = app(context.args, prog_name=context.command_path, standalone_mode=False, **HELP)
        if status:
            raise typer.Exit(status)

    return command


def load(script: str) -> ModuleType:
    """Import a script of the folder `reports`. It may import other scripts there."""
    with _importable_folder():
        return import_module(script)


@contextmanager
def _importable_folder() -> Iterator[None]:
    """Make the scripts of `reports` importable in the block, and write no bytecode there."""
    path, written = str(folder("reports")), sys.dont_write_bytecode
    sys.path.insert(0, path)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        sys.path.remove(path)
