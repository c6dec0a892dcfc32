"""What a learner is shown of a waiting job: eight numbers between 0 and 1, the same for an environment and a policy."""

import math
from typing import Any

from harness.engine.decorators import jit

#: How many numbers there are.
FEATURES = 8

#: What they are, in order.
FEATURE_NAMES = ("wait", "requested", "width", "fits", "free", "queued", "area", "expansion")

#: Times up to so many seconds, queues up to so many jobs and expansion factors up to so much are told apart.
_LONGEST, _LONGEST_QUEUE, _WORST = 1e7, 1e4, 1e5


@jit
def described(job: Any, clock: Any) -> tuple[float, float, float, float, float, float, float, float]:
    """Describe a waiting job by eight numbers between 0 and 1, for a learner; times and counts by their logarithms.

    How long it has waited, what is left of its estimate, its share of all processors, whether there are processors
    enough now, the share of processors that is free, the length of the queue, what is left of its area, and its
    wait over its estimate.
    """
    wait = max(clock.now - job.submit, 0.0)
    width = job.procs / clock.cores
    return (
        min(math.log1p(wait) / math.log1p(_LONGEST), 1.0),
        min(math.log1p(job.left) / math.log1p(_LONGEST), 1.0),
        min(width, 1.0),
        1.0 if job.procs <= clock.free else 0.0,
        clock.free / clock.cores,
        min(math.log1p(clock.queued) / math.log1p(_LONGEST_QUEUE), 1.0),
        min(math.log1p(job.left * width) / math.log1p(_LONGEST), 1.0),
        min(math.log1p(wait / max(job.left, 1.0)) / math.log1p(_WORST), 1.0),
    )
