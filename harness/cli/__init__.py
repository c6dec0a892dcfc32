"""The command line: `harness COMMAND …`. Each command has a module of its own."""

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
from harness.cli.console import echo, tolerate_closed_output
from harness.cli.examples import with_examples
from harness.cli.interrupt import INTERRUPTED, exit_on_interrupt, forbid_exit_by_plugins
from harness.cli.study_command import HELP, PASSED_ON, study
from harness.errors import HarnessError, brief

app = typer.Typer(
    name="harness",
    help="Benchmark batch-scheduling policies of supercomputers: every decision is a plugin, at compiled speed.",
    no_args_is_help=True,
    invoke_without_command=True,
    context_settings=dict(HELP),
    pretty_exceptions_enable=False,
)


@app.callback(epilog="--debug, anywhere on the command line, prints where an error was raised.")
def _main_options(version: Annotated[bool, typer.Option("--version", help="print the version")] = False) -> None:
    if version:
        echo(__version__)
        raise typer.Exit


_SIMULATE, _VALIDATE = "Simulate and compare policies", "Compare with real machines"
_INSPECT, _MAINTAIN = "Data, plugins and results", "Validate and speed up the simulator"
app.command("run", rich_help_panel=_SIMULATE)(run_command.run)
app.command("compare", rich_help_panel=_SIMULATE)(compare_command.compare)
app.command("tournament", rich_help_panel=_SIMULATE)(tournament_command.tournament)
app.command("tune", rich_help_panel=_SIMULATE)(tune_command.tune)
app.command("check", rich_help_panel=_SIMULATE)(check_command.check)
app.command("forecast", rich_help_panel=_VALIDATE)(forecast_command.forecast)
app.command("adequacy", rich_help_panel=_VALIDATE)(adequacy_command.adequacy)
app.command("identify", rich_help_panel=_VALIDATE)(identify_command.identify)
app.command("execute", rich_help_panel=_VALIDATE)(execute_command.execute)
app.command("verify", rich_help_panel=_VALIDATE)(verify_command.verify)
app.command("list", rich_help_panel=_INSPECT)(list_command.list_names)
app.command("report", rich_help_panel=_INSPECT)(report_command.report)
app.add_typer(data_command.app, name="data", rich_help_panel=_INSPECT)
app.add_typer(plugin_command.app, name="plugin", rich_help_panel=_INSPECT)
app.command("warm-up", rich_help_panel=_MAINTAIN)(warm_up_command.warm_up)
app.command(
    "bench",
    help="Measure the engine against a bare loop without plugins, or tournaments on threads.",
    add_help_option=False,
    context_settings=PASSED_ON,
    rich_help_panel=_MAINTAIN,
)(study("bench", "bench"))
app.add_typer(theory_command.app, name="theory", rich_help_panel=_MAINTAIN)
with_examples(app)

#: The base class of typer's errors about options and commands. Only the subclass BadParameter has a public name.
_USAGE_ERROR = typer.BadParameter.__mro__[1]


def main(commands: typer.Typer | None = None) -> None:
    """Run a command line. A user's error prints one sentence and exits with status 2; --debug adds the traceback."""
    _allow_any_terminal()
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        with tolerate_closed_output(), exit_on_interrupt(), forbid_exit_by_plugins():
            # In standalone mode typer would print errors in its own format, on many lines.
            status = (commands or app)(standalone_mode=False, **HELP)
        if status == INTERRUPTED:  # typer returns this instead of raising
            raise KeyboardInterrupt
        if isinstance(status, int) and status != 0:
            sys.exit(status)
    except KeyboardInterrupt:  # from typer, or from before typer was ready
        echo("harness: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        sentence = _sentence(error)
        if debug:
            traceback.print_exc()
        elif sentence is None:  # a defect of the harness: show all of it
            raise
        if sentence:
            echo(f"harness: {brief(sentence)}", file=sys.stderr)
        sys.exit(1 if sentence is None else 2)


def _allow_any_terminal() -> None:
    """Print question marks for characters that the terminal lacks, and continue if stdout or stderr is closed."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # as after `>&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _sentence(error: Exception) -> str | None:
    """Return the message for an error: empty if it was already printed, None for a defect of the harness."""
    if isinstance(error, HarnessError):
        return str(error)
    if isinstance(error, _USAGE_ERROR):
        return _about_the_call(error)
    if isinstance(error, MemoryError):  # for example --procs 99999999999
        return "not enough memory: the workload or the platform is too large"
    if notes := getattr(error, "__notes__", []):  # raised by a policy
        return f"{type(error).__name__}: {error}, raised {notes[0]}"
    if isinstance(error, OSError):  # for example a full disk
        return f"{error.filename or 'the output'}: {error.strerror}" if error.strerror else str(error)
    return None


def _about_the_call(error: Any) -> str:
    """Return the message for a wrong call, such as an unknown option or a value of the wrong type."""
    if type(error).__name__ == "NoArgsIsHelpError":  # the help was printed
        return ""
    command = f"; see {error.ctx.command_path} --help" if error.ctx else ""
    return f"{error.format_message().rstrip('.')}{command}"
