"""External events that a replay repeats: failures, repairs, and interventions in jobs.

They come from a CSV with the columns `time` [s], `event` (see `EVENTS`) and `subject`: a node, counted from 0, or a job
by its number in the log.
"""

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.stored import read_text
from harness.errors import HarnessError, did_you_mean, shortened, shown_name

COLUMNS = ("time", "event", "subject")

#: Event → its kind of subject, and its meaning. The engine numbers the events in this order.
EVENTS = {
    "node-down": ("node", "the node fails until its next node-up; its jobs are requeued or killed"),
    "node-up": ("node", "the node works again"),
    "job-deleted": ("job", "the waiting job leaves the queue for good; a running job continues"),
    "job-killed": ("job", "the running job ends at once, as if it had reached its limit"),
    "job-requeued": ("job", "the running job loses its progress and waits again"),
}
WORDS = tuple(EVENTS)

#: What happens to the jobs on a node that fails.
INTERRUPTED = ("requeue", "kill")


@dataclass(frozen=True, eq=False)
class Events:
    """External events, and the treatment of jobs on failing nodes: `requeue` or `kill`."""

    frame: pd.DataFrame
    interrupted: str = "requeue"
    source: str = "events"

    def __post_init__(self) -> None:
        if self.interrupted not in INTERRUPTED:
            meant = did_you_mean(self.interrupted, INTERRUPTED)
            raise HarnessError(f"interrupted={self.interrupted!r}: expected requeue or kill; {meant}")
        for column in COLUMNS:
            if column not in self.frame:
                raise HarnessError(f"{self.source}: expected a column {column!r}; needed: {', '.join(COLUMNS)}")
        for row, word in enumerate(self.frame["event"]):
            if word not in WORDS:
                raise self._wrong(row, f"there is no event {shown_name(word)}; {did_you_mean(str(word), WORDS)}")
        for column, test in (("time", np.isfinite), ("subject", _whole)):
            # Converted from text, since integers may be longer than 64 bits.
            numbers = pd.to_numeric(self.frame[column].astype(str), errors="coerce").to_numpy(float)
            if not test(numbers).all():
                row = int(np.argmin(test(numbers)))
                kind = "whole number" if column == "subject" else "number"
                raise self._wrong(
                    row, f"{column} '{shortened(str(self.frame[column].iloc[row]), 30)}': expected a {kind}"
                )

    def _wrong(self, row: int, what: str) -> HarnessError:
        return HarnessError(f"{self.source}, event {row + 1}: {what}")

    @property
    def requeue(self) -> bool:
        """Whether interrupted jobs return to the queue."""
        return self.interrupted == "requeue"

    def records(self, numbers: npt.NDArray[Any], nodes: int, layout: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return the events in order of time, in the engine's `layout`. Jobs become their positions in `numbers`."""
        records = np.zeros(len(self.frame), layout)
        records["time"] = pd.to_numeric(self.frame["time"])
        records["kind"] = [WORDS.index(word) for word in self.frame["event"]]
        place = {int(number): k for k, number in enumerate(numbers)}
        repeated = {int(number) for number in numbers[pd.Series(numbers).duplicated()]}
        for row, subject in enumerate(pd.to_numeric(self.frame["subject"])):
            if EVENTS[self.frame["event"].iloc[row]][0] == "node":
                if not 0 <= subject < nodes:
                    raise self._wrong(row, f"there is no node {subject:g}: expected 0 to {nodes - 1}")
                records["subject"][row] = subject
            elif subject in repeated:
                raise self._wrong(row, f"several jobs of the workload have the number {subject:.15g}: expected one")
            elif subject in place:
                records["subject"][row] = place[subject]
            else:
                raise self._wrong(row, f"the workload has no job {subject:.15g}")
        return records[np.argsort(records["time"], kind="stable")]


def _whole(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    whole: npt.NDArray[np.bool_] = np.isfinite(numbers) & (numbers == np.floor(numbers))
    return whole


def read_events(path: str | Path, *, interrupted: str = "requeue") -> Events:
    """Read a CSV of events."""
    text = read_text(Path(path), "a table of events")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # raised for rows longer than the header
            frame = pd.read_csv(io.StringIO(text), skipinitialspace=True, comment="#", index_col=False)
    except (ValueError, pd.errors.ParserWarning) as error:  # errors of pandas are ValueErrors
        why = " ".join(str(error).split())
        raise HarnessError(f"{path}: cannot be read as a table of events: {why}") from error
    return Events(frame, interrupted, str(path))
