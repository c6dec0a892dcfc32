"""`harness tournament`: run every combination of a field, and rank the schedulers."""

import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.cli import completion, options
from harness.cli.console import echo, notices_on_stderr
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from harness.experiment.field import Field
    from harness.experiment.forecast import Forecast
    from harness.experiment.pool import Progress, Watch
    from harness.experiment.stored_results import Results
    from harness.results.measures import Measure


@options.expand_groups
def tournament(
    field: Annotated[
        str,
        typer.Argument(
            help="a field by name (see `harness list fields`), or a TOML file; with --slurm also a workload",
            autocompletion=completion.fields,
        ),
    ],
    *,
    given: options.TableOptions,
    slurm: Annotated[
        list[str] | None, typer.Option(metavar="slurm.conf", help="also run this configuration of Slurm; repeatable")
    ] = None,
    out: Annotated[Path | None, options.output(help="the folder of the results (tournaments/NAME)")] = None,
    workers: options.Workers = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="run on this Dask cluster")] = None,
    resample: Annotated[
        int | None, options.statistics(help="number of variations of each workload", min=0, max=10_000)
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="only the first N jobs of each workload", min=1)] = None,
    state: options.StateFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only estimate the time it takes")] = False,
    keep_schedules: Annotated[bool, options.output("--keep-schedules", help="keep every schedule as Parquet")] = False,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="import plugins only in processes of their own, one for each run")
    ] = False,
    limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="stop simulations that take longer: 60s, 5min, 2h")
    ] = None,
    by: options.By = "mean_bounded_slowdown",
    unit: options.InferenceUnit = None,
) -> int:
    """Run every combination of FIELD, continue an interrupted tournament, and rank the schedulers.

    With --state every workload begins with the jobs that ran and waited then, and its own jobs arrive afterwards.

    Exit status 1: a run failed. The results contain the reason, and the other runs are ranked.
    """
    if isolate and dry_run:
        raise HarnessError("--isolate with --dry-run, which tries the plugins in this process: expected one of them")
    with notices_on_stderr(), _isolating(isolate, given.folders):
        from harness.experiment.runner import default_folder
        from harness.experiment.runner import tournament as run
        from harness.results.measures import extra_measures

        given.known_format()
        extra = extra_measures(given.folders)
        _refuse_unknown(by, unit, extra)
        read = _field(field, slurm, state, given.folders)
        size: Any = {"resamples": resample, "jobs": jobs, "workers": workers, "plugins": given.folders}
        if dry_run:
            echo(_ahead(read, size))
            return 0
        folder = out or default_folder(read)
        echo(f"{read.name}: results go to {folder}", file=sys.stderr)
        command = shlex.join(["harness", *sys.argv[1:]])
        with _explain_interruption(folder), report_pace() as watch:
            size |= {"isolate": isolate, "limit": limit}
            results = run(read, folder, dask=dask, keep_schedules=keep_schedules, command=command, watch=watch, **size)
    frame = results.frame()
    if keep_schedules:
        _print_missing_schedules(results, frame)
    _print_left_out(results, given.format)
    if (frame["status"] == "done").any():
        from harness.ranking.leaderboard import leaderboard

        full = results.about.get("parameters")
        echo(leaderboard(frame, by=by, format=given.format, unit=unit, extra=extra, parameters=full))
        if given.format == "table":
            several = [("--plugins", given.folders), ("--slurm", slurm or ())]
            words: list[tuple[object, ...]] = [("--out", out), ("--jobs", jobs), ("--state", state)]
            words += [("--resample", resample), ("--unit", unit), ("--limit", limit), *[("--isolate",)] * isolate]
            again = _again(field, [*words, *((flag, one) for flag, many in several for one in many)])
            echo("", "next:", *_next(results, again, by, unit), sep="\n")
    return _failures(frame)


@contextmanager
def _isolating(isolate: bool, folders: tuple[str, ...]) -> "Iterator[None]":
    """Keep plugins out of this process, with --isolate."""
    if not isolate:
        yield
        return
    from harness.experiment.isolation import isolating

    with isolating(folders):
        yield


def _field(name: str, slurms: list[str] | None, state: Path | None, folders: tuple[str, ...]) -> "Field":
    """Read the field, and print what replays of its Slurm configurations do not model."""
    from harness.experiment.field import with_snapshot
    from harness.experiment.field_reading import read_field
    from harness.slurm.slurm_scheduler import left_out

    field = with_snapshot(read_field(name, slurms=slurms or (), plugins=folders), state)
    for sentence in left_out(field.slurms):
        echo(sentence, file=sys.stderr)
    return field


def _ahead(field: "Field", size: dict[str, Any]) -> "Forecast":
    """Try the schedulers, and return an estimate of the time for all runs."""
    from harness.experiment.forecast import forecast
    from harness.present.progress import progress

    with progress("trying schedulers", "runs") as advance:
        return forecast(field, progress=advance, **size)


def _refuse_unknown(by: str, unit: str | None, extra: "Iterable[Measure]") -> None:
    """Refuse an unknown measure or unit of observation."""
    from harness.ranking.ranking import Unit
    from harness.results.measures import known_measures

    for name, value, known in (("measure", by, known_measures(extra)), ("unit", unit, get_args(Unit))):
        if value is not None and value not in known:
            raise HarnessError(f"there is no {name} {value!r}; {did_you_mean(value, known)}")


@contextmanager
def _explain_interruption(folder: Path) -> "Iterator[None]":
    """Print where finished runs are stored when the user interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        echo(f"harness: finished runs are kept in {folder}; the same command continues from there", file=sys.stderr)
        raise


def _again(field: str, words: "Iterable[tuple[object, ...]]") -> str:
    """Return the command that finds these results, with the same options."""
    return shlex.join(["harness", "tournament", field, *(str(word) for one in words if one[-1] for word in one)])


def _next(results: "Results", again: str, by: str, unit: str | None) -> list[str]:
    """Return commands to try next. `again` is the command that finds these results."""
    from harness.ranking.inference import FEWEST

    about = results.about
    # Variations of a few workloads are no evidence about other workloads, so they must be the observations.
    few = unit is None and 1 < len(about["workloads"]) < FEWEST
    by_variation = " --unit variation" if few else ""
    other = "max_wait" if by == "mean_wait" else "mean_wait"
    tips = [(f"{again} --by {other}", "rank by another measure; nothing runs again")]
    if about["field"]["name"] == "demo":
        tips.append(("harness list fields", "other fields, on the logs of real machines"))
    if not about["field"]["resamples"] and all(log["users"] for log in about["workloads"]):
        tips.append((f"{again} --resample 20{by_variation}", "more evidence: 20 variations of each workload"))
    elif by_variation and about["field"]["resamples"]:
        tips.append((f"{again}{by_variation}", "count each variation as an observation; nothing runs again"))
    # If another field ran in this folder too, a session number identifies the results.
    option, argument = (
        (f" --session {results.session}", f", {results.session}") if len(results.sessions) > 1 else ("", "")
    )
    counted = f" --unit {unit}" if unit else ""
    page = f"harness report {shlex.quote(str(results.folder))}{option}{counted}"
    tips.append((page, "all of it as a page, with pictures"))
    frame = f"harness.Results('{results.folder}'{argument}).frame()"
    tips.append((f'python -c "import harness; print({frame})"', "every run"))
    return [line for tip, why in tips for line in (f"  {why}:", f"    {tip}")]


def _print_left_out(results: "Results", format: str) -> None:
    """Print the combinations that cannot run, once for each reason, and the notices: to stderr for csv and json."""
    from harness.present.tables import prose
    from harness.ranking.by_platform import refused_table

    program = format in ("csv", "json")
    file = sys.stderr if program else sys.stdout
    if table := refused_table(results.refused(), "table" if program else format):
        echo(table, "", sep="\n", file=file)
    if notices := results.about["notices"]:
        echo(*(prose(one, "table" if program else format) for one in notices), "", sep="\n", file=file)


def _print_missing_schedules(results: "Results", frame: "pd.DataFrame") -> None:
    done = frame.loc[frame["status"] == "done", "identity"]
    missing = sum(not results.keeps(identity) for identity in done)
    if missing:
        echo(
            f"harness: the schedules of {missing} runs are not kept: their results existed before; "
            "another --out keeps them all",
            file=sys.stderr,
        )


def _failures(frame: "pd.DataFrame") -> int:
    """Print the number of failed runs and the first reason. Return the exit status."""
    failed = frame[frame["status"] == "failed"]
    if failed.empty:
        return 0
    first = failed.iloc[0]
    echo(
        f"harness: {len(failed)} of {len(frame)} runs failed; first {first['scheduler']} on {first['workload']}: "
        f"{first['error']}; the same command tries them again",
        file=sys.stderr,
    )
    return 1


@contextmanager
def report_pace() -> "Iterator[Watch]":
    """Show the pace of a tournament on a terminal while it runs, and print it at the end."""
    from harness.present.progress import progress

    began, words = time.perf_counter(), ""
    with progress("preparing", "jobs") as advance:

        def watch(so_far: "Progress") -> None:
            nonlocal words
            words = _pace(so_far, time.perf_counter() - began)
            advance(so_far.done_jobs, so_far.jobs_to_do, f"{so_far.done:,} of {so_far.to_do:,} runs")

        yield watch
    echo(words, file=sys.stderr)


def _pace(progress: "Progress", seconds: float) -> str:
    if not progress.to_do:
        return "nothing to run" + f": all {progress.found:,} runs were done before" * (progress.found > 0)
    seconds = max(seconds, 1e-3)
    words = (
        f"{progress.done:,} of {progress.to_do:,} runs, {progress.done / seconds:,.1f} runs/s, "
        f"{progress.done_jobs / seconds:,.0f} jobs/s"
    )
    return words + (f"; {progress.found:,} more were done before" if progress.found else "")
