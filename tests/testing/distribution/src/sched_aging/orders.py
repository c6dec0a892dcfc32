"""Who is next?"""

import harness
from sched_aging.age import age


def aged_area(job, clock, weight=1.0):
    """The smallest area first; every hour of waiting makes it smaller. `weight`: processor hours for each hour."""
    return job.estimate * job.procs / 3600.0 - weight * age(job, clock)


@harness.hookimpl
def order_queue():
    return [harness.Order("aged-area", aged_area, varies=True)]
