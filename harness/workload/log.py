"""What a workload is: the log as it was read, and the jobs as they will be replayed."""

from dataclasses import dataclass, field
from enum import IntEnum

import pandas as pd

#: The eighteen columns of the Standard Workload Format, version 2.2, by the names used throughout the harness.
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

#: What the names of further columns begin with, which a log may have for policies to read: `x_priority`, say.
FURTHER = "x_"

#: The further column of logs that say how long after each job the next one came [s].
GAP = f"{FURTHER}gap"
#: Some of them have a meaning: the job that this one has to wait for, and how long after it [s], and when a job may
#: begin [s, as `submit`].
PRECEDING, THINK, BEGIN = "x_preceding", "x_think", "x_begin"

#: The others that a job has to wait for besides, if it has to wait for several.
ALSO_PRECEDING = tuple(f"{PRECEDING}_{k}" for k in range(2, 9))

#: What it waits for of each of them: its end (0), its success (1) or its start (2); −1 where the log does not say.
AFTER = ("x_after", *(f"x_after_{k}" for k in range(2, 9)))

#: Of a workload that begins in the middle: since when a job has run [s, as `submit`]; −1 if it has not begun.
STARTED = "x_started"


class LoggedStatus(IntEnum):
    """How a log says that a job ended, in the codes of the Standard Workload Format."""

    UNKNOWN = -1
    FAILED = 0
    COMPLETED = 1
    PARTIAL = 2  # a piece of a job that was checkpointed or swapped, to be continued …
    LAST_PARTIAL = 3  # … the last piece, completed …
    FAILED_PARTIAL = 4  # … or failed
    CANCELLED = 5  # before it started, or while it ran


#: A further column: how a job of Slurm has no limit of its own, by the word of the accounting in small letters.
NO_LIMIT = f"{FURTHER}no_limit"
WITHOUT_LIMIT = {"unlimited": 1, "partition_limit": 2}

#: The step of the preparation that gives such jobs a limit.
NO_LIMIT_STEP = "no limit"


@dataclass(frozen=True)
class Step:
    """One step of reading or preparing a workload, and how many jobs it touched."""

    name: str
    jobs: int
    detail: str = ""


@dataclass(frozen=True)
class Log:
    """A trace as it was written: the columns of `SWF_COLUMNS`, unknown values −1, in the order of the file.

    Further columns of numbers, for policies that ask for them, have names that begin with `x_`.
    """

    name: str
    jobs: pd.DataFrame
    header: tuple[str, ...] = ()  # comment lines without their line ends, as they stood
    source: str = ""  # path or generator call, for people
    digest: str = ""  # SHA-256 of the content, for identity
    reading: tuple[Step, ...] = ()  # what reading had to do: lines skipped, columns ignored, …
    procs: int | None = None  # processors of the machine, where known


@dataclass(frozen=True)
class Workload:
    """Jobs ready to be replayed, one row per job in log order.

    Columns: `job` (number in the log), `submit` [s], `procs`, `work` [s at reference speed], `estimate` [s],
    `memory` [KB per processor, −1 unknown], `user`, `group`, `queue`, `partition` (−1 unknown),
    `cancel` [s: leaves the queue then if it still waits; infinity = never], `killed` (ends at its estimate,
    not by itself), and, only for comparison, what the log says happened: `logged_wait`, `logged_run`,
    `logged_status`. Further columns of the log, `x_…`, are there as they were, and where any job of the log waits for
    another one, `x_preceding` (that one's number) and `x_think` [s].
    """

    name: str
    jobs: pd.DataFrame
    procs: int | None  # processors of the machine the log comes from, when it says so
    digest: str  # identity of content and preparation together
    preparation: tuple[Step, ...] = field(default=())
    header: tuple[str, ...] = ()  # of the log: it may say when and where it was
    now: float | None = None  # it begins in the middle: from then on it is replayed, and has a column `STARTED`
    parts: "tuple[Workload, Workload] | None" = None  # then: who is there at first, and who comes later

    def __len__(self) -> int:
        return len(self.jobs)
