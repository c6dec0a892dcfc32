"""How jobs ended, as a code and a word, from the engine's records and the workload."""

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.engine.records.public import CANCELLED, HELD, KILLED, UNACCEPTED, WAITING
from harness.workload.log import LoggedStatus


class Ending(IntEnum):
    """How a job ended."""

    COMPLETED, KILLED, CANCELLED, UNACCEPTED, STRANDED = range(5)


#: By code: the word in the table of a schedule, and the status in the Standard Workload Format.
WORDS = np.array([ending.name.lower() for ending in Ending])
SWF_CODES = np.array([LoggedStatus.COMPLETED, LoggedStatus.FAILED, *[LoggedStatus.CANCELLED] * 3])


def endings(statuses: npt.NDArray[Any], jobs: Any) -> npt.NDArray[np.int64]:
    """Return the ending of each job, from the engine's `statuses` and the workload's `jobs`, both in log order."""
    gave_up = np.isfinite(jobs["cancel"].to_numpy()) | (statuses == CANCELLED)
    killed = (statuses == KILLED) | jobs["killed"].to_numpy(dtype=bool)
    kinds = [statuses == UNACCEPTED, gave_up, (statuses == WAITING) | (statuses == HELD), killed]
    codes = [Ending.UNACCEPTED, Ending.CANCELLED, Ending.STRANDED, Ending.KILLED]
    return np.select(kinds, codes, Ending.COMPLETED)
