"""`harness tournament`: every combination of a field, then who was best and how sure that is."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.cli.console import compiling_said, warnings_said
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from harness.tournament.results import Results
    from harness.tournament.runner import Progress, Watch


def tournament(
    field: Annotated[str, typer.Argument(help="a field by name (see `harness list fields`), or a TOML file")],
    out: Annotated[Path | None, typer.Option(help="the folder of the results (tournaments/NAME)")] = None,
    workers: Annotated[int | None, typer.Option(help="threads (as many as there are cores)", min=1)] = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="run on this Dask cluster instead")] = None,
    resample: Annotated[int | None, typer.Option(help="add so many variations of each workload", min=0)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say how much there is to do")] = False,
    keep_schedules: Annotated[bool, typer.Option("--keep-schedules", help="keep every schedule as Parquet")] = False,
    plugins: Annotated[list[str] | None, typer.Option(help="a plugin file or folder; may be repeated")] = None,
    by: Annotated[str, typer.Option(metavar="MEASURE", help="what decides")] = "mean_bounded_slowdown",
    unit: Annotated[
        str | None,
        typer.Option(help="what is one observation (workload; variation, if there is one workload only)"),
    ] = None,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> int:
    """Run every combination of FIELD, resume where it was interrupted, and rank the schedulers.

    Exit status 1 if a run failed; what went wrong is in the results, and the rest is ranked all the same.
    """
    with compiling_said(), warnings_said():
        from harness.report.tables import FORMATS
        from harness.results.metrics import MEASURES
        from harness.run import extra_measures
        from harness.tournament.forecast import forecast
        from harness.tournament.leaderboard import leaderboard
        from harness.tournament.ranking import Unit
        from harness.tournament.reading import read_field
        from harness.tournament.runner import default_folder
        from harness.tournament.runner import tournament as run

        folders = tuple(plugins or ())
        extra = extra_measures(folders)
        measures = [*MEASURES, *(measure.name for measure in extra)]
        units = get_args(Unit)
        for name, value, known in (("table format", format, FORMATS), ("measure", by, measures), ("unit", unit, units)):
            if value is not None and value not in known:
                raise HarnessError(f"there is no {name} {value!r}; {did_you_mean(value, known)}")
        read = read_field(field, plugins=folders)
        if dry_run:
            print(forecast(read, resamples=resample, plugins=folders, workers=workers))
            return 0
        folder = out or default_folder(read)
        print(f"{read.name}: results go to {folder}", file=sys.stderr)
        try:
            with told() as watch:
                results = run(
                    read,
                    folder,
                    workers=workers,
                    dask=dask,
                    resamples=resample,
                    keep_schedules=keep_schedules,
                    plugins=folders,
                    command=shlex.join(["harness", *sys.argv[1:]]),
                    watch=watch,
                )
        except KeyboardInterrupt:
            print(
                f"harness: what has finished is kept in {folder}; the same command goes on from there", file=sys.stderr
            )
            raise
    frame = results.frame()
    if keep_schedules:
        _say_which_are_missing(results, frame)
    if (frame["status"] == "done").any():
        print(leaderboard(frame, by=by, format=format, unit=unit, extra=extra))
        if format == "table":
            again = [*(["--out", str(out)] if out else []), *(f"--plugins={path}" for path in folders)]
            print("\n".join(["", "next:", *_next(results, ["harness", "tournament", field, *again])]))
    return _failures(frame)


def _next(results: "Results", command: list[str]) -> list[str]:
    """What to try next."""
    again, about = shlex.join(command), results.about
    tips = [(f"{again} --by mean_wait", "let another measure decide; nothing runs again")]
    if about["field"]["name"] == "demo":
        tips.append(("harness list fields", "other fields, on the logs of real machines"))
    if not about["field"]["resamples"] and all(log["users"] for log in about["workloads"]):
        tips.append((f"{again} --resample 20", "more evidence: 20 variations of each workload"))
    tips.append((f"harness report {shlex.quote(str(results.folder))}", "all of it as a page, with pictures"))
    tips.append((f"python -c \"import harness; print(harness.Results('{results.folder}').frame())\"", "every run"))
    width = max(len(tip) for tip, _ in tips)
    return [f"  {tip:{width}}  {why}" for tip, why in tips]


def _say_which_are_missing(results: "Results", frame: "pd.DataFrame") -> None:
    done = frame.loc[frame["status"] == "done", "identity"]
    missing = sum(not results.keeps(identity) for identity in done)
    if missing:
        print(
            f"harness: the schedules of {missing} runs are not kept: their results were there before; "
            "another --out keeps them all",
            file=sys.stderr,
        )


def _failures(frame: "pd.DataFrame") -> int:
    """Say how many runs failed, and why the first did."""
    failed = frame[frame["status"] == "failed"]
    if failed.empty:
        return 0
    first = failed.iloc[0]
    print(
        f"harness: {len(failed)} of {len(frame)} runs failed; first {first['scheduler']} on {first['workload']}: "
        f"{first['error']}; the same command tries them again",
        file=sys.stderr,
    )
    return 1


class _Pace:
    """How fast a tournament goes, in words."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.words = ""

    def see(self, progress: "Progress") -> None:
        """Look at the clock and at what is done."""
        seconds = max(time.perf_counter() - self.began, 1e-3)
        self.words = (
            f"{progress.done:,} of {progress.to_do:,} runs, {progress.done / seconds:,.1f} runs/s, "
            f"{progress.done_jobs / seconds:,.0f} jobs/s"
        )
        if progress.found:
            self.words += f"; {progress.found:,} more were there already"


@contextmanager
def told() -> "Iterator[Watch]":
    """Runs and jobs per second: with a bar and the time left on a terminal, else only at the end."""
    pace = _Pace()
    if not sys.stderr.isatty():
        yield pace.see
    else:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns: list[Any] = [BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()]
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("making ready", total=None)

            def watch(progress: "Progress") -> None:
                pace.see(progress)
                bar.update(task, description=pace.words, completed=progress.done_jobs, total=progress.jobs_to_do)

            yield watch
    print(pace.words, file=sys.stderr)
