"""Check that a run ends, and is fast enough."""

import time

from numba import config

from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Chosen, Subject, add_recorders

#: The longest mean time of a call [s]. A log of 100,000 jobs needs at least as many calls.
SLOW = 0.01


@check(
    "runs",
    "a policy that stops the run gives no schedule at all; it must handle every possible job: one with runtime 0, one "
    "as wide as the machine, a whole queue at one instant",
)
def runs(subject: Subject, case: Case) -> None:
    """Require that the run ends without an error; `Subject.run` raises it otherwise."""
    subject.run(case)


@check(
    "pace",
    "logs have hundreds of thousands of jobs, and a tournament has hundreds of runs; a policy with a slow model should "
    "call it once for each job and keep the result",
    crowds=0,
    most=3,
)
def pace(subject: Subject, case: Case) -> None:
    """Require a short mean time of calls; the fastest of three runs counts, as the machine may be busy."""
    if (slow := min(_seconds_a_question(subject, case) for _ in range(3))) > SLOW:
        raise CheckError(
            f"it is slow: {1000 * slow:.3g} ms for each call, where less than {1000 * SLOW:g} were expected"
        )


def _seconds_a_question(subject: Subject, case: Case) -> float:
    """Return the mean time of a call: measured in plain Python, or estimated from a compiled run."""
    spent: list[float] = []

    def before(*arguments: object) -> None:
        spent.append(-time.perf_counter())

    def after(*arguments: object) -> None:
        spent[-1] += time.perf_counter()

    def watched(chosen: Chosen) -> Chosen:
        add_recorders(chosen, subject.part, before=before, after=after)
        return chosen

    if subject.plain or config.DISABLE_JIT:
        subject.run(case, watched=watched)
        return sum(spent) / max(1, len(spent))
    outcome = subject.run(case).outcome
    questions = int(outcome.clock.instants)
    if subject.policy.hook == "order_queue":  # at least once for each job, at most for all at every instant
        questions = max(len(case.jobs), questions)
    return outcome.seconds / questions
