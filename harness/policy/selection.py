"""The kinds of policy that say on which nodes a job runs: one that takes them itself, one by the merits of nodes.

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
    """On which nodes: `select(state, job, …) -> bool`, calling `harness.take`; False to decline.

    One that may decline although there are processors enough says so with `fits(state, job, then, …) -> bool`: whether
    it would place the job if each node had `then[node].free` free cores, of which it could have `then[node].room`.
    Plans ask it, and it keeps neither `memory` nor `dice`; without it they stop the run when it declines.
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
                f"policy {self.name!r}: it asks for {' and '.join(self.extras)}, but plans ask a selection with a fits "
                "of its own in vain as well; expected neither memory nor dice"
            )
        own = list(inspect.signature(self.function).parameters.values())[2:]
        check_agreement(self, "fits", ["state", "job", "then"], own)


@dataclass(frozen=True, eq=False)
class Prefer(Select):
    """On which nodes, by their merits: `merit(node, job, …) -> float`; the highest first, equal ones in their order.

    It is asked about nodes on which the job has room, and never declines. With an argument `procs`, how many processors
    the node would give the job, it is asked anew for every node that is taken. Of nodes alike (`harness.unlike`) it is
    asked about one, unless it names a field in which they may differ: so it is fast on large machines.
    """

    function: "OfTwo[Node, Job, float] | Callable[[Node, Job, int], float]"  # type: ignore[assignment]  # asked otherwise
    further = ("procs",)
    arguments = ("node", "job")
    answer = "a number"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fits:
            raise HarnessError(f"policy {self.name!r}: goes by merits and never declines; fits= is for harness.Select")
