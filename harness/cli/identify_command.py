"""`harness identify`: which policies does the real scheduler most resemble?"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from harness.cli import options
from harness.cli.console import echo, notices_on_stderr
from harness.cli.run_command import preparation, provenance

if TYPE_CHECKING:
    from harness.experiment.identification import Likeness
    from harness.experiment.identity_verdict import Verdict
    from harness.results.schedule import Schedule
    from harness.workload.log import Workload


@options.expand_groups
def identify(
    workload: options.Workload,
    order: Annotated[list[str] | None, options.policies(help="an order; repeatable (default: all)")] = None,
    start: Annotated[
        list[str] | None,
        options.policies(help="a start policy; repeatable (default: EASY-SJBF and all without preemption)"),
    ] = None,
    *,
    given: options.ReplayOptions,
    best: Annotated[int | None, options.output(help="print only the best N", min=1)] = None,
    states: Annotated[
        int, options.statistics(help="number of logged states in which single decisions are compared", min=0)
    ] = 200,
    events: options.Events = None,
    interrupted: options.Interrupted = "requeue",
    launch: options.Launch = "exponential(mean=5)",
    completion: options.Completion = "exponential(mean=5)",
    workers: options.Workers = None,
) -> None:
    """Rank all combinations of order and start policy by how close a replay of WORKLOAD is to its log.

    The distance is P of `harness adequacy`. Weeks of the log are resampled to show how certain the ranks are. A second
    score compares single decisions: in each of --states states of the logged machine, the jobs that a combination would
    start with those that started. No error affects a later decision. The verdict uses this score, and can be that none
    of the policies fits. `--launch` and `--completion` are the overheads that the machine may have.
    """
    given.refuse_unknown_waits()
    states = states if given.hold == "none" else 0  # holds depend on the clock, which a reconstructed state lacks
    with notices_on_stderr():
        from harness.experiment.identification import identify as ranked
        from harness.experiment.identity_verdict import identity_verdict, scheduler_in_header
        from harness.experiment.simulation import simulate
        from harness.present.json_text import to_json
        from harness.present.progress import progress

        given.known_format()
        external_events = options.read_external_events(events, interrupted)
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
                events=external_events,
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
        echo(to_json(provenance(prepared) | _facts(given, found, verdict, claim, best)))
        return
    about = f"{prepared.name}: {len(prepared):,} jobs under {len(found)} combinations, the nearest to the log first"
    blocks = [_ranking(found[:best], about, given.format)]
    if given.format == "table":
        blocks = [*preparation(prepared), "", *blocks, "", *_sentences(found, verdict, claim, given.hold != "none")]
    echo(*blocks, sep="\n")


def _facts(
    given: options.ReplayOptions, found: "list[Likeness]", verdict: "Verdict | None", claim: str, best: int | None
) -> dict[str, Any]:
    """Return the ranking and the options of the replays, for JSON."""
    return {
        **{name: getattr(given, name) for name in (*options.COMMON, "seed")},
        "timing": given.timing.as_dict(),
        "combinations": len(found),
        "header": claim or None,
        "verdict": asdict(verdict) | {"words": str(verdict)} if verdict else None,
        "ranking": [{"rank": place, **asdict(likeness)} for place, likeness in enumerate(found[:best], start=1)],
    }


def _ranking(found: "list[Likeness]", about: str, format: str) -> str:
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
    """Return sentences about which scheduler made the log, and how certain that is."""
    tied = sum(one.tied for one in found)
    sentences = [
        f"By P, {found[0].order} + {found[0].start} is nearest"
        + (f"; with resampled weeks, {tied - 1} others cannot be distinguished from it." if tied > 1 else ".")
    ]
    if found[0].skill <= 0:
        sentences.append("It is no nearer to the log than one wait for all jobs would be.")
    if verdict:
        sentences.append(f"By single decisions: {verdict}")
    elif held:
        sentences.append("Single decisions are not compared for schedulers with holds, which depend on the clock.")
    if claim:
        place = next((k for k, one in enumerate(found, 1) if (one.order, one.start) == ("fcfs", "easy")), None)
        about = f"; fcfs + easy has rank {place}" if place and "easy" in claim.lower() else ""
        sentences.append(f'The header of the log contains: "{claim}"{about}.')
    return sentences
