"""The description of a kind of event: the time of the next one, and the function that applies those that are due.

A module of this folder describes one kind. `harness/engine/loop.py` lists all kinds in the order in which it applies
them, and compiles into a loop those that its features need.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Features of a loop, flags: predictions, decisions per event and scheduling passes; holds; decisions from outside.
TIMED, HOLDS, STEPS = 1, 2, 4

#: When a kind of event counts: always; while jobs are in the system, or an event that always counts is to come; or only
#: if an event of those two roles is to come. The last role alone does not keep a run alive.
ALWAYS, WITH_JOBS, WITH_OTHERS = range(3)

#: How the time of an event is known. An INPUT is exact: an instant within rounding of it moves to it. A SUM is
#: calculated. An ESTIMATE makes an instant only if it comes before the others by more than rounding.
INPUT, SUM, ESTIMATE = range(3)


@dataclass(frozen=True)
class EventSource:
    """A kind of event. Without `next_time` it makes no instant; without `apply` another source applies its events."""

    next_time: Callable[[Any], float] | None = None  # of the state [s], infinity if there is none
    apply: Callable[[Any], None] | None = None  # applies the events of this instant, if there are any
    role: int = ALWAYS
    rounding: int = SUM
    needs: int = 0  # the features that a loop with this source has …
    unless: int = 0  # … and those that it does not have
