"""The command line: `harness COMMAND …`. Each command lives in a file of its own name."""

import sys
import traceback
from typing import Any, NoReturn

import typer

from harness.cli import bench, listing, run, theory
from harness.errors import HarnessError

app = typer.Typer(
    name="harness",
    help="Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("list")(listing.list_names)
app.command("bench")(bench.bench)
app.add_typer(theory.app, name="theory")

#: What typer exits with after Ctrl-C.
INTERRUPTED = 130

#: What typer raises about options and commands: BadParameter, which it names publicly, is one kind of it.
_USAGE_ERROR = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line: a mistake of the user's is one sentence and exit status 2; --debug shows where."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        status = app(standalone_mode=False)  # else typer would report mistakes in its own way, on many lines
        if isinstance(status, int):
            if status == INTERRUPTED:
                print("harness: interrupted", file=sys.stderr)
            sys.exit(status)
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stderr.close()
        sys.exit(1)
    except HarnessError as error:
        if debug:
            traceback.print_exc()
        print(f"harness: {_in_one_line(error)}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if isinstance(error, _USAGE_ERROR):
            _refuse(error)
        notes = getattr(error, "__notes__", [])
        if debug or not notes:  # without a note it is our mistake, not a policy's: show all of it
            raise
        print(f"harness: {type(error).__name__}: {_in_one_line(error)}, raised {notes[0]}", file=sys.stderr)
        sys.exit(2)


def _refuse(error: Any) -> NoReturn:
    """Say in one line what is wrong with the call itself: an unknown option, a value of the wrong kind."""
    if type(error).__name__ != "NoArgsIsHelpError":  # that one has shown the help already
        command = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        print(f"harness: {_in_one_line(error.format_message()).rstrip('.')}{command}", file=sys.stderr)
    sys.exit(2)


def _in_one_line(message: object) -> str:
    """The message without its line breaks: what a plugin raises may have several lines."""
    return " ".join(str(message).split())
