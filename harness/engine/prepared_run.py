"""A run that is prepared: its state, its policies and its errors; and the outcome of a run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.engine import faults
from harness.engine.policy_errors import blame, explain, mistaken, where
from harness.engine.run_state import STATE, State
from harness.numba_support.lazy_symbols import NotMadeError, why_not
from harness.policy.permissions import Misuse
from harness.policy.spec import Choice
from harness.policy_api import compiled_policies


@dataclass(frozen=True)
class Outcome:
    """The arrays of a run as the loop left them."""

    jobs: Any  # records in order of submission
    nodes: Any
    clock: Any
    sums: Any
    notes: Any
    loop: Any
    place: np.ndarray[Any, Any]  # place[k]: row of the workload that became job k
    seconds: float  # simulation alone
    bytes: int  # of the arrays
    plain: dict[str, str]  # hook → policy that ran as plain Python
    processor_seconds: float = 0.0  # for how long the simulation had a processor
    first_starts: Any = ()  # of the jobs that had to begin anew [s]; empty where none can
    view: Any = None  # the records that policies and the engine share


@dataclass(frozen=True)
class PreparedRun:
    """A run before its first instant, or between two calls of its loop."""

    chosen: Mapping[str, Choice]
    view: Any
    inside: Any
    place: np.ndarray[Any, Any]
    state: State
    tickets: dict[str, int]
    features: int  # of the loop, flags of `event_source`

    @contextmanager
    def explaining_errors(self) -> Iterator[None]:
        """Name the policy and the time in errors that are raised in the block."""
        view, chosen = self.view, self.chosen
        try:
            yield
        except faults.PolicyFault:
            raise explain(view, chosen) from None
        except NotMadeError:
            raise why_not() from None
        except (Misuse, SystemExit) as error:
            ended = f"sys.exit({error.code!r})" if type(error) is SystemExit else str(error)
            what = f"called {ended}" if isinstance(error, SystemExit) else str(error)
            raise blame(view, chosen, what) from None
        except Exception as error:
            if mistake := mistaken(error, view, chosen):
                raise mistake from error
            error.add_note(where(view, chosen))
            raise

    def disconnect(self) -> None:
        """Release the policies in plain Python."""
        for ticket in self.tickets.values():
            compiled_policies.disconnect(ticket)

    def outcome(self, seconds: float, computed: float = 0.0) -> Outcome:
        """Return the arrays as the loop left them."""
        view, inside, place = self.view, self.inside, self.place
        policies = [self.chosen[part if part in self.chosen else part.split()[0]].policy for part in self.tickets]
        names = {policy.hook: str(policy.name) for policy in policies}
        size = sum(getattr(self.state, part).nbytes for part in STATE.parts)
        further = (seconds, size, names, computed, inside.first_starts, view)
        return Outcome(view.jobs, view.nodes, view.clock, inside.sums, view.notes, view.loop, place, *further)
