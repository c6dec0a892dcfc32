"""Checks that a run ends, and in good time."""

import time

from numba import config

from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import Chosen, Subject, Wrong, spy

#: How long a policy may think about one question [s]. A log of 100,000 jobs asks at least so many.
SLOW = 0.01


@check(
    "runs",
    "a policy that stops the run gives no schedule at all; it must know what to do with every job there can be: "
    "one that takes no time, one as wide as the machine, a whole queue at one instant",
)
def runs(subject: Subject, case: Case) -> None:
    """Require that the run ends well; `Subject.run` says so if not."""
    subject.run(case)


@check(
    "pace",
    "logs have hundreds of thousands of jobs, and a tournament has hundreds of runs; a policy that asks a slow model "
    "should ask it once for a job and remember the answer",
    crowds=0,
    most=3,
)
def pace(subject: Subject, case: Case) -> None:
    """Require that a question is answered in good time, whatever the machine is busy with besides."""
    if (slow := min(_seconds_a_question(subject, case) for _ in range(3))) > SLOW:
        raise Wrong(
            f"it is slow: {1000 * slow:.3g} ms for each question, where less than {1000 * SLOW:g} were expected"
        )


def _seconds_a_question(subject: Subject, case: Case) -> float:
    """Return how long one call takes: measured around it in plain Python, else the whole run by its questions."""
    spent: list[float] = []

    def before(*arguments: object) -> None:
        spent.append(-time.perf_counter())

    def after(*arguments: object) -> None:
        spent[-1] += time.perf_counter()

    def watched(chosen: Chosen) -> Chosen:
        spy(chosen, subject.part, before=before, after=after)
        return chosen

    if subject.plain or config.DISABLE_JIT:
        subject.run(case, watched=watched)
        return sum(spent) / max(1, len(spent))
    outcome = subject.run(case).outcome
    questions = int(outcome.clock.instants)
    if subject.policy.hook == "order_queue":  # at least once for each job, at most for all at every instant
        questions = max(len(case.jobs), questions)
    return outcome.seconds / questions
