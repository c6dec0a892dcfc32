"""`harness theory service-rate`: the figures of the service-rate paper, and their numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.workload.log import Workload

TASKS = "hpcwld/HPC_KRC2.csv"


def service_rate(
    tasks: Annotated[
        str, typer.Argument(help="The tasks of hpcwld's HPC_KRC2, a path below HARNESS_DATA or here.")
    ] = TASKS,
    figure: Annotated[int, typer.Option(help="Which of the paper's figures.", min=1, max=3)] = 3,
    out: Annotated[Path | None, typer.Option(help="Draw the figure as an HTML page.")] = None,
    low: Annotated[float | None, typer.Option(help="k_L [work], for figures 1 and 2; 1e5 if not given.")] = None,
    high: Annotated[float | None, typer.Option(help="k_H [work], for figures 1 and 2; 3e5 if not given.")] = None,
    days: Annotated[str, typer.Option(help="From which day to which figure 1 looks.")] = "197:204",
    first: Annotated[int, typer.Option(help="The first customer of figure 2.", min=1)] = 7000,
    count: Annotated[int, typer.Option(help="How many customers figure 2 shows.", min=1)] = 500,
    seed: Annotated[int, typer.Option(help="Of the random milliseconds between tasks submitted together.", min=0)] = 0,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """A cluster whose rate follows its workload: figures 1 to 3 of Rumyantsev, Morozova and Basmadjian (2018).

    Figure 1 is workload and customers in service, figure 2 who held which servers when, figure 3 energy and workload
    against a single threshold. Prints the figure's numbers, and draws it where --out says.
    """
    from harness.report.tables import known_format, render
    from harness.theory import service_rate as paper

    known_format(format)
    workload = _read(tasks, seed)
    if figure == 3:
        if low is not None or high is not None:
            raise HarnessError(
                "figure 3 goes through its own thresholds; expected --low and --high with figures 1 and 2"
            )
        swept = paper.sweep(workload)
        if out is not None:
            from harness.theory.service_rate_figures import draw_trade_off

            draw_trade_off(swept, out)
        typer.echo(
            render(("threshold", *swept), list(swept.itertuples(name=None)), format, units=("work", "work", "W", "W"))
        )
        return
    schedule = paper.controlled(workload, paper.K_LOW if low is None else low, paper.K_HIGH if high is None else high)
    if out is not None:
        from harness.theory.service_rate_figures import draw_schedule, draw_workload

        if figure == 1:
            draw_workload(schedule, out, _days(days))
        else:
            draw_schedule(schedule, out, first, count)
    rows = list(paper.summary(schedule).items())
    typer.echo(render(("of the whole run", "value"), rows, format))


def _read(tasks: str, seed: int) -> "Workload":
    from harness.theory.service_rate import read_tasks
    from harness.workload.catalogue import find_data

    return read_tasks(find_data(tasks), seed)


def _days(text: str) -> tuple[float, float]:
    begin, _, end = text.partition(":")
    try:
        days = float(begin), float(end)
    except ValueError:
        days = (0.0, 0.0)
    if not days[0] < days[1]:
        raise HarnessError(f"--days {text}: expected two days, the earlier one first, as in 197:204")
    return days
