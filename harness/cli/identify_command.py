"""`harness identify`: which policies does the real scheduler most resemble?"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import options
from harness.cli.console import compiling_said, say, warnings_said
from harness.cli.run_command import preparation, provenance

if TYPE_CHECKING:
    from harness.experiment.identification import Likeness
    from harness.experiment.identity_verdict import Verdict
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload


@options.spread
def identify(
    workload: options.Workload,
    order: Annotated[list[str] | None, typer.Option(help="an order; may be repeated (all there are)")] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(help="a start policy; may be repeated (all that do not preempt, and EASY-SJBF)"),
    ] = None,
    *,
    given: options.Replay,
    best: Annotated[int | None, typer.Option(help="show only so many, the nearest", min=1)] = None,
    states: Annotated[
        int, typer.Option(help="states of the logged machine in which each is asked whom it would start", min=0)
    ] = 200,
    events: options.Events = None,
    interrupted: options.Interrupted = "requeue",
    launch: options.Launch = "exponential(mean=5)",
    completion: options.Completion = "exponential(mean=5)",
    workers: options.Workers = None,
) -> None:
    """Replay WORKLOAD under every combination of order and start policy, and rank them by P against its log.

    Weeks of the log are redrawn to see how sure the ranks are. Each combination is also asked, in states that the log
    says there were, whom it would start: a score of single decisions, in which no error leads to the next. The verdict
    goes by that, and may be: none of these. `--launch` and `--completion` are the overheads that the machine may have.
    """
    given.refuse_unknown_waits()
    states = states if given.hold == "none" else 0  # a state is put together at another time, and holds go by the clock
    with compiling_said(), warnings_said():
        from harness.experiment.identification import identify as ranked
        from harness.experiment.identity_verdict import identity_verdict, scheduler_in_header
        from harness.experiment.simulation import simulate
        from harness.present.json_text import to_json
        from harness.present.progress import progress

        given.known_format()
        happenings = options.happenings(events, interrupted)
        prepared = given.jobs(workload)
        machine = given.machine(prepared)
        rest = given.scheduler("fcfs", "easy")
        shared: dict[str, Any] = {"seed": given.seed, "plugins": given.folders, "timing": given.timing}
        with progress("simulating", "replays") as advance:
            found = ranked(
                prepared,
                machine,
                orders=order or (),
                starts=start or (),
                scheduler=rest,
                workers=workers,
                events=happenings,
                states=states,
                progress=advance,
                **shared,
            )

        def replay(jobs: "Workload", one: "Likeness") -> "Schedule":
            return simulate(jobs, machine, replace(rest, order=one.order, start=one.start), **shared)

        verdict = identity_verdict(
            prepared, machine, found, replay, states=states, launch=launch, completion=completion, seed=given.seed
        )
    claim = scheduler_in_header(prepared.header)
    if given.format == "json":
        say(to_json(provenance(prepared) | _facts(given, found, verdict, claim, best)))
        return
    about = f"{prepared.name}: {len(prepared):,} jobs under {len(found)} combinations, the nearest to the log first"
    told = [_ranking(found[:best], about, given.format)]
    if given.format == "table":
        told = [*preparation(prepared), "", *told, "", *_sentences(found, verdict, claim, given.hold != "none")]
    say(*told, sep="\n")


def _facts(
    given: options.Replay, found: "list[Likeness]", verdict: "Verdict | None", claim: str, best: int | None
) -> dict[str, Any]:
    """Return the ranking and what it was made with, for JSON."""
    return {
        **{name: getattr(given, name) for name in (*options.COMMON, "seed")},
        "timing": given.timing.as_dict(),
        "combinations": len(found),
        "header": claim or None,
        "verdict": asdict(verdict) | {"words": str(verdict)} if verdict else None,
        "ranking": [{"rank": place, **asdict(likeness)} for place, likeness in enumerate(found[:best], start=1)],
    }


def _ranking(found: "list[Likeness]", about: str, format: str) -> str:
    """Return the ranking as a table."""
    from harness.present.tables import render

    off = ("P", "median |V − v|", "skill")
    headers = ("rank", "95 % interval", "tied", "order", "start", *off, "decisions", "typically", "simulation")
    units = ("", "", "", "", "", "s", "s", "", "", "", "s")
    return render(headers, [_row(place, one) for place, one in enumerate(found, 1)], format, units=units, caption=about)


def _row(place: int, one: "Likeness") -> tuple[Any, ...]:
    interval = f"{one.first} to {one.last}"
    tied = "yes" if one.tied else ""
    figures = (one.P, one.median, one.skill, one.one_step, one.typical, one.seconds)
    return place, interval, tied, one.order, one.start, *figures


def _sentences(found: "list[Likeness]", verdict: "Verdict | None", claim: str, held: bool) -> list[str]:
    """Say who wrote the log, as far as can be told."""
    tied = sum(one.tied for one in found)
    told = [
        f"By P, {found[0].order} + {found[0].start} is nearest"
        + (f"; weeks of the log redrawn, {tied - 1} others cannot be told from it." if tied > 1 else ".")
    ]
    if found[0].skill <= 0:
        told.append("It is no nearer to the log than one wait for all jobs would be.")
    if verdict:
        told.append(f"By single decisions: {verdict}")
    elif held:
        told.append("Single decisions are not asked of schedulers that hold jobs back: these go by the hour.")
    if claim:
        place = next((k for k, one in enumerate(found, 1) if (one.order, one.start) == ("fcfs", "easy")), None)
        about = f"; fcfs + easy has rank {place}" if place and "easy" in claim.lower() else ""
        told.append(f'The header of the log says: "{claim}"{about}.')
    return told
