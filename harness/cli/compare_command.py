"""`harness compare`: two schedulers on one log, with the size of the difference and its significance."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.cli.run_command import preparation, provenance
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.experiment.external_schedule import ExternalSchedule
    from harness.platform.machine import Platform
    from harness.policy.scheduler import Scheduler
    from harness.ranking.two_schedulers import Comparison
    from harness.slurm.slurm_scheduler import SlurmScheduler
    from harness.workload.log import Workload

#: A longest wait this many times the other's is reported.
_STARVING = 3.0

_NAME = typer.Argument(
    metavar="'ORDER + START'",
    help="a scheduler, such as 'fcfs + easy(reservations=2)', a slurm.conf, or a file with a schedule of the jobs",
)
_LAST = typer.Argument(metavar="'ORDER + START'", help="another scheduler", show_default=False)


@options.expand_groups
def compare(
    workload: options.Workload,
    one: Annotated[str, _NAME],
    other: Annotated[str, _LAST] = "",
    *,
    given: options.SignalReplayOptions,
    state: options.StateFile = None,
    resample: Annotated[
        int, options.statistics(help="also compare on this many variations of the log", min=0, max=1000)
    ] = 0,
    measures: Annotated[str, options.output(metavar="MEASURE,…", help="compare by these measures")] = "",
    workers: options.Workers = None,
) -> None:
    """Replay WORKLOAD under two schedulers, and print which is better by which measures.

    Ratios divide the second scheduler's value by the first's. They are geometric means over the log and its variations.
    "Better" and "worse" come from a permutation test at 5 %, corrected for the number of measures. The test needs at
    least six streams of jobs. Intervals are of 95 % and assume that ratios scatter evenly to both sides. Waits by class
    and by user are those on the log itself.

    Instead of a scheduler you can name a schedule made elsewhere (SWF, sacct, CSV or Parquet). Its starts and runtimes
    are replayed, for the jobs that it has. You can also name a slurm.conf, with accounts and QOS as 'slurm.conf +
    accounts.dump'. The other scheduler then has the nodes, partitions, features, GPUs and memory of that Slurm.

    With --state the machine begins in that state, and the jobs of WORKLOAD arrive afterwards. Without WORKLOAD only
    the jobs that already wait are compared. Variations redraw the jobs that arrive.
    """
    with notices_on_stderr():
        from harness.experiment.simulation import machine_of
        from harness.present.progress import progress
        from harness.ranking.two_schedulers import compare_two, shared_workload
        from harness.results.ignored_requests import ignored_requests
        from harness.results.measures import extra_measures
        from harness.slurm.slurm_scheduler import SlurmScheduler, left_out

        given.known_format()
        source, one, other = _sides(workload, one, other, state)
        schedulers = tuple(_scheduler(name, given, source) for name in (one, other))
        prepared, machine = _on_one_machine(given, given.jobs_after(state, source), schedulers)
        prepared = shared_workload(prepared, schedulers, resample)
        with progress("simulating", "replays") as advance:
            found = compare_two(
                prepared,
                machine,
                (schedulers[0], schedulers[1]),
                resamples=resample,
                measures=[name.strip() for name in measures.split(",") if name.strip()],
                extra=extra_measures(given.folders),
                seed=given.seed,
                signal=given.signal or None,
                plugins=given.folders,
                workers=workers,
                progress=advance,
            )
    unmodelled = left_out(schedulers)
    if not unmodelled and not any(isinstance(one, SlurmScheduler) for one in schedulers):
        unmodelled = ignored_requests(prepared, machine_of(machine, prepared))
    unmodelled += _runtime_differences(prepared, schedulers)
    in_full = _full_specs(schedulers, given.folders)
    if given.format == "json":
        from harness.present.json_text import to_json

        facts: dict[str, Any] = provenance(prepared) | {"one": one, "other": other, "parameters": in_full}
        if unmodelled:
            facts["unmodelled"] = unmodelled
        echo(to_json(facts | _as_dict(found)))
        return
    if given.format == "table":
        echo(*unmodelled, *preparation(prepared), "", sep="\n")
    echo(_render(found, one, other, given.format, alone=source is None))
    if given.format == "table" and in_full:
        echo("", f"In full: {', '.join(in_full.values())}.", sep="\n")


def _runtime_differences(jobs: "Workload", schedulers: "Sequence[object]") -> list[str]:
    """Return a sentence for each schedule with other runtimes than the workload."""
    from harness.experiment.external_schedule import ExternalSchedule

    others = [one.other_runtimes(jobs) for one in schedulers if isinstance(one, ExternalSchedule)]
    return [f"other runtimes: {sentence}: measures use the schedule's runtimes" for sentence in others if sentence]


def _full_specs(schedulers: "Sequence[object]", folders: tuple[str, ...]) -> dict[str, str]:
    """Return the policies that have parameters at their defaults → each with all its parameters."""
    from harness.policy.registry import plugins
    from harness.policy.scheduler import Scheduler

    chosen = [one.choose(plugins(*folders).policies) for one in schedulers if isinstance(one, Scheduler)]
    return {short: full for one in chosen for short, full in one.in_full.items()}


def _sides(workload: str, one: str, other: str, state: Path | None) -> tuple[str | None, str, str]:
    """Return the workload and the two schedulers. With a state the workload is optional."""
    if other:
        return workload, one, other
    if state is None:
        raise HarnessError(f"{workload!r} and {one!r}: expected a workload and two schedulers, or --state and two")
    return None, workload, one


def _scheduler(
    name: str, given: options.SignalReplayOptions, workload: str | None
) -> "Scheduler | SlurmScheduler | ExternalSchedule":
    """Return the named scheduler, the Slurm of a configuration, or the schedule in a file."""
    from harness.experiment.external_schedule import ExternalSchedule
    from harness.slurm.slurm_scheduler import is_slurm, read_slurm_scheduler

    if is_slurm(name):
        from harness.slurm.requests import said_of

        found = read_slurm_scheduler(name)
        return found if workload is None else found.of(said_of(given.log(workload)))
    if Path(name).is_file():
        return ExternalSchedule(given.log(name))
    return given.scheduler(*_parts(name), "")


def _on_one_machine(
    given: options.SignalReplayOptions, jobs: "Workload", schedulers: "Sequence[object]"
) -> "tuple[Workload, Platform | int | None]":
    """Return the jobs and their machine. If one side is a Slurm, both run on its machine."""
    from harness.experiment.external_schedule import ExternalSchedule
    from harness.experiment.simulation import machine_of
    from harness.experiment.slurm_simulation import machine_of_policies
    from harness.slurm.shared_machine import with_requests
    from harness.slurm.slurm_scheduler import SlurmScheduler

    machine = given.machine(jobs)
    slurms = [one for one in schedulers if isinstance(one, SlurmScheduler)]
    if len(slurms) != 1:
        return jobs, machine
    (slurm,) = slurms
    if any(isinstance(one, ExternalSchedule) for one in schedulers):  # a schedule does not name the nodes of its jobs
        return jobs, slurm.platform if machine is None else machine
    named = None if machine is None else machine_of(machine, jobs)
    return with_requests(jobs, slurm.said, slurm.cluster), machine_of_policies(slurm, named)


def _parts(name: str) -> tuple[str, str]:
    order, plus, start = (part.strip() for part in name.partition("+"))
    if not (order and plus and start):
        raise HarnessError(f"{name!r}: not a scheduler: expected ORDER + START, such as 'fcfs + easy', or a file")
    return order, start


def _as_dict(found: "Comparison") -> dict[str, Any]:
    lines = [
        {
            "measure": line.measure.name,
            "unit": line.measure.unit,
            **{name: getattr(line, name) for name in ("one", "other", "ratio", "interval", "p_value", "verdict")},
        }
        for line in found.lines
    ]
    shares = {"classes": [asdict(share) for share in found.classes], "users": [asdict(share) for share in found.users]}
    replaced = {"lines": lines, **shares}
    return {name: replaced.get(name, value) for name, value in vars(found).items()}


def _render(found: "Comparison", one: str, other: str, format: str, *, alone: bool) -> str:
    """Return the tables of measures and of waits, and the sentences about them."""
    from harness.present.tables import prose, render
    from harness.present.words import spoken

    sure = any(line.interval[0] == line.interval[0] for line in found.lines)
    heads = ["measure", one, other, "ratio"]
    if found.units > 1:
        heads = ["measure", f"{one}, on the log", f"{other}, on the log", "ratio, all streams"]
    heads += ["95 % interval", "p", f"{other} is"] if sure else []
    rows = [
        (
            spoken(line.measure.name) + (f" [{line.measure.unit}]" if line.measure.unit else ""),
            *(line.one, line.other, line.ratio),
            *((_interval(line.interval), line.p_value, line.verdict) if sure else ()),
        )
        for line in found.lines
    ]
    blocks = [render(heads, rows, format, digits=4)]
    if format == "csv":
        return blocks[0]
    shares = [
        (share.whose, share.jobs, share.one, share.other, share.one_longest, share.other_longest)
        for share in (*found.classes, *found.users)
    ]
    heads = ["on the log itself", "jobs", f"mean wait [s], {one}", other, f"longest [s], {one}", other]
    blocks.append(render(heads, shares, format, digits=4))
    blocks.append(prose(" ".join(_sentences(found, one, other, alone)), format))
    return "\n\n".join(blocks)


def _interval(ends: tuple[float, float]) -> str:
    from harness.present.words import readable

    low, high = ends
    return f"{readable(low, 3)}–{readable(high, 3)}" if low == low else ""


def _sentences(found: "Comparison", one: str, other: str, alone: bool) -> Iterator[str]:
    """Yield the verdict, how reliable it is, and its costs."""
    from harness.present.words import counted, lasting, share, spoken
    from harness.ranking.inference import FEWEST
    from harness.ranking.two_schedulers import UNSTARTED
    from harness.slurm.slurm_scheduler import is_slurm

    by_verdict = {
        verdict: ", ".join(spoken(line.measure.name) for line in found.lines if line.verdict == verdict)
        for verdict in ("better", "worse")
    }
    words = " and ".join(f"{verdict} by {names}" for verdict, names in by_verdict.items() if names)
    if found.units < FEWEST:
        streams = counted(found.units, "stream")
        of_this_log = any(Path(name).is_file() and not is_slurm(name) for name in (one, other))
        more = "a schedule has no variations" if of_this_log else "--resample 20 adds 20 variations"
        more = "a state alone has no variations, a WORKLOAD with later submissions has" if alone else more
        yield f"{streams} of jobs cannot show whether that is more than chance; {more}."
    else:
        yield f"{other} is {words}." if words else f"{other} does not differ significantly from {one} by any measure."
        yield f"That is about {found.units} streams of jobs: the log and its variations."
    if none := [spoken(line.measure.name) for line in found.lines if line.ratio != line.ratio]:
        yield f"{', '.join(none)}: no ratio (–), because the value is 0 in a stream. The test limits ratios to 10⁶."
    if found.units >= FEWEST and any(
        line.ratio == line.ratio and line.interval[0] != line.interval[0] for line in found.lines
    ):
        yield "A ratio without an interval could be any: there are too few streams."
    if found.needed is not None:
        yield f"Showing a difference of 10 % in the first measure takes about {counted(found.needed, 'stream')}."
    never = next(((line.one, line.other) for line in found.lines if line.measure.name == UNSTARTED), (0.0, 0.0))
    if never[0] != never[1]:
        more = counted(int(max(never)), "job")
        yield f"{more} never started with {one if never[0] > never[1] else other}: waits and responses leave them out."
    longest = next(((line.one, line.other) for line in found.lines if line.measure.name == "max_wait"), None)
    if longest and max(longest) > _STARVING * min(longest):
        worse, better = (other, one) if longest[1] > longest[0] else (one, other)
        yield f"Single jobs wait much longer: the longest wait is {lasting(max(longest))} with {worse},"
        yield f"{lasting(min(longest))} with {better}."
    if found.load >= 1:
        much = f"{share(found.load)} {'as' if found.load >= 10 else 'of what'} the machine can do is submitted"
        yield f"{much}: waits grow with the length of the log."
