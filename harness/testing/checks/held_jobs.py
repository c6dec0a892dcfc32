"""Check holds: no held job starts, and every job that is not held is considered."""

import math
from copy import deepcopy
from dataclasses import replace
from typing import Any

import harness
from harness.engine.policy_analysis import answers_alike
from harness.engine.queue.usage_sums import up_to_date
from harness.policy.kinds import Policy
from harness.policy.usage_shares import WHOSE
from harness.policy_api.readonly_views import unwrap, view_of
from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Chosen, Subject, add_recorders


def _repeatable(policy: Policy) -> bool:
    """Return whether it is a hold that may be called once more without a change of its state."""
    return policy.hook == "hold_jobs" and not policy.stochastic and not policy.fresh and not policy.memory


class _Asked:
    """Calls the hold with its last arguments, but about another job."""

    def __init__(self, subject: Subject) -> None:
        self.function = getattr(subject.policy.function, "py_func", subject.policy.function)
        self.named = subject.policy.extras
        self.own: tuple[Any, ...] | None = None

    def listen(self, state: Any, job: int, *own: Any) -> None:
        self.own = deepcopy(own)

    def free(self, state: Any, job: int) -> bool:
        """Return whether the hold releases the job now."""
        if self.own is None:
            return True
        extras = [self._of(state, job, *given) for given in zip(self.named, self.own, strict=False)]
        answer = self.function(state, job, *extras, *self.own[len(extras) :])
        return not harness.later(float(answer), state.clock.now)

    def _of(self, state: Any, job: int, name: str, asked: Any) -> Any:
        """Return the argument of this name: for a user, group or queue, the record of the job's own."""
        if name not in WHOSE:
            return asked
        inside = unwrap(state).real
        shares = getattr(inside, f"{name}s")
        return view_of(shares)[up_to_date(inside, shares, int(inside.jobs[job][name]))]


@check(
    "rechecked_on",
    "about a released job, a hold is called again only at the events that it declares: an undeclared event would let "
    "the job start although it is held",
    applies=_repeatable,
    crowds=2,
)
def held_again(subject: Subject, case: Case) -> None:
    """Require that no job starts that the hold would hold at that moment."""
    hold = _Asked(subject)
    traits: Any = subject.policy

    def starting(state: Any, job: int, *own: Any) -> None:
        if not state.clock.asking and not hold.free(state, job):
            raise CheckError(
                f"job {state.jobs[job].number} starts at {state.clock.now:g} s although it is held then: it was "
                f"released before, and the hold declares that only {' and '.join(traits.rechecked_on) or 'nothing'} may"
                f" make it hold a job again, rechecked_on={traits.rechecked_on!r}"
            )

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, "hold", before=hold.listen)
        add_recorders(chosen, "select", before=starting)
        return chosen

    if not traits.constant:
        subject.run(case, watched=watched)


@check(
    "released_on",
    "for a job held without a time, the hold is called again when a job ends, or at other events that it declares: "
    "after an undeclared event, jobs would wait in vain",
    applies=_repeatable,
    crowds=2,
)
def released_in_time(subject: Subject, case: Case) -> None:
    """Require that no job is held, when starts are decided, that the hold would release."""
    hold = _Asked(subject)
    traits: Any = subject.policy

    def deciding(state: Any, *own: Any) -> None:
        for job in range(len(state.jobs)):
            if state.jobs[job].status == harness.HELD and hold.free(state, job):
                raise CheckError(
                    f"job {state.jobs[job].number} is held at {state.clock.now:g} s although the hold would release it "
                    "then: it returned another time, or infinity, which means that only "
                    f"{' and '.join(traits.released_on)} can release it, released_on={traits.released_on!r}"
                )

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, "hold", before=hold.listen)
        add_recorders(chosen, "rate", before=deciding)
        return chosen

    if not traits.constant:
        subject.run(case, watched=watched)


@check(
    "same_answer_for",
    "a hold is called once for all jobs that are equal in the fields named in alike, and they are held and released "
    "together: a policy that distinguishes them further would hold a job by the answer for another",
    applies=lambda policy: bool(getattr(policy, "same_answer_for", ())),
    crowds=4,
)
def same_answer_for_alike(subject: Subject, case: Case) -> None:
    """Require the same answer for jobs equal in these fields; a held job may be held behind a released one."""
    traits: Any = subject.policy
    given: dict[Any, tuple[float, int]] = {}

    def compare(moment: tuple[Any, ...], job: Any, answer: float, later_ones_held: bool = False) -> None:
        key = (*moment, *(job[name] for name in traits.same_answer_for))
        before, number = given.setdefault(key, (answer, int(job.number)))
        if not math.isclose(before, answer, rel_tol=1e-9) and not (later_ones_held and answer > before):
            raise CheckError(
                f"at {moment[0]:g} s the answer is {before:g} for job {number} and {answer:g} for job {job.number}, "
                f"which are equal in same_answer_for={traits.same_answer_for!r}"
            )

    def of_hold(answer: float, state: Any, job: int, *own: Any) -> None:
        clock, record = state.clock, state.jobs[job]
        moment = (clock.now, clock.running, clock.free, clock.started, int(record.status))
        singly = record.status == harness.HELD and not answers_alike(subject.choose(case)["hold"])
        compare(moment, record, float(answer) if harness.later(float(answer), clock.now) else -math.inf, singly)

    def of_order(answer: float, job: Any, clock: Any, *own: Any) -> None:
        compare((clock.now, clock.running), job, float(answer))

    def watched(chosen: Chosen) -> Chosen:
        part = subject.part
        asked_singly = replace(chosen[part], policy=replace(chosen[part].policy, same_answer_for=()))
        chosen[part] = asked_singly
        add_recorders(chosen, part, after=of_hold if part == "hold" else of_order)
        return chosen

    subject.run(case, watched=watched)
