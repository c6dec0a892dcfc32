"""The command line: `harness COMMAND …`. Each command lives in a file of its own name."""

import sys
import traceback

import typer

from harness.cli import listing, run, theory
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
app.add_typer(theory.app, name="theory")


def main() -> None:
    """Run the command line: a mistake of the user's is one sentence and exit status 2; --debug shows where."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        app()
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stderr.close()
        sys.exit(1)
    except HarnessError as error:
        if debug:
            traceback.print_exc()
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        if debug or not notes:  # without a note it is our mistake, not a policy's: show all of it
            raise
        print(f"harness: {type(error).__name__}: {error}, raised {notes[0]}", file=sys.stderr)
        sys.exit(2)
