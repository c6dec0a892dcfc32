"""Checks of holds: nobody starts who is held, and nobody is forgotten who is not."""

from copy import deepcopy
from typing import Any

import harness
from harness.policy.kinds import Policy
from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import Chosen, Subject, Wrong, spy


def _repeatable(policy: Policy) -> bool:
    """Return whether it is a hold that may be asked once more without being told of it."""
    return policy.hook == "hold_jobs" and not policy.stochastic and not policy.fresh and not policy.memory


class _Asked:
    """The hold, to be asked besides as it was asked last."""

    def __init__(self, subject: Subject) -> None:
        self.function = getattr(subject.policy.function, "py_func", subject.policy.function)
        self.own: tuple[Any, ...] | None = None

    def listen(self, state: Any, job: int, *own: Any) -> None:
        self.own = deepcopy(own)

    def free(self, state: Any, job: int) -> bool:
        """Return whether the hold lets the job go now."""
        return self.own is None or not harness.later(float(self.function(state, job, *self.own)), state.clock.now)


@check(
    "again",
    "a hold is asked again about a job that it let go only when it may have to hold it again, which it says itself: "
    "else the job starts although it is held",
    applies=_repeatable,
    crowds=2,
)
def held_again(subject: Subject, case: Case) -> None:
    """Require that nobody starts whom the hold would hold at that moment."""
    hold = _Asked(subject)
    traits: Any = subject.policy

    def starting(state: Any, job: int, *own: Any) -> None:
        if not state.clock.asking and not hold.free(state, job):
            raise Wrong(
                f"job {state.jobs[job].number} starts at {state.clock.now:g} s although it is held then: it was let go "
                f"before, and the hold says that only {' and '.join(traits.again) or 'nothing'} may make it hold a job "
                f"again, again={traits.again!r}"
            )

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, "hold", before=hold.listen)
        spy(chosen, "select", before=starting)
        return chosen

    if not traits.constant:
        subject.run(case, watched=watched)


@check(
    "freed_by",
    "a job that is held without a time is asked about again when something ends, or what else the hold names: a hold "
    "that changes its mind otherwise lets jobs wait for nothing",
    applies=_repeatable,
    crowds=2,
)
def not_forgotten(subject: Subject, case: Case) -> None:
    """Require that nobody is held, when starts are decided, whom the hold would let go."""
    hold = _Asked(subject)
    traits: Any = subject.policy

    def deciding(state: Any, *own: Any) -> None:
        for job in range(len(state.jobs)):
            if state.jobs[job].status == harness.HELD and hold.free(state, job):
                raise Wrong(
                    f"job {state.jobs[job].number} is held at {state.clock.now:g} s although the hold would let it go "
                    "then: it said another time, or infinity, which means that only "
                    f"{' and '.join(traits.freed_by)} can release it, freed_by={traits.freed_by!r}"
                )

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, "hold", before=hold.listen)
        spy(chosen, "rate", before=deciding)
        return chosen

    if not traits.constant:
        subject.run(case, watched=watched)
