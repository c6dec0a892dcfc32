"""`harness compare`: two schedulers on one log; which is better, by how much, how sure that is, and who pays."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said
from harness.cli.run_command import preparation, provenance
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.experiment.external_schedule import ExternalSchedule
    from harness.platform.machine import Platform
    from harness.policy.scheduler import Scheduler
    from harness.ranking.two_schedulers import Comparison
    from harness.slurm.slurm_scheduler import SlurmScheduler
    from harness.workload.log import Workload

#: A longest wait so many times the other's is told.
_STARVING = 3.0

_NAME = typer.Argument(
    metavar="'ORDER + START'",
    help="a scheduler, such as 'fcfs + easy(reservations=2)', a slurm.conf, or a file with a schedule of the jobs",
)
_LAST = typer.Argument(metavar="'ORDER + START'", help="another", show_default=False)


@options.spread
def compare(
    workload: options.Workload,
    one: Annotated[str, _NAME],
    other: Annotated[str, _LAST] = "",
    *,
    given: options.Heard,
    state: options.StateFile = None,
    resample: Annotated[int, typer.Option(help="compare on so many variations of the log, too", min=0, max=1000)] = 0,
    measures: Annotated[str, typer.Option(metavar="MEASURE,…", help="compare by these (the usual ones)")] = "",
    workers: options.Workers = None,
) -> None:
    """Replay WORKLOAD under two schedulers, and say which is better by which measures, how sure that is, and who pays.

    Ratios are of the second to the first, as geometric means over the log and its variations. What is said to be better
    or worse is so by a permutation test at 5 %, corrected for the number of measures; it takes six streams of jobs.
    Intervals are of 95 % where ratios scatter about evenly to both sides. Waits by class and by user are those on the
    log itself.

    A schedule made elsewhere (SWF, sacct, CSV or Parquet) may stand in a scheduler's place: its starts and runtimes are
    replayed, of the jobs that it has. So may a Slurm, by its configuration, with accounts and QOS as 'slurm.conf +
    accounts.dump'. The other scheduler then has its nodes, partitions, features, GPUs and memory.

    With --state the machine is in that state at first, and the jobs of WORKLOAD arrive from then on; without WORKLOAD
    only who waits already is compared. Variations are of those who arrive.
    """
    with compiling_said(), warnings_said():
        from harness.experiment.simulation import machine_of
        from harness.present.progress import progress
        from harness.ranking.two_schedulers import compare_two, shared_workload
        from harness.results.ignored_requests import ignored_requests
        from harness.results.measures import extra_measures
        from harness.slurm.slurm_scheduler import SlurmScheduler, left_out

        given.known_format()
        source, one, other = _compared(workload, one, other, state)
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
    unmodelled += _of_schedules(prepared, schedulers)
    in_full = _in_full(schedulers, given.folders)
    if given.format == "json":
        from harness.present.json_text import to_json

        told: dict[str, Any] = {"unmodelled": unmodelled} if unmodelled else {}
        told["parameters"] = in_full
        say(to_json(provenance(prepared) | {"one": one, "other": other, **told, **_object(found)}))
        return
    if given.format == "table":
        say(*unmodelled, *preparation(prepared), "", sep="\n")
    say(_shown(found, one, other, given.format, alone=source is None))
    if given.format == "table" and in_full:
        say("", f"In full: {', '.join(in_full.values())}.", sep="\n")


def _of_schedules(jobs: "Workload", schedulers: "Sequence[object]") -> list[str]:
    """Return a sentence for each schedule made elsewhere with other runtimes than the workload."""
    from harness.experiment.external_schedule import ExternalSchedule

    others = [one.other_runtimes(jobs) for one in schedulers if isinstance(one, ExternalSchedule)]
    return [f"other runtimes: {sentence}: the measures are of the schedule's" for sentence in others if sentence]


def _in_full(schedulers: "Sequence[object]", folders: tuple[str, ...]) -> dict[str, str]:
    """Return the policies that have parameters at their defaults, and each with all its parameters."""
    from harness.policy.registry import plugins
    from harness.policy.scheduler import Scheduler

    chosen = [one.choose(plugins(*folders).policies) for one in schedulers if isinstance(one, Scheduler)]
    return {short: full for one in chosen for short, full in one.in_full.items()}


def _compared(workload: str, one: str, other: str, state: Path | None) -> tuple[str | None, str, str]:
    """Return the workload and the two schedulers; beside a state there need not be a workload."""
    if other:
        return workload, one, other
    if state is None:
        raise HarnessError(f"{workload!r} and {one!r}: expected a workload and two schedulers, or --state and two")
    return None, workload, one


def _scheduler(
    name: str, given: options.Heard, workload: str | None
) -> "Scheduler | SlurmScheduler | ExternalSchedule":
    """Return the scheduler that is named, the Slurm that a configuration describes, or the schedule in a file."""
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
    given: options.Heard, jobs: "Workload", schedulers: "Sequence[object]"
) -> "tuple[Workload, Platform | int | None]":
    """Return the jobs, and where they are replayed: beside a Slurm all have its machine, whatever it is called."""
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
    if any(isinstance(one, ExternalSchedule) for one in schedulers):  # a schedule does not say where its jobs ran
        return jobs, slurm.platform if machine is None else machine
    named = None if machine is None else machine_of(machine, jobs)
    return with_requests(jobs, slurm.said, slurm.cluster), machine_of_policies(slurm, named)


def _parts(name: str) -> tuple[str, str]:
    order, plus, start = (part.strip() for part in name.partition("+"))
    if not (order and plus and start):
        raise HarnessError(f"{name!r}: no scheduler: expected ORDER + START, such as 'fcfs + easy', or a file")
    return order, start


def _object(found: "Comparison") -> dict[str, Any]:
    lines = [
        {
            "measure": line.measure.name,
            "unit": line.measure.unit,
            **{name: getattr(line, name) for name in ("one", "other", "ratio", "interval", "p_value", "verdict")},
        }
        for line in found.lines
    ]
    shares = {"classes": [asdict(share) for share in found.classes], "users": [asdict(share) for share in found.users]}
    told = {"lines": lines, **shares}
    return {name: told.get(name, value) for name, value in vars(found).items()}


def _shown(found: "Comparison", one: str, other: str, format: str, *, alone: bool) -> str:
    """Return what was found for people: measures, who pays, and what one must know."""
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
    """Say the verdict, how far it can be trusted, and what it costs."""
    from harness.present.words import counted, lasting, share, spoken
    from harness.ranking.inference import FEWEST
    from harness.ranking.two_schedulers import UNSTARTED
    from harness.slurm.slurm_scheduler import is_slurm

    told = {
        verdict: ", ".join(spoken(line.measure.name) for line in found.lines if line.verdict == verdict)
        for verdict in ("better", "worse")
    }
    words = " and ".join(f"{verdict} by {names}" for verdict, names in told.items() if names)
    if found.units < FEWEST:
        streams = counted(found.units, "stream")
        of_this_log = any(Path(name).is_file() and not is_slurm(name) for name in (one, other))
        more = "a schedule has no variations" if of_this_log else "--resample 20 adds 20 variations"
        more = "a state alone has no variations, a WORKLOAD whose jobs arrive later has" if alone else more
        yield f"{streams} of jobs cannot show whether that is more than chance; {more}."
    else:
        yield f"{other} is {words}." if words else f"{other} does not differ from {one} for certain by any measure."
        yield f"That speaks of {found.units} streams of jobs: the log and its variations."
    if none := [spoken(line.measure.name) for line in found.lines if line.ratio != line.ratio]:
        yield f"{', '.join(none)}: no ratio (–), because the value is 0 in a stream. The test limits ratios to 10⁶."
    if found.units >= FEWEST and any(
        line.ratio == line.ratio and line.interval[0] != line.interval[0] for line in found.lines
    ):
        yield "A ratio without an interval could be any: there are too few streams."
    if found.needed is not None:
        yield f"To see a difference of 10 % in the first measure takes about {counted(found.needed, 'stream')}."
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
