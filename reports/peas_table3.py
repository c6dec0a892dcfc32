"""Makes the table of peas-table3.md: Table 3 of the PEAS paper, replayed, beside what it prints."""

import typer

from harness import Scheduler, prepare, read_workload, simulate
from harness.cli import main

#: Log, policy, our start policies for it, and what the paper prints: mean wait [s], mean response [s], energy [kWh].
PRINTED = (
    ("RICC", "FCFS", ("none",), "222651", "244332", "34.0465"),
    ("RICC", "conservative", ("conservative", "easy(spare=false)"), "32029", "59830", "38.2591"),
    ("RICC", "EASY", ("easy",), "32029", "59830", "38.2591"),
    ("LLNL-Thunder", "FCFS", ("none",), "468456", "480897", "214.058"),
    ("LLNL-Thunder", "conservative", ("conservative", "easy(spare=false)"), "49734", "61326", "202.647"),
    ("LLNL-Thunder", "EASY", ("easy",), "57325", "69698", "205.421"),
)
READINGS = ("whole_numbers", "whole_watts")
HEADERS = (
    *("log", "policy", "START", "READING", "accepted", "AWT [s]", "printed", "ART [s]", "printed"),
    *("energy [kWh]", "printed"),
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def peas() -> None:
    """Replay the six runs of the PEAS paper's Table 3, and print ours beside theirs as Markdown."""
    typer.echo(table())


def table() -> str:
    """Return the table of the page."""
    rows = [
        row(log, policy, start, reading, printed)
        for reading in READINGS
        for log, policy, starts, *printed in PRINTED
        for start in starts
    ]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (HEADERS, *rows))
    return "\n".join((head, "|---" * 4 + "|---:" * 7 + "|", *body))


def row(log: str, policy: str, start: str, reading: str, printed: list[str]) -> tuple[str, ...]:
    """Replay one run; averages are cut off after the second, as the printed ones are."""
    workload = prepare(read_workload(log), jobs=100, estimates="actual", memory="ignored")
    ours = simulate(workload, f"peas-table2({reading}=true)", Scheduler(start=start)).measures()
    wait, response, energy = printed
    return (
        *(log, policy, start, reading, f"{ours['accepted']:.0f}"),
        *(str(int(ours["mean_wait"])), wait),
        *(str(int(ours["mean_response"])), response),
        *(f"{ours['energy']:.3f}", energy),
    )


if __name__ == "__main__":
    main(app)
