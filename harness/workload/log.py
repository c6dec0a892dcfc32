"""The two forms of a workload: the log as it was read, and the jobs to be replayed."""

from dataclasses import dataclass, field
from enum import IntEnum

import pandas as pd

#: The eighteen columns of the Standard Workload Format, version 2.2, by our names.
SWF_COLUMNS = (
    "job",
    "submit",
    "wait",
    "run",
    "used_procs",
    "cpu",
    "used_memory",
    "procs",
    "estimate",
    "memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding",
    "think",
)

#: Names of further columns begin with this, as in `x_priority`. They are numbers for policies to read.
FURTHER = "x_"

#: Time until the next job was submitted [s].
GAP = f"{FURTHER}gap"

#: The job that must end before this one, the delay after it [s], and the earliest start [s, as `submit`].
PRECEDING, THINK, BEGIN = "x_preceding", "x_think", "x_begin"

#: Further jobs that must end before this one.
ALSO_PRECEDING = tuple(f"{PRECEDING}_{k}" for k in range(2, 9))

#: The event of each of them that this job needs: end (0), success (1) or start (2); −1 if unknown.
AFTER = ("x_after", *(f"x_after_{k}" for k in range(2, 9)))

#: In a warm start: the start of a running job [s, as `submit`], −1 for a waiting one.
STARTED = "x_started"


class LoggedStatus(IntEnum):
    """The final status of a job, in the codes of the Standard Workload Format."""

    UNKNOWN = -1
    FAILED = 0
    COMPLETED = 1
    PARTIAL = 2  # a piece of a job that was checkpointed or swapped, to be continued …
    LAST_PARTIAL = 3  # … the last piece, completed …
    FAILED_PARTIAL = 4  # … or failed
    CANCELLED = 5  # before it started, or while it ran


#: A further column: why a Slurm job has no limit of its own, as a number for a word of the accounting.
NO_LIMIT = f"{FURTHER}no_limit"
WITHOUT_LIMIT = {"unlimited": 1, "partition_limit": 2}

#: The step of the preparation that gives such jobs a limit.
NO_LIMIT_STEP = "no limit"


@dataclass(frozen=True)
class Step:
    """One step of reading or preparing a workload, and the number of jobs it concerned."""

    name: str
    jobs: int
    detail: str = ""


@dataclass(frozen=True)
class Log:
    """A log as it was written: the columns of `SWF_COLUMNS`, with −1 for unknown values, in the order of the file.

    Further columns of numbers, for policies, have names that begin with `x_`.
    """

    name: str
    jobs: pd.DataFrame
    header: tuple[str, ...] = ()  # comment lines without line breaks
    source: str = ""  # path or generator call, to be printed
    digest: str = ""  # SHA-256 of the content
    reading: tuple[Step, ...] = ()  # what reading changed: lines skipped, columns ignored, …
    procs: int | None = None  # processors of the machine, if known


@dataclass(frozen=True)
class Workload:
    """Jobs ready to be replayed, one row per job in log order.

    Columns: `job` (number in the log), `submit` [s], `procs`, `work` [s at reference speed], `estimate` [s],
    `memory` [KB per processor, −1 unknown], `user`, `group`, `queue`, `partition` (−1 unknown), `cancel` [s: the job
    leaves the queue then if it still waits; infinity: never], `killed` (whether it ends at its estimate), and for
    comparison the logged `logged_wait`, `logged_run`, `logged_status`. Further columns of the log, `x_…`, are
    unchanged. If any job waits for another, there are `x_preceding` (the number of that job) and `x_think` [s].
    """

    name: str
    jobs: pd.DataFrame
    procs: int | None  # processors of the log's machine, if known
    digest: str  # of content and preparation together
    preparation: tuple[Step, ...] = field(default=())
    header: tuple[str, ...] = ()  # of the log
    now: float | None = None  # the time of a warm start, whose jobs have a column `STARTED`
    parts: "tuple[Workload, Workload] | None" = None  # of a warm start: the jobs present, and those that arrive later

    def __len__(self) -> int:
        return len(self.jobs)
