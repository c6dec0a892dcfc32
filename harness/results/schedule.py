"""The result of one run: the schedule as a table, a file, a digest and measures."""

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.policy.timing import DecisionTiming
from harness.present.captured_output import output_to_stderr
from harness.results.job_outcomes import WORDS, Ending, endings
from harness.results.measures import Measure, known_measures
from harness.workload.log import STARTED, Workload

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from harness.engine.prepared_run import Outcome
    from harness.policy.scheduler import Chosen
    from harness.results.signal_meter import Meter
    from harness.results.timeline import Placements, Timeline
    from harness.workload.events import Events

#: Shorter jobs count as this long in the bounded slowdown [s].
BOUND = 10.0


@dataclass(frozen=True, eq=False)
class Schedule:
    """One run: its workload, platform and policies, and its result."""

    workload: Workload
    platform: Platform
    policies: "Chosen"
    seed: int
    outcome: "Outcome"
    events: "Events | None" = None  # failures and interventions that were replayed
    samples: "Timeline | None" = None
    places: "Placements | None" = None
    timing: DecisionTiming = field(default_factory=DecisionTiming)  # when starts were decided
    again: "Callable[..., Schedule] | None" = None  # replays a workload in the same way, to record more
    meter: "Meter | None" = None  # integrates the signal, if there is one

    @property
    def scheduler(self) -> dict[str, str]:
        """Each part's policy with its parameters: `{"start": "easy(reservations=2)", …}`."""
        return self.policies.names

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per job of the workload, in log order. Treat it as read-only.

        Times are in seconds, energy in joules. The columns:

        - `job`, `user`, `submit`, `start`, `end`, `procs`; `nodes`, the number of nodes of its last run.
        - `status`: completed, killed, cancelled, unaccepted, or stranded: it never started, because nodes stayed down
          or a hold never released it.
        - `wait` until the first start; `run`, the time in service; `response` = end − submit;
          `slowdown` = response / run; `bounded_slowdown`.
        - `estimate`, the requested time; `predicted`, the estimate at submission; `corrections`, the number of times
          that the estimate was too short.
        - `preemptions`; `boot`, the time for which it held processors until sleeping nodes woke, which is part of
          neither wait nor run.
        - `restarts`, the number of interruptions after which it started again; `lost`, the service time lost by them.
        - `energy`; `logged_wait`, `logged_run`.

        After a restart, start and run are those of the last start; the wait ends at the first start. If a job was
        suspended, run is the service time of all its parts, including the overhead of suspensions.

        Jobs that never ran have no start, wait, run and response (not a number); `end` is the time at which they left
        the queue, if they did. A job that the log cancels counts as cancelled even if it was started here: its work is
        unknown. Energy is not a number if it was not accounted.
        """
        return pd.DataFrame(self._columns | {"status": WORDS[self.statuses]})

    @cached_property
    def ran(self) -> pd.DataFrame:
        """The rows of `frame` that averages are over: accepted, not cancelled. Same index as `frame`."""
        return self.frame[self.ran_mask]

    @cached_property
    def ran_mask(self) -> npt.NDArray[np.bool_]:
        """A mask of the rows of `frame` that averages are over; in a run from a snapshot, only jobs that started
        in it.
        """
        ran: npt.NDArray[np.bool_] = np.isin(self.statuses, (Ending.COMPLETED, Ending.KILLED))
        return ran if self.workload.now is None else ran & ~(self.workload.jobs[STARTED].to_numpy() >= 0)

    def column(self, column: str) -> npt.NDArray[Any]:
        """Return `frame[column]`, with statuses as codes, without making the table."""
        return self._columns[column]

    def ran_column(self, column: str) -> npt.NDArray[np.float64]:
        """Return `ran[column]` as floats. Measures use this because a table for each run would take too long."""
        if column not in self._ran:
            self._ran[column] = self._columns[column][self.ran_mask].astype(np.float64, copy=False)
        return self._ran[column]

    @cached_property
    def timeline(self) -> pd.DataFrame:
        """The system at the instants of the run, thinned; see `harness.results.timeline.Timeline.frame`."""
        if self.samples is None:
            raise HarnessError("no timeline was recorded: expected simulate(…, timeline=True)")
        frame = self.samples.frame
        waits = frame["queued"] > 0
        frame["effective"] = frame["rate"] * frame["busy"]
        frame["potential"] = frame["rate"] * np.where(waits, frame["up"], frame["busy"])
        frame["wasted"] = frame["potential"] - frame["effective"]
        if not self.metered:
            frame["power"] = np.nan
        return frame

    @cached_property
    def placements(self) -> pd.DataFrame:
        """The nodes of each job over time: `job` (number), `node`, `cores`, `begin` [s], `end` [s]."""
        if self.places is None:
            raise HarnessError("no placements were recorded: expected simulate(…, placements=True)")
        frame = pd.DataFrame(self.places.records)
        frame["job"] = np.asarray(self.outcome.jobs["number"])[frame["job"]]
        return frame

    @property
    def metered(self) -> bool:
        """Whether energy was accounted."""
        return self.scheduler["energy"] != "none"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of job numbers and starts, in log order: equal for equal schedules, however they were made."""
        starts: npt.NDArray[np.float64] = self._records["start"] + 0.0  # −0 becomes 0
        starts[np.isnan(starts)] = np.nan  # one bit pattern for all
        numbers = np.ascontiguousarray(self._records["number"], "<i8")
        return hashlib.sha256(numbers.tobytes() + starts.astype("<f8").tobytes()).hexdigest()

    def measures(self, extra: Iterable[Measure] = ()) -> dict[str, float]:
        """Compute every built-in measure, then the `extra` ones: name → value in the measure's unit."""
        values = {}
        for measure in known_measures(extra).values():
            try:
                with output_to_stderr():
                    values[measure.name] = float(measure.function(self))
            except Exception as error:
                error.add_note(f"in the measure {measure.name!r}")
                raise
        return values

    def __repr__(self) -> str:
        from harness.results.run_summary import sentence

        return f"<Schedule of {sentence(self)}>"

    def _repr_html_(self) -> str:
        from harness.results.notebook import schedule_html

        return schedule_html(self)

    def plot(self, what: str = "time") -> "Figure":
        """Return a Plotly figure of the run: `time`, `jobs`, `waits` or `slowdowns`.

        `time` shows the queue, the busy processors and the power over time. `jobs` shows the busy processors above the
        running and waiting jobs. `waits` and `slowdowns` are distributions. A run without a timeline is repeated to
        record one.
        """
        from harness.results.notebook import schedule_plot

        return schedule_plot(self, what)

    def gantt(self, most: int = 3000) -> "Figure":
        """Return a Plotly Gantt chart with at most `most` rectangles; for a large run, of the time around the longest
        queue.

        The run is repeated to record its placements.
        """
        from harness.results.notebook import schedule_gantt

        return schedule_gantt(self, most)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the table to `path`; its ending gives the format: `.csv`, `.parquet`, `.arrow`, `.json`, `.swf`,
        `.swf.gz`.
        """
        from harness.results.export import export

        export(self, path)

    def export_timeline(self, path: str | os.PathLike[str]) -> None:
        """Write the timeline to `path`; its ending gives the format: `.csv`, `.parquet`, `.arrow` or `.json`."""
        from harness.results.export import export_timeline

        export_timeline(self, path)

    @cached_property
    def statuses(self) -> npt.NDArray[np.int64]:
        """The `Ending` of each job, in log order."""
        return endings(self._records["status"], self.workload.jobs)

    @cached_property
    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        jobs = self.workload.jobs
        records = self._records
        submit, start, end, service = (records[name] for name in ("submit", "start", "end", "service"))
        run = np.where(np.isnan(start), np.nan, service)
        response = np.where(np.isnan(start), np.nan, end - submit)
        unknown = np.full(len(jobs), np.nan)
        return {
            "job": records["number"],
            "submit": submit,
            "start": start,
            "end": end,
            "procs": records["procs"],
            "wait": np.where(records["restarts"] > 0, self._first_starts, start) - submit + 0.0 * start,
            "run": run,
            "energy": records["energy"] if self.metered else unknown,
            "status": self.statuses,
            "response": response,
            "slowdown": np.divide(response, run, out=np.full(len(jobs), np.nan), where=run > 0),
            "bounded_slowdown": np.maximum(1.0, response / np.maximum(run, BOUND)),
            "estimate": records["requested"],
            "user": records["user"],
            "preemptions": records["preemptions"],
            "nodes": records["nodes"],
            **{name: records[name] for name in ("boot", "restarts", "lost")},
            # A workload made in memory may never have been logged.
            **{name: jobs[name].to_numpy() if name in jobs else unknown for name in ("logged_wait", "logged_run")},
            **{name: records[name] for name in ("predicted", "corrections")},
        }

    @property
    def _first_starts(self) -> npt.NDArray[np.float64]:
        """The first start of each job that was restarted, in log order; not a number for the others."""
        found = np.full(len(self.outcome.place), np.nan)
        if len(self.outcome.first_starts):
            found[self.outcome.place] = self.outcome.first_starts
        return found

    @cached_property
    def _ran(self) -> dict[str, npt.NDArray[np.float64]]:
        """The columns that `ran_column` has returned."""
        return {}

    @cached_property
    def _records(self) -> npt.NDArray[Any]:
        """The engine's records of the jobs in log order; the engine sorts them by submission."""
        records, place = np.asarray(self.outcome.jobs), self.outcome.place
        if (place[1:] > place[:-1]).all():
            return records
        in_log_order = np.empty_like(records)
        in_log_order[place] = records
        return in_log_order
