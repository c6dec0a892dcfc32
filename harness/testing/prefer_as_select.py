"""Convert a policy that ranks nodes to a selection that takes nodes itself, so that tests can observe it."""

import dataclasses
import inspect
from typing import Any

from harness.engine.resources.allocation import take
from harness.engine.resources.nodes import room
from harness.policy.kinds import Prefer, Select


def as_select(policy: Prefer) -> Select:
    """Return a selection with the same decisions as the policy; it ranks all nodes again after each node."""
    merit = getattr(policy.function, "py_func", policy.function)
    names = list(inspect.signature(merit).parameters.values())[2:]
    given = [one for one in names if one.name != "procs"]

    def select(state: Any, job: int, *rest: Any) -> bool:
        known = {one.name: value for one, value in zip(given, rest, strict=True)}
        need = int(state.jobs[job].procs)
        while need > 0:
            best = None
            for number in range(len(state.nodes)):
                procs = min(need, room(state, job, number))
                if procs > 0:
                    arguments = [known.get(one.name, procs) for one in names]
                    worth = float(merit(state.nodes[number], state.jobs[job], *arguments))
                    if best is None or worth > best[0]:
                        best = worth, number, procs
            if best is None:
                return False
            take(state, job, *best[1:])
            need -= best[2]
        return True

    first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("state", "job")]
    select.__signature__ = inspect.Signature([*first, *given])  # type: ignore[attr-defined]
    select.__doc__ = inspect.getdoc(merit)
    traits = {one.name: getattr(policy, one.name) for one in dataclasses.fields(Select) if one.name != "function"}
    return Select(**{**traits, "function": select, "compiled": False})
