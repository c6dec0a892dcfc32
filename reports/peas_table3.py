"""Print the table of peas-table3.md: Table 3 of the PEAS paper, replayed, with the printed values."""

from typing import Any

import typer

from harness import Scheduler, prepare, read_workload, simulate
from harness.cli import main

#: Log, policy, our start policies for it, and the printed values: mean wait [s], mean response [s], energy [kWh].
PRINTED = (
    ("HPC2N", "FCFS", ("none",), "398258", "440243", "269.417"),
    ("HPC2N", "conservative", ("conservative", "easy(spare=false)"), "139969", "183034", "249.363"),
    ("HPC2N", "EASY", ("easy",), "204112", "243002", "237.208"),
    ("RICC", "FCFS", ("none",), "222651", "244332", "34.0465"),
    ("RICC", "conservative", ("conservative", "easy(spare=false)"), "32029", "59830", "38.2591"),
    ("RICC", "EASY", ("easy",), "32029", "59830", "38.2591"),
    ("LLNL-Thunder", "FCFS", ("none",), "468456", "480897", "214.058"),
    ("LLNL-Thunder", "conservative", ("conservative", "easy(spare=false)"), "49734", "61326", "202.647"),
    ("LLNL-Thunder", "EASY", ("easy",), "57325", "69698", "205.421"),
)
READINGS = ("whole_numbers", "whole_watts")
#: The jobs that may be "the first hundred": the first rows of a log, or the job numbers up to 100. They differ only for
#: HPC2N: its cleaned log lacks numbers. The paper does not state the version of a log.
FIRST_ROWS, NUMBERS = "--jobs 100", "--filter 'job <= 100'"
SELECTIONS: dict[str, dict[str, Any]] = {FIRST_ROWS: {"jobs": 100}, NUMBERS: {"filter": "job <= 100"}}
VERSIONS = {"HPC2N": (("HPC2N-2.1", FIRST_ROWS), ("HPC2N", FIRST_ROWS), ("HPC2N", NUMBERS))}
HEADERS = (
    *("LOG", "policy", "JOBS", "START", "READING", "accepted", "AWT [s]", "printed", "ART [s]", "printed"),
    *("energy [kWh]", "printed"),
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def peas() -> None:
    """Replay the nine columns of the PEAS paper's Table 3, and print ours and theirs as Markdown."""
    typer.echo(table())


def table() -> str:
    """Return the table of the page."""
    rows = [
        row(log, policy, jobs, start, reading, printed)
        for reading in READINGS
        for column, policy, starts, *printed in PRINTED
        for log, jobs in VERSIONS.get(column, ((column, FIRST_ROWS),))
        for start in starts
    ]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (HEADERS, *rows))
    return "\n".join((head, "|---" * 5 + "|---:" * 7 + "|", *body))


def row(log: str, policy: str, jobs: str, start: str, reading: str, printed: list[str]) -> tuple[str, ...]:
    """Replay one run; averages are cut off after the second, as the printed ones are."""
    workload = prepare(read_workload(log), estimates="actual", memory="ignored", **SELECTIONS[jobs])
    ours = simulate(workload, f"peas-table2({reading}=true)", Scheduler(start=start)).measures()
    wait, response, energy = printed
    return (
        *(log, policy, f"`{jobs}`", start, reading, f"{ours['accepted']:.0f}"),
        *(str(int(ours["mean_wait"])), wait),
        *(str(int(ours["mean_response"])), response),
        *(f"{ours['energy']:.3f}", energy),
    )


if __name__ == "__main__":
    main(app)
