"""`harness tournament`: every combination of a field, then who was best and how sure that is."""

import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.cli import completion, options
from harness.cli.console import compiling_said, say, warnings_said
from harness.errors import HarnessError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from harness.experiment.field import Field
    from harness.experiment.forecast import Forecast
    from harness.experiment.pool import Progress, Watch
    from harness.experiment.stored_results import Results
    from harness.results.measures import Measure


@options.spread
def tournament(
    field: Annotated[
        str,
        typer.Argument(
            help="a field by name (see `harness list fields`), or a TOML file; with --slurm also a workload",
            autocompletion=completion.fields,
        ),
    ],
    *,
    given: options.Shown,
    slurm: Annotated[
        list[str] | None,
        typer.Option(metavar="slurm.conf", help="let this configuration of Slurm compete, too; as often as you like"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="the folder of the results (tournaments/NAME)")] = None,
    workers: options.Workers = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="run on this Dask cluster instead")] = None,
    resample: Annotated[
        int | None, typer.Option(help="add so many variations of each workload", min=0, max=10_000)
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="only the first so many jobs of each workload", min=1)] = None,
    state: options.StateFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say how much there is to do")] = False,
    keep_schedules: Annotated[bool, typer.Option("--keep-schedules", help="keep every schedule as Parquet")] = False,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="import plugins in processes of their own, one for each run with them")
    ] = False,
    limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="a simulation that takes longer has failed: 60s, 5min, 2h")
    ] = None,
    by: options.By = "mean_bounded_slowdown",
    unit: options.InferenceUnit = None,
) -> int:
    """Run every combination of FIELD, resume where it was interrupted, and rank the schedulers.

    With --state every workload begins with those who ran and waited then, and its jobs arrive from then on.

    Exit status 1 if a run failed; what went wrong is in the results, and the rest is ranked all the same.
    """
    if isolate and dry_run:
        raise HarnessError("--isolate with --dry-run, which tries the plugins in this process: expected one of them")
    with compiling_said(), warnings_said(), _isolating(isolate, given.folders):
        from harness.experiment.runner import default_folder
        from harness.experiment.runner import tournament as run
        from harness.results.measures import extra_measures

        given.known_format()
        extra = extra_measures(given.folders)
        _refuse_unknown(by, unit, extra)
        read = _field(field, slurm, state, given.folders)
        size: Any = {"resamples": resample, "jobs": jobs, "workers": workers, "plugins": given.folders}
        if dry_run:
            say(_ahead(read, size))
            return 0
        folder = out or default_folder(read)
        say(f"{read.name}: results go to {folder}", file=sys.stderr)
        command = shlex.join(["harness", *sys.argv[1:]])
        with _interruption_said(folder), told() as watch:
            size |= {"isolate": isolate, "limit": limit}
            results = run(read, folder, dask=dask, keep_schedules=keep_schedules, command=command, watch=watch, **size)
    frame = results.frame()
    if keep_schedules:
        _say_which_are_missing(results, frame)
    _say_what_is_left_out(results, given.format)
    if (frame["status"] == "done").any():
        from harness.ranking.leaderboard import leaderboard

        full = results.about.get("parameters")
        say(leaderboard(frame, by=by, format=given.format, unit=unit, extra=extra, parameters=full))
        if given.format == "table":
            several = [("--plugins", given.folders), ("--slurm", slurm or ())]
            words: list[tuple[object, ...]] = [("--out", out), ("--jobs", jobs), ("--state", state)]
            words += [("--resample", resample), ("--unit", unit), ("--limit", limit), *[("--isolate",)] * isolate]
            again = _again(field, [*words, *((flag, one) for flag, many in several for one in many)])
            say("", "next:", *_next(results, again, by, unit), sep="\n")
    return _failures(frame)


@contextmanager
def _isolating(isolate: bool, folders: tuple[str, ...]) -> "Iterator[None]":
    """Keep the plugins of the command out of this process, if that is wanted."""
    if not isolate:
        yield
        return
    from harness.experiment.isolation import isolating

    with isolating(folders):
        yield


def _field(name: str, slurms: list[str] | None, state: Path | None, folders: tuple[str, ...]) -> "Field":
    """Read the field, and say what replays leave out of the configurations in it."""
    from harness.experiment.field import with_snapshot
    from harness.experiment.field_reading import read_field
    from harness.slurm.slurm_scheduler import left_out

    field = with_snapshot(read_field(name, slurms=slurms or (), plugins=folders), state)
    for sentence in left_out(field.slurms):
        say(sentence, file=sys.stderr)
    return field


def _ahead(field: "Field", size: dict[str, Any]) -> "Forecast":
    """Try the schedulers, and return how long it all will take."""
    from harness.experiment.forecast import forecast
    from harness.present.progress import progress

    with progress("trying schedulers", "runs") as advance:
        return forecast(field, progress=advance, **size)


def _refuse_unknown(by: str, unit: str | None, extra: "Iterable[Measure]") -> None:
    """Refuse a measure or a unit of observation that there is not."""
    from harness.ranking.ranking import Unit
    from harness.results.measures import known_measures

    for name, value, known in (("measure", by, known_measures(extra)), ("unit", unit, get_args(Unit))):
        if value is not None and value not in known:
            raise HarnessError(f"there is no {name} {value!r}; {did_you_mean(value, known)}")


@contextmanager
def _interruption_said(folder: Path) -> "Iterator[None]":
    """Say what is kept when the user interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"harness: what has finished is kept in {folder}; the same command goes on from there", file=sys.stderr)
        raise


def _again(field: str, words: "Iterable[tuple[object, ...]]") -> str:
    """Return the command that finds these results, with the options that were given."""
    return shlex.join(["harness", "tournament", field, *(str(word) for one in words if one[-1] for word in one)])


def _next(results: "Results", again: str, by: str, unit: str | None) -> list[str]:
    """Return what to try next, where `again` is the command that finds these results."""
    from harness.ranking.inference import FEWEST

    about = results.about
    # Variations of few workloads say nothing of other workloads: they have to be the observations themselves.
    few = unit is None and 1 < len(about["workloads"]) < FEWEST
    by_variation = " --unit variation" if few else ""
    other = "max_wait" if by == "mean_wait" else "mean_wait"
    tips = [(f"{again} --by {other}", "let another measure decide; nothing runs again")]
    if about["field"]["name"] == "demo":
        tips.append(("harness list fields", "other fields, on the logs of real machines"))
    if not about["field"]["resamples"] and all(log["users"] for log in about["workloads"]):
        tips.append((f"{again} --resample 20{by_variation}", "more evidence: 20 variations of each workload"))
    elif by_variation and about["field"]["resamples"]:
        tips.append((f"{again}{by_variation}", "count each variation as an observation; nothing runs again"))
    # Where another field ran too, a number tells which results are meant.
    option, argument = (
        (f" --session {results.session}", f", {results.session}") if len(results.sessions) > 1 else ("", "")
    )
    counted = f" --unit {unit}" if unit else ""
    page = f"harness report {shlex.quote(str(results.folder))}{option}{counted}"
    tips.append((page, "all of it as a page, with pictures"))
    frame = f"harness.Results('{results.folder}'{argument}).frame()"
    tips.append((f'python -c "import harness; print({frame})"', "every run"))
    return [line for tip, why in tips for line in (f"  {why}:", f"    {tip}")]


def _say_what_is_left_out(results: "Results", format: str) -> None:
    """Print the combinations that cannot run, once for each reason, and the notices; programs get neither."""
    from harness.present.tables import prose
    from harness.ranking.by_platform import refused_table

    program = format in ("csv", "json")
    file = sys.stderr if program else sys.stdout
    if table := refused_table(results.refused(), "table" if program else format):
        say(table, "", sep="\n", file=file)
    if notices := results.about["notices"]:
        say(*(prose(one, "table" if program else format) for one in notices), "", sep="\n", file=file)


def _say_which_are_missing(results: "Results", frame: "pd.DataFrame") -> None:
    done = frame.loc[frame["status"] == "done", "identity"]
    missing = sum(not results.keeps(identity) for identity in done)
    if missing:
        say(
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
    say(
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
        if not progress.to_do:
            self.words = "nothing to run" + f": all {progress.found:,} runs were there already" * (progress.found > 0)
            return
        seconds = max(time.perf_counter() - self.began, 1e-3)
        self.words = (
            f"{progress.done:,} of {progress.to_do:,} runs, {progress.done / seconds:,.1f} runs/s, "
            f"{progress.done_jobs / seconds:,.0f} jobs/s"
        )
        if progress.found:
            self.words += f"; {progress.found:,} more were there already"


@contextmanager
def told() -> "Iterator[Watch]":
    """Show runs and jobs per second as the tournament goes on, on a terminal; say them at its end."""
    from harness.present.progress import progress

    pace = _Pace()
    with progress("making ready", "jobs") as advance:

        def watch(so_far: "Progress") -> None:
            pace.see(so_far)
            advance(so_far.done_jobs, so_far.jobs_to_do, f"{so_far.done:,} of {so_far.to_do:,} runs")

        yield watch
    say(pace.words, file=sys.stderr)
