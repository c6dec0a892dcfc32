"""The further columns of a workload, as policies are given them."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from harness.engine.records.public import PENDING
from harness.errors import HarnessError, did_you_mean
from harness.policy.spec import Choice
from harness.workload.log import AFTER, ALSO_PRECEDING, BEGIN, FURTHER, PRECEDING, THINK, Workload

#: Those that say when a job may begin: a log without them says it of no job, and holds nobody.
_MAY_BEGIN = (BEGIN, PRECEDING, *ALSO_PRECEDING, THINK, *AFTER)


def further_column(workload: Workload, place: np.ndarray[Any, Any], statuses: Any, name: str) -> Any:
    """Return a further column of the workload, in the order of the jobs; refuse one that it does not have.

    Of the jobs that others wait for it is the index, −1 where there is none, or one that the machine cannot hold.
    """
    if name not in workload.jobs and name in _MAY_BEGIN:
        return np.full(len(place), -1.0)
    if name not in workload.jobs:
        known = [str(column) for column in workload.jobs if str(column).startswith(FURTHER)]
        raise HarnessError(
            f"a policy asks for the column {name!r}, which the workload {workload.name!r} does not have; "
            + did_you_mean(name, known, "it has no further columns")
        )
    column = workload.jobs[name].to_numpy(dtype=np.float64)
    if name == PRECEDING or name in ALSO_PRECEDING:  # policies know jobs by their index
        index = np.where(statuses == PENDING, np.arange(len(place)), -1)[np.argsort(place)]
        of_number = pd.Series(index, workload.jobs["job"].to_numpy()).groupby(level=0).first()
        column = of_number.reindex(column).fillna(-1).to_numpy(dtype=np.float64)
    return column[place]


class NothingSaidWarning(UserWarning):
    """Tells a user that a hold holds nobody, because the log says nothing of what it goes by."""


def tell_who_holds_nobody(holds: Iterable[Choice], workload: Workload) -> None:
    """Say of the holds that go by when jobs may begin, if the workload says that of none."""
    for hold in holds:
        asked = hold.policy.columns
        if asked and set(asked) <= set(_MAY_BEGIN) and workload.jobs.columns.intersection(asked).empty:
            warnings.warn(
                f"the policy {str(hold)!r} (hold_jobs) holds nobody of {workload.name}, which says of no job when it "
                f"may begin: it has no column {asked[0]!r}",
                NothingSaidWarning,
                stacklevel=2,
            )
