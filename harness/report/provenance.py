"""What exactly was run: inputs by their hashes, preparation, policies by their source, versions, machine, command."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from harness import __version__
from harness.policy import Scheduler, choose
from harness.report.figures import Section
from harness.tournament.results import COLUMNS
from harness.version import engine_version, fingerprint, surroundings
from harness.workload.events import COLUMNS as EVENT_COLUMNS

if TYPE_CHECKING:
    from harness.results.schedule import Schedule
    from harness.tournament.results import Results
    from harness.workload.events import Events

_TITLE = "What exactly was run?"


def of_tournament(results: "Results", frame: pd.DataFrame, plugins: tuple[str, ...]) -> Section:
    """The provenance of a tournament, as its store has it."""
    about = results.about
    chosen = sorted({(part, str(spec)) for part, column in COLUMNS.items() for spec in frame[column].unique() if spec})
    failed = frame[frame["status"] == "failed"]
    data = {
        **about,
        "policies": _policies(chosen, plugins),
        "failures": failed.to_dict("records"),
        "made_with": f"{__version__}, engine {engine_version()}",
        "schedules": frame["schedule_digest"].nunique(),
    }
    return Section("provenance", _TITLE, "provenance.html.j2", data)


def of_run(schedule: "Schedule", command: str, plugins: tuple[str, ...]) -> Section:
    """The provenance of one run."""
    workload, machine = schedule.workload, schedule.platform
    data = {
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
        "policies": _policies(schedule.scheduler.items(), plugins),
        "seed": schedule.seed,
        "digest": schedule.digest,
        "events": _events(schedule.events),
        "failures": [],
        "made_with": f"{__version__}, engine {engine_version()}",
    }
    return Section("provenance", _TITLE, "provenance.html.j2", data)


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
    """Every policy with its parameters, what it says it does, and the version of its source here."""
    from harness.errors import HarnessError
    from harness.plugins import plugins as load

    known = load(*plugins).policies
    rows: list[Mapping[str, str]] = []
    for part, spec in chosen:
        hook = Scheduler.HOOKS[part]
        try:
            policy = choose(spec, hook, known[hook]).policy
            rows.append(
                {"part": part, "spec": spec, "about": policy.summary, "version": fingerprint(policy.function)[:12]}
            )
        except HarnessError:  # of a plugin that is not here
            rows.append({"part": part, "spec": spec, "about": "not installed here", "version": ""})
    return rows
