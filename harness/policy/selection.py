"""The kinds of policy that select nodes: one takes nodes itself, one ranks them.

Import them from `kinds`, which lists them among the others.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.policy.declared_traits import check_agreement
from harness.policy.kinds import Policy

if TYPE_CHECKING:
    from harness.policy.kinds import OfTwo
    from harness.policy.records import Job, Node, State


@dataclass(frozen=True, eq=False)
class Select(Policy):
    """On which nodes a job runs: `select(state, job, …) -> bool`, calling `harness.take`; False to decline.

    A selection that may decline although enough processors are free declares `fits(state, job, then, …) -> bool`. It
    returns whether it would place the job if each node had `then[node].free` free cores, of which the job could have
    `then[node].room`. Plans call it, and it keeps neither `memory` nor `dice`. Without it, plans stop the run when the
    selection declines.
    """

    function: "OfTwo[State, int, bool]"
    fits: "Callable[..., bool] | None" = field(default=None, kw_only=True)
    part, plural = "select", "selections"
    hook = "select_resources"
    arguments = ("state", "job")
    answer = "True (taken) or False (declined)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fits is None:
            return
        if self.extras:
            raise HarnessError(
                f"policy {self.name!r}: it names {' and '.join(self.extras)}, but plans also call a selection with "
                "fits for starts that do not happen: expected neither memory nor dice"
            )
        own = list(inspect.signature(self.function).parameters.values())[2:]
        check_agreement(self, "fits", ["state", "job", "then"], own)


@dataclass(frozen=True, eq=False)
class Prefer(Select):
    """On which nodes a job runs, by rank: `merit(node, job, …) -> float`; the highest first, equal ones in their order.

    It is called for nodes that have room for the job, and never declines. An argument `procs` is the number of
    processors that the node would give the job; the function is then called again after each node that is taken. Of
    equal nodes (`harness.unlike`) it is called for one, unless it names a field in which they may differ. This makes it
    fast on large machines.
    """

    function: "OfTwo[Node, Job, float] | Callable[[Node, Job, int], float]"  # type: ignore[assignment]  # called differently
    further = ("procs",)
    arguments = ("node", "job")
    answer = "a number"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fits:
            raise HarnessError(f"policy {self.name!r}: ranks nodes and never declines; fits= is for harness.Select")
