"""Check energy policies: the power of nodes adds up to their energy."""

import math
from dataclasses import replace
from typing import Any

from harness.testing.cases import Case
from harness.testing.comparing import close
from harness.testing.declared_checks import check, of
from harness.testing.subject import CheckError, Chosen, Subject, add_recorders


@check(
    "energy",
    "the loop computes the power of a node when its busy cores or the rate change, and assumes that it is constant "
    "between such changes",
    applies=of("account_energy"),
)
def energy(subject: Subject, case: Case) -> None:
    """Require that the energy of nodes is the integral of their power."""
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
                raise CheckError(f"the power of node {number} changes with the time alone, at {since:g} s")
            drawn += watts

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, "energy", before=remember)
        add_recorders(chosen, "rate", before=integrate)
        add_recorders(chosen, "sleep", after=measure)
        return chosen

    if subject.policy.extras:  # additional calls would change its memory
        return
    total = float(subject.run(case, watched=watched).outcome.nodes.energy.sum())
    if not close(total, joules):
        raise CheckError(f"the nodes drew {joules:g} J by the integral of their power, but {total:g} J are accounted")
