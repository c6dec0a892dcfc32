"""Who starts now?"""

import harness
from sched_aging.age import age


def patient(state, limit=12.0, strict=False):
    """In order, start whatever fits, until a job is met that has waited long enough to be waited for.

    `limit`: how long that is [h]. `strict`: wait for the first job that does not fit, whatever its age.
    """
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif strict or age(state.jobs[job], state.clock) >= limit:
            return


@harness.hookimpl
def start_jobs():
    return [harness.Start("patient", patient, least={"limit": 0})]
