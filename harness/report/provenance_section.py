"""Provenance: inputs with their hashes, preparation, policies with their versions, machine, command."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness import __version__
from harness.errors import HarnessError
from harness.experiment.environment_info import environment_info
from harness.experiment.stored_results import COLUMNS
from harness.numba_support.fingerprint import engine_version, fingerprint
from harness.platform.machine import described
from harness.policy.registry import plugins as load
from harness.policy.scheduler import SLURM, Policies, Scheduler, queue_choices, queue_part
from harness.policy.spec import Choice, choose
from harness.report.page_subject import PageData
from harness.report.section import section
from harness.workload.events import COLUMNS as EVENT_COLUMNS

if TYPE_CHECKING:
    from harness.experiment.stored_results import Results
    from harness.results.schedule import Schedule
    from harness.workload.events import Events


@section("provenance", "What exactly was run?")
def provenance(subject: PageData) -> dict[str, Any]:
    """Return everything that the results depend on."""
    if subject.schedule is not None:
        return of_run(subject.schedule, subject.command, subject.plugins)
    assert subject.results is not None
    return of_tournament(subject.results, subject.frame, subject.plugins)


def of_tournament(results: "Results", frame: pd.DataFrame, plugins: tuple[str, ...]) -> dict[str, Any]:
    """Return the provenance of a tournament, as stored."""
    about = results.about
    chosen = sorted({(part, str(spec)) for part, column in COLUMNS.items() for spec in frame[column].unique() if spec})
    failed = frame[frame["status"] == "failed"]
    return {
        **about,
        "policies": [
            {**row, "spec": about.get("parameters", {}).get(row["spec"], row["spec"])}
            for row in _policies(chosen, plugins)
        ],
        "failures": failed.to_dict("records"),
        "made_with": f"{__version__}, engine {engine_version()}",
        "schedules": frame["schedule_digest"].nunique(),
    }


def of_run(schedule: "Schedule", command: str, plugins: tuple[str, ...]) -> dict[str, Any]:
    """Return the provenance of one run."""
    workload, machine, known = schedule.workload, schedule.platform, load(*plugins).policies
    return {
        "command": command,
        "workers": "",
        **environment_info(),
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
        "platforms": [described(machine)],
        "policies": _policies_of(schedule, known),
        "seed": schedule.seed,
        "timing": schedule.timing.as_dict(),
        "digest": schedule.digest,
        "events": _events(schedule.events),
        "failures": [],
        "made_with": f"{__version__}, engine {engine_version()}",
    }


def _policies_of(schedule: "Schedule", known: Policies) -> list[Mapping[str, str]]:
    """Return the policies of a run, or the parts that a Slurm configuration decides."""
    if schedule.policies.configured:
        return [_configured(part, spec) for part, spec in schedule.scheduler.items() if spec.startswith(SLURM)]
    rows = [row for part in schedule.scheduler for row in _rows(part, schedule.policies[part], known)]
    return [{**row, "spec": schedule.policies.in_full.get(row["spec"], row["spec"])} for row in rows]


def _configured(part: str, spec: str) -> Mapping[str, str]:
    return {"part": part, "spec": spec, "about": "as the configuration says", "version": ""}


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
    """Return every policy with its parameters, its summary, and the version of its source here."""
    known = load(*plugins).policies
    rows: list[Mapping[str, str]] = []
    for part, spec in chosen:
        if spec.startswith(SLURM):
            rows.append(_configured(part, spec))
            continue
        hook = Scheduler.HOOKS[part]
        try:
            rows += _rows(part, choose(spec, hook, known[hook]), known)
        except HarnessError:
            rows.append({"part": part, "spec": spec, "about": "not installed here", "version": ""})
    return list({(row["part"], row["spec"]): row for row in rows}.values())


def _rows(part: str, choice: Choice, known: Policies) -> list[Mapping[str, str]]:
    """Return the policies of a part one by one: each of several holds, and those of queues."""
    if part == "hold":
        return [_policy(part, replace(one, inner=None)) for one in choice.chain]
    rows = [_policy(part, replace(choice, queues=()))]
    own = queue_choices(choice, known)
    for queue in choice.queues:
        names = {"order": f"order of {queue.name}", "start": f"start of {queue.name}"}
        rows += [_policy(name, own[queue_part(one, queue)]) for one, name in names.items()]
    return rows


def _policy(part: str, choice: Choice) -> Mapping[str, str]:
    policy = choice.policy
    return {"part": part, "spec": str(choice), "about": policy.summary, "version": fingerprint(policy.function)}
