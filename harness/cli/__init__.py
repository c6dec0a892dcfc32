"""The command line: `harness COMMAND …`. Each command lives in a file of its own name."""

import sys
import traceback
from typing import Annotated, Any

import typer

from harness import __version__
from harness.cli import adequacy, bench, check, data, identify, listing, plugin, report, run, theory, tournament
from harness.errors import HarnessError

app = typer.Typer(
    name="harness",
    help="Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(epilog="--debug, anywhere, shows where an error was raised.")
def _about(
    version: Annotated[bool, typer.Option("--version", help="say which version this is")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


app.command("run")(run.run)
app.command("adequacy")(adequacy.adequacy)
app.command("identify")(identify.identify)
app.command("tournament")(tournament.tournament)
app.command("report")(report.report)
app.command("check")(check.check)
app.command("list")(listing.list_names)
app.command("bench")(bench.bench)
app.add_typer(data.app, name="data")
app.add_typer(plugin.app, name="plugin")
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
        if isinstance(status, int) and status != 0:
            if status == INTERRUPTED:
                print("harness: interrupted", file=sys.stderr)
            sys.exit(status)
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        sentence = _sentence(error)
        if debug:
            traceback.print_exc()
        elif sentence is None:  # our mistake, not a user's or a policy's: show all of it
            raise
        if sentence:
            print(f"harness: {' '.join(sentence.split())}", file=sys.stderr)
        sys.exit(1 if sentence is None else 2)


def _sentence(error: Exception) -> str | None:
    """What to tell the user about `error`: empty if all is said already, None if it is not the user's to mend."""
    if isinstance(error, HarnessError):
        return str(error)
    if isinstance(error, _USAGE_ERROR):
        return _about_the_call(error)
    if notes := getattr(error, "__notes__", []):  # a policy raised it
        return f"{type(error).__name__}: {error}, raised {notes[0]}"
    if isinstance(error, MemoryError):  # --procs 99999999999, say
        return "not enough memory: the workload or the platform is too large"
    if isinstance(error, OSError):  # the disk that stdout goes to is full, say
        return str(error)
    return None


def _about_the_call(error: Any) -> str:
    """What is wrong with the call itself: an unknown option, a value of the wrong kind."""
    if type(error).__name__ == "NoArgsIsHelpError":  # it has shown the help
        return ""
    command = f"; see {error.ctx.command_path} --help" if error.ctx else ""
    return f"{error.format_message().rstrip('.')}{command}"
