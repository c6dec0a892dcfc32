"""What exactly was run: inputs by their hashes, preparation, policies by their source, versions, machine, command."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness import __version__
from harness.compile.fingerprint import engine_version, fingerprint
from harness.errors import HarnessError
from harness.experiment.stored_results import COLUMNS
from harness.experiment.surroundings import surroundings
from harness.policy.registry import plugins as load
from harness.policy.scheduler import Scheduler
from harness.policy.spec import Choice, choose
from harness.report.page_subject import Subject
from harness.report.section import section
from harness.workload.events import COLUMNS as EVENT_COLUMNS

if TYPE_CHECKING:
    from harness.experiment.stored_results import Results
    from harness.results.schedule import Schedule
    from harness.workload.events import Events


@section("provenance", "What exactly was run?")
def provenance(subject: Subject) -> dict[str, Any]:
    """Gather everything that the results depend on."""
    if subject.schedule is not None:
        return of_run(subject.schedule, subject.command, subject.plugins)
    assert subject.results is not None
    return of_tournament(subject.results, subject.frame, subject.plugins)


def of_tournament(results: "Results", frame: pd.DataFrame, plugins: tuple[str, ...]) -> dict[str, Any]:
    """Return the provenance of a tournament, as its store has it."""
    about = results.about
    chosen = sorted({(part, str(spec)) for part, column in COLUMNS.items() for spec in frame[column].unique() if spec})
    failed = frame[frame["status"] == "failed"]
    return {
        **about,
        "policies": _policies(chosen, plugins),
        "failures": failed.to_dict("records"),
        "made_with": f"{__version__}, engine {engine_version()}",
        "schedules": frame["schedule_digest"].nunique(),
    }


def of_run(schedule: "Schedule", command: str, plugins: tuple[str, ...]) -> dict[str, Any]:
    """Return the provenance of one run."""
    workload, machine = schedule.workload, schedule.platform
    return {
        "command": command,
        "workers": "",
        **surroundings(),
        "workloads": [
            {
                "name": workload.name,
                "source": workload.name,
                "digest": workload.digest,
                "jobs": len(workload),
                "procs": workload.procs,
                "preparation": [vars(step) for step in workload.preparation],
            }
        ],
        "platforms": [{"name": machine.name, "digest": machine.digest, "nodes": machine.nodes, "procs": machine.cores}],
        "policies": [_policy(part, spec, schedule.policies[part]) for part, spec in schedule.scheduler.items()],
        "seed": schedule.seed,
        "timing": schedule.timing.as_dict(),
        "digest": schedule.digest,
        "events": _events(schedule.events),
        "failures": [],
        "made_with": f"{__version__}, engine {engine_version()}",
    }


def _events(events: "Events | None") -> Mapping[str, object] | None:
    if events is None:
        return None
    text = events.frame[list(EVENT_COLUMNS)].to_csv(index=False, lineterminator="\n")
    return {
        "source": events.source,
        "count": len(events.frame),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "interrupted": events.interrupted,
    }


def _policies(chosen: Iterable[tuple[str, str]], plugins: tuple[str, ...]) -> list[Mapping[str, str]]:
    """Return every policy with its parameters, what it says it does, and the version of its source here."""
    known = load(*plugins).policies
    rows: list[Mapping[str, str]] = []
    for part, spec in chosen:
        hook = Scheduler.HOOKS[part]
        try:
            rows.append(_policy(part, spec, choose(spec, hook, known[hook])))
        except HarnessError:
            rows.append({"part": part, "spec": spec, "about": "not installed here", "version": ""})
    return rows


def _policy(part: str, spec: str, choice: Choice) -> Mapping[str, str]:
    """Return a policy with its parameters, what it says it does, and the version of its source here."""
    policy = choice.policy
    return {"part": part, "spec": spec, "about": policy.summary, "version": fingerprint(policy.function)}
