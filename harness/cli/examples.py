"""Two examples for the help of every command: what people ask first, and one step further."""

import inspect
from typing import Any

#: Command → what is typed behind it; a test sees to it that each is one that the command takes.
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
    """Return the examples of a command as the end of its help: a paragraph each, which typer keeps apart."""
    lines = [" ".join(filter(None, ("harness", *_own(command), typed))) for typed in EXAMPLES.get(command, ())]
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]) if lines else ""


def _own(command: str) -> tuple[str, ...]:
    """Return the words of a command; those of a group stand in its examples, which are of its commands."""
    return () if command in ("", "data", "plugin", "theory") else (command,)


def with_examples(app: Any, group: str = "") -> None:
    """Put its examples below the help of every command of a typer application, and of the groups in it."""
    for one in app.registered_commands:
        name = one.name or one.callback.__name__.replace("_", "-")
        one.epilog = _below(one.epilog, examples(f"{group} {name}".strip()))
        one.help = one.help or _in_paragraphs(one.callback)
    for inner in app.registered_groups:
        inner.epilog = examples(inner.name)
        with_examples(inner.typer_instance, inner.name)


def _in_paragraphs(command: Any) -> str | None:
    """Return what a command says about itself, a line each paragraph: typer would keep the ends of our lines."""
    said = inspect.getdoc(command)
    return said and "\n\n".join(" ".join(one.split()) for one in said.split("\n\n"))


def _below(said: str | None, more: str) -> str:
    return "\n\n".join(filter(None, (said, more)))
