"""The command line: `harness COMMAND …`. Each command lives in a file of its own name."""

import io
import os
import sys
import traceback
from typing import Annotated, Any

import typer

from harness import __version__
from harness.cli import (
    adequacy_command,
    check_command,
    compare_command,
    data_command,
    execute_command,
    forecast_command,
    identify_command,
    list_command,
    plugin_command,
    report_command,
    run_command,
    theory_command,
    tournament_command,
    tune_command,
    verify_command,
    warm_up_command,
)
from harness.cli.console import reader_may_go, say
from harness.cli.examples import examples, with_examples
from harness.cli.interrupt import INTERRUPTED, ended_by_interrupt, ended_by_nobody_else
from harness.cli.study_command import HELP, PASSED_ON, study
from harness.errors import HarnessError, brief

app = typer.Typer(
    name="harness",
    help="Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.",
    no_args_is_help=True,
    invoke_without_command=True,
    context_settings=dict(HELP),
    pretty_exceptions_enable=False,
)


@app.callback(epilog=f"{examples('')}\n\n--debug, anywhere, shows where an error was raised.")
def _about(
    version: Annotated[bool, typer.Option("--version", help="say which version this is")] = False,
) -> None:
    if version:
        say(__version__)
        raise typer.Exit


app.command("run")(run_command.run)
app.command("compare")(compare_command.compare)
app.command("forecast")(forecast_command.forecast)
app.command("adequacy")(adequacy_command.adequacy)
app.command("identify")(identify_command.identify)
app.command("execute")(execute_command.execute)
app.command("tournament")(tournament_command.tournament)
app.command("tune")(tune_command.tune)
app.command("report")(report_command.report)
app.command("check")(check_command.check)
app.command("verify")(verify_command.verify)
app.command("list")(list_command.list_names)
app.command("warm-up")(warm_up_command.warm_up)
app.command(
    "bench",
    help="Measure the engine beside a bare loop without plugins; or tournaments on threads.",
    add_help_option=False,
    context_settings=PASSED_ON,
)(study("bench", "bench"))
app.add_typer(data_command.app, name="data")
app.add_typer(plugin_command.app, name="plugin")
app.add_typer(theory_command.app, name="theory")
with_examples(app)

#: What typer raises about options and commands: BadParameter, which it names publicly, is one kind of it.
_USAGE_ERROR = typer.BadParameter.__mro__[1]


def main(commands: typer.Typer | None = None) -> None:
    """Run a command line: a mistake of the user's is one sentence and exit status 2; --debug shows where."""
    _allow_any_terminal()
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        with reader_may_go(), ended_by_interrupt(), ended_by_nobody_else():
            # Else typer would report mistakes in its own way, on many lines.
            status = (commands or app)(standalone_mode=False, **HELP)
        if status == INTERRUPTED:  # as typer says it
            raise KeyboardInterrupt
        if isinstance(status, int) and status != 0:
            sys.exit(status)
    except KeyboardInterrupt:  # typer's own, or one that came before typer was ready for it
        say("harness: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        sentence = _sentence(error)
        if debug:
            traceback.print_exc()
        elif sentence is None:  # our mistake, not a user's or a policy's: show all of it
            raise
        if sentence:
            say(f"harness: {brief(sentence)}", file=sys.stderr)
        sys.exit(1 if sentence is None else 2)


def _allow_any_terminal() -> None:
    """Print question marks where a terminal lacks our letters, and go on where stdout or stderr is closed."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # as after `>&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _sentence(error: Exception) -> str | None:
    """Return what to tell the user about `error`: empty if all is said already, None if it is ours to mend."""
    if isinstance(error, HarnessError):
        return str(error)
    if isinstance(error, _USAGE_ERROR):
        return _about_the_call(error)
    if isinstance(error, MemoryError):  # --procs 99999999999, say
        return "not enough memory: the workload or the platform is too large"
    if notes := getattr(error, "__notes__", []):  # a policy raised it
        return f"{type(error).__name__}: {error}, raised {notes[0]}"
    if isinstance(error, OSError):  # the disk that stdout goes to is full, say
        return f"{error.filename or 'the output'}: {error.strerror}" if error.strerror else str(error)
    return None


def _about_the_call(error: Any) -> str:
    """Return what is wrong with the call itself: an unknown option, a value of the wrong kind."""
    if type(error).__name__ == "NoArgsIsHelpError":  # it has shown the help
        return ""
    command = f"; see {error.ctx.command_path} --help" if error.ctx else ""
    return f"{error.format_message().rstrip('.')}{command}"
