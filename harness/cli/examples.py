"""Two examples for the help of every command: a common call, and one more."""

import inspect
from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

#: The type of an option, as typer names it → the word for its value in the help.
_METAVARS = {
    "bool": "",
    "str": "TEXT",
    "list[str]": "TEXT",
    "path": "FILE",
    "int": "N",
    "int range": "N",
    "float": "NUMBER",
    "float range": "NUMBER",
}

#: Command → its two examples. A test parses each of them.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("run KTH-SP2 --order spf --start easy", "tournament demo"),
    "run": ("KTH-SP2 --order spf --start 'easy(reservations=2)'", "KTH-SP2 --from 1997-01-01 --report run.html"),
    "compare": ("KTH-SP2 'fcfs + easy' 'spf + easy'", "'lublin(jobs=2000)' 'fcfs + easy' 'saf + easy' --resample 20"),
    "forecast": ("KTH-SP2 --at 1997-01-15T12:00", "KTH-SP2 --at 9000000 --order spf --repetitions 200"),
    "adequacy": ("KTH-SP2", "KTH-SP2 --order fcfs --start conservative --jobs 5000"),
    "identify": ("KTH-SP2 --jobs 5000", "KTH-SP2 --order fcfs --order spf --best 5"),
    "execute": ("'lublin(jobs=20)' --slurm slurm.conf", "my.swf --slurm slurm.conf --out executed.csv"),
    "tournament": ("demo", "classic --resample 20 --dry-run"),
    "tune": ("my-tuning.toml", "my-tuning.toml --objective mean_wait --objective energy"),
    "report": ("tournaments/demo", "tournaments/demo --by mean_wait --out page.html"),
    "check": ("gate.json --field bundled --update", "gate.json --tolerance 5%"),
    "verify": ("schedule.csv --procs 100", "schedule.csv --promise easy --procs 100"),
    "list": ("orders", "measures --format markdown"),
    "warm-up": ("", "easy spf"),
    "bench": ("", "tournament"),
    "data": ("data list", "data show KTH-SP2"),
    "data list": ("", "--format csv"),
    "data show": ("KTH-SP2", "'lublin(jobs=500)' --format json"),
    "data fetch": ("KTH-SP2", "KTH-SP2 SDSC-SP2"),
    "data example": ("sacct.txt", "sacct.txt --jobs 500 --seed 2"),
    "data outages": ("KTH-SP2 --out events.csv", "KTH-SP2 --procs 100 --out events.csv"),
    "plugin": ("plugin new my-policy", "plugin check my_wfp3.py"),
    "plugin new": ("my-policy", "my-policy --out plugins"),
    "plugin check": ("my_wfp3.py", "my_wfp3.py --examples 200"),
    "theory": ("theory stability KTH-SP2", "theory delays KTH-SP2"),
    "theory stability": ("KTH-SP2", "--widths 1:0.5,2:0.3,4:0.2 --servers 16"),
    "theory delays": ("KTH-SP2", "--servers 4 --arrival-rate 3 --mean-service 1"),
    "theory infinite-server": ("SDSC-SP2", "KTH-SP2 --release independent"),
    "theory compare": ("", "--format markdown"),
    "theory service-rate": ("", "--figure 1 --out figure.html"),
    "theory other-simulators": ("", "--format json"),
    "theory oar-executions": ("oar-grid5000", "oar-grid5000 --format markdown"),
    "theory kth-calendar": ("--format markdown", "--months"),
    "theory identify": ("--jobs 500", "--format markdown"),
    "theory peas": ("", "> table.md"),
}


def examples(command: str) -> str:
    """Return the examples of a command as a paragraph of its help."""
    own = "" if command in ("", "data", "plugin", "theory") else command  # the examples of groups name their commands
    lines = [" ".join(filter(None, ("harness", own, typed))) for typed in EXAMPLES.get(command, ())]
    return "\n".join(f"$ {line}" for line in lines)


class _PlainHelp:
    """Help without `<bool>` for flags, and without braces around required arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in parameters:
            kind = (one.display_type(ctx) or "").strip("<>")
            if one.metavar is None and isinstance(one, TyperOption):
                one.metavar = _METAVARS.get(kind)
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]  # type: ignore[misc]


class _Command(_PlainHelp, TyperCommand):
    pass


class _Group(_PlainHelp, TyperGroup):
    pass


def with_examples(app: Any, group: str = "") -> None:
    """Put two examples below the first sentence of every command of a typer application, and of its groups."""
    for one in app.registered_commands:
        name = one.name or one.callback.__name__.replace("_", "-")
        add_examples(one, f"{group} {name}".strip())
    app.info.help = _with_examples(app.info.help, group)
    app.info.cls = _Group
    for inner in app.registered_groups:
        with_examples(inner.typer_instance, inner.name)


def add_examples(command: Any, name: str) -> None:
    """Put two examples below the first sentence of a registered command, once."""
    if command.cls is not _Command:
        command.help = _with_examples(command.help or inspect.getdoc(command.callback) or "", name)
        command.cls = _Command


def _with_examples(help: str, command: str) -> str:
    """Return a help text with each paragraph on one line, and the examples behind the first."""
    first, *others = (" ".join(one.split()) for one in help.split("\n\n"))
    return "\n\n".join(filter(None, (first, examples(command), *others)))
