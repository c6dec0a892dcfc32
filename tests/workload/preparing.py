"""What tests of preparation share."""

import pandas as pd

from harness.workload.frame import log_from_frame
from harness.workload.log import Log, Workload


def log_of(**columns: list[float]) -> Log:
    """A log with the given columns; jobs of one processor and 100 s unless they say otherwise."""
    n = len(next(iter(columns.values())))
    standard = {"submit": list(range(n)), "run": [100] * n, "procs": [1] * n}
    return log_from_frame(pd.DataFrame(standard | columns), "made")


def touched(workload: Workload) -> dict[str, int]:
    return {step.name: step.jobs for step in workload.preparation}
