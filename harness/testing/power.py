"""The check of energy policies: what nodes draw adds up, over time and over who is charged."""

import math
from dataclasses import replace
from typing import Any

from harness.testing.cases import Case
from harness.testing.comparing import close
from harness.testing.subject import Chosen, Subject, Wrong, spy


def energy(subject: Subject, case: Case) -> None:
    """What nodes draw adds up: over time, and to what jobs and idle nodes are charged."""
    case = replace(case, company={**case.company, "sleep": "never"})
    function = getattr(subject.policy.function, "py_func", subject.policy.function)
    own: list[tuple[Any, ...]] = []
    drawn = 0.0  # by all nodes, since the last instant
    since = math.nan
    joules = 0.0

    def remember(node: Any, clock: Any, *more: Any) -> None:
        own[:] = [more]

    def integrate(state: Any, *more: Any) -> None:
        nonlocal joules
        if not math.isnan(since):
            joules += drawn * (float(state.clock.now) - since)

    def measure(answer: Any, state: Any, *more: Any) -> None:
        nonlocal drawn, since
        later = state.clock.copy()
        later.now += 3600.0
        later.virtual += 3600.0
        drawn, since = 0.0, float(state.clock.now)
        for number, node in enumerate(state.nodes):
            watts = float(function(node, state.clock, *own[0]))
            if watts != float(function(node, later, *own[0])):
                raise Wrong(f"what it says of node {number} changes with the time alone, at {since:g} s")
            drawn += watts

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, "energy", before=remember)
        spy(chosen, "rate", before=integrate)
        spy(chosen, "sleep", after=measure)
        return chosen

    schedule = subject.run(case, watched=watched if not subject.policy.extras else None)
    nodes, jobs = schedule.outcome.nodes, schedule.outcome.jobs
    total = float(nodes.energy.sum())
    apart = sum(float(nodes[name].sum()) for name in nodes.dtype.names if name.endswith("_energy"))
    if not close(total, float(jobs.energy.sum()) + apart):
        raise Wrong(f"jobs are charged {jobs.energy.sum():g} J and idle nodes {apart:g} J of {total:g} J")
    if not subject.policy.extras and not close(total, joules):
        raise Wrong(f"the nodes drew {joules:g} J by the integral of their watts, and {total:g} J are accounted")
