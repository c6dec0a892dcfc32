"""The display of a schedule in a notebook: in words, as a table, as charts."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, did_you_mean
from harness.present.tables import prose, render
from harness.present.words import readable
from harness.results import run_summary
from harness.results.measures import known_measures

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


def schedule_html(schedule: "Schedule") -> str:
    """Return the summary of a run: the sentence, warnings, and the headline measures."""
    values, known = schedule.measures(), known_measures()
    names = run_summary.chosen_measures("", values, known)
    told = [run_summary.sentence(schedule), *map("Warning: {}.".format, run_summary.warnings(schedule))]
    rows = run_summary.rows({name: values[name] for name in names}, known)
    return "\n".join([*(prose(text, "html") for text in told), render(run_summary.HEADS, rows, "html")])


def schedule_plot(schedule: "Schedule", what: str) -> Any:
    """Return one chart of a run as a Plotly figure."""
    from harness.results.charts import run_figures
    from harness.results.charts.figures import for_a_notebook
    from harness.results.charts.run_details import run_overview

    charts: dict[str, Callable[[Any], Any]] = {
        "time": lambda run: run_figures.over_time([run]),
        "jobs": run_figures.processors_and_jobs,
        "waits": lambda run: run_figures.waits([run]),
        "slowdowns": lambda run: run_figures.slowdowns([run]),
    }
    if what not in charts:
        raise HarnessError(f"there is no chart {what!r} of a schedule; {did_you_mean(what, charts)}")
    timed = _with_timeline(schedule)
    return for_a_notebook(charts[what](run_overview(timed, readable(timed.workload.name), _scheduler(timed))))


def schedule_gantt(schedule: "Schedule", most: int) -> Any:
    """Return the Gantt chart of a run as a Plotly figure."""
    from harness.results.charts.figures import for_a_notebook
    from harness.results.charts.gantt import gantt
    from harness.results.charts.run_figures import places

    if most < 1:
        raise HarnessError(f"most={most}: expected a whole number of rectangles of at least 1")
    timed = _with_timeline(schedule)
    window = gantt(timed, replayed_by(schedule), most)
    if window is None:
        raise HarnessError(f"{schedule.workload.name}: no job ran: expected a run with at least one job to draw")
    return for_a_notebook(places(window, f"{readable(schedule.workload.name)} · {_scheduler(schedule)}"))


def replayed_by(schedule: "Schedule") -> "Callable[..., Schedule]":
    """Return the function that replays a workload like this run; refuse a schedule that no simulation made."""
    if schedule.again is None:
        raise HarnessError(f"{schedule.workload.name}: cannot be repeated: expected a schedule made by simulate(…)")
    return schedule.again


def _with_timeline(schedule: "Schedule") -> "Schedule":
    if schedule.samples is not None:
        return schedule
    return replayed_by(schedule)(schedule.workload, timeline=True)


def _scheduler(schedule: "Schedule") -> str:
    return " + ".join(schedule.scheduler[part] for part in ("order", "start"))
