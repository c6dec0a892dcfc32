"""Read the results of a store as pandas tables."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.disk.stored import stored_bytes
from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import PARTS
from harness.experiment.store import open_read_only, schedule_path
from harness.experiment.store_tables import checked_plan, checked_runs, checked_sessions
from harness.policy.scheduler import SLURM, Scheduler
from harness.results.measures import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

#: Part of a scheduler → its column in the frame, where `energy` is the measure.
COLUMNS = {part: "energy_policy" if part == "energy" else part for part in PARTS}

#: The last columns of the frame.
_LAST = ("plugins", "schedule_digest", "identity")


class Results:
    """The results in the folder of a tournament, finished or not: by default those of its last session.

    `session` is the number of another session in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], session: int | None = None) -> None:
        self.folder = Path(folder)
        with open_read_only(self.folder) as database:
            sessions = checked_sessions(database)
            planned = {number for (number,) in database.execute("SELECT DISTINCT session FROM plan")}
        if not sessions:
            raise HarnessError(f"{folder}: no run has been started there yet")
        #: The sessions that can be shown, by number: the last of each field.
        self.sessions = {one.session: one for one in sessions if one.session in planned or one is sessions[-1]}
        number = max(self.sessions) if session is None else session
        wanted = next((one for one in sessions if one.session == number), None)
        same = [one for one in self.sessions.values() if wanted and one.about.field == wanted.about.field]
        if wanted is None or not same:
            raise HarnessError(f"{folder}: there is no session {session}; {did_you_mean('', map(str, self.sessions))}")
        # The plan of a session is kept until the same field is started again.
        self._session = wanted if wanted in same else same[-1]
        #: The session: `field` (name, about, text), `command`, `versions`, `machine`, `workloads`, `platforms`
        self.about: dict[str, Any] = self._session.about.model_dump()

    @property
    def session(self) -> int:
        """The number of the session."""
        return self._session.session

    def __repr__(self) -> str:
        return (
            f"<Results of {self.about['field']['name']} in {self.folder}: {len(self.frame())} of {self.planned} runs>"
        )

    def _repr_html_(self) -> str:
        from harness.experiment.showing_results import results_html

        return results_html(self)

    def plot(self, measure: str = "mean_bounded_slowdown", against: str = "energy") -> "Figure":
        """Return a Plotly figure of one measure against another, with the mean of each scheduler.

        If no energy was accounted, `against` is the longest wait by default. Variations are left out.
        """
        from harness.experiment.showing_results import results_plot

        return results_plot(self, measure, against)

    @property
    def planned(self) -> int:
        """The number of runs of the field."""
        with open_read_only(self.folder) as database:
            return sum(1 for _ in checked_plan(database, self._session))

    def frame(self) -> "pd.DataFrame":
        """Return a table with one row per finished or failed run, in the order of the field.

        Its columns:

        - `workload`, `platform`, `variation` (0 = the log itself, 1, 2, … = resampled), `seed`: together these are a
          block, within which schedulers are compared.
        - `scheduler`: a short name with the policies that vary or differ from the defaults.
        - `order`, `start`, `select`, `rate`, `sleep`, `energy_policy` …: each policy with its parameters.
        - `status` (done, failed), `error`, `jobs`, `seconds` (simulation alone).
        - every measure by its name, in its own unit; not a number if it is undefined.
        - `plugins` (name and digest of those in the process of the run, without the bundled ones), `schedule_digest`,
          `identity`.
        """
        import pandas as pd

        with open_read_only(self.folder) as database:
            tried = (run for run in checked_runs(database, self.session) if run.status != "running")
            runs = {run.identity: run for run in tried}
            plan = [one for one in checked_plan(database, self._session) if one.identity in runs]
            done = [runs[one.identity] for one in plan]
            columns: dict[str, Any] = {
                name: [getattr(one, name) for one in plan] for name in ("workload", "platform", "variation", "seed")
            }
            columns |= {part: [one.policies[part] for one in plan] for part in PARTS}
            columns |= {name: [getattr(run, name) for run in done] for name in ("status", "error")}
            frame = pd.DataFrame(columns)
            for name in ("jobs", "seconds"):
                frame[name] = pd.to_numeric([getattr(run, name) for run in done])
            frame.insert(4, "scheduler", scheduler_names(frame, self._refused())[: len(frame)])
            frame = frame.rename(columns=COLUMNS)
            measures = [run.measures or {} for run in done]
            extra = dict.fromkeys(name for values in measures for name in values if name not in MEASURES)
            if taken := [name for name in (*_LAST, *frame) if name in extra]:
                raise ValueError(f"runs: measures: {taken[0]!r} is no measure")
            for name in (name for name in (*MEASURES, *extra) if name != "jobs"):  # these are there
                values = [values.get(name) for values in measures]
                frame[name] = [math.nan if value is None else float(value) for value in values]
            against = [name for name, one in MEASURES.items() if one.against_log]
            frame.loc[self._of_unnamed_machines(frame), against] = math.nan
            frame["plugins"] = [", ".join(map(" ".join, run.plugins or [])) for run in done]
            for name in _LAST[1:]:
                frame[name] = [getattr(run, name) for run in done]
        return frame

    def _of_unnamed_machines(self, frame: "pd.DataFrame") -> "pd.Series[bool]":
        """Return the runs of logs that do not state the size of their machine, on platforms of several sizes."""
        sizes = {one["name"]: one["procs"] for one in self.about["platforms"]}
        unnamed = [one["name"] for one in self.about["workloads"] if one["procs"] is None]
        several = frame["platform"].map(sizes).groupby(frame["workload"]).transform("nunique") > 1
        return several & frame["workload"].isin(unnamed)

    def _refused(self) -> "pd.DataFrame":
        import pandas as pd

        rows = [{**one, **one["policies"]} for one in self.about["refused"]]
        return pd.DataFrame(rows, columns=["workload", "platform", *PARTS, "reason"])

    def refused(self) -> "pd.DataFrame":
        """Return the combinations of the field that cannot run: `workload`, `platform`, `scheduler`, `reason`."""
        import pandas as pd

        frame, refused = self.frame(), self._refused()
        tried = pd.DataFrame({name: frame[COLUMNS.get(name, name)] for name in ("platform", *PARTS)})
        refused["scheduler"] = scheduler_names(tried, refused)[len(tried) :]
        return refused[["workload", "platform", "scheduler", "reason"]]

    def keeps(self, identity: str) -> bool:
        """Return whether the schedule of a run was kept."""
        return schedule_path(self.folder, identity).is_file()

    def schedule(self, identity: str) -> "pd.DataFrame":
        """Read the schedule of a run, if schedules were kept."""
        from harness.workload.frame import parquet_table

        path = schedule_path(self.folder, identity)
        if not self.keeps(identity):
            raise HarnessError(f"{path}: there is no such schedule: expected a run that was made with keep_schedules")
        return parquet_table(stored_bytes(path, "a schedule"), path)


def scheduler_names(frame: "pd.DataFrame", refused: "pd.DataFrame | None" = None) -> list[str]:
    """Return a short name for the scheduler of each row, such as `spf + easy`; then for each row of those `refused`.

    A name lists the policies that differ from the defaults, and those that vary on one platform. A policy that differs
    only between platforms, such as the energy policy, is left out. A Slurm is named by its configuration.
    """
    import pandas as pd

    every = frame if refused is None or refused.empty else pd.concat([frame, refused], ignore_index=True)
    slurm = every["order"] == SLURM
    ours = every[~slurm]
    tried = frame[frame["order"] != SLURM]  # the platform determines the energy policy of these alone
    shown = [
        part
        for part in PARTS
        for rows in (tried if part == "energy" else ours,)
        if (rows.groupby("platform")[part].nunique() > 1).any() or _differs_from_default(rows, part)
    ] or ["order", "start"]
    if slurm.any() and len(shown) == 1:
        shown = ["order", "start"]  # next to a Slurm, show also the policies that all others share
    rows = zip(every[shown].itertuples(index=False), every["start"], slurm, strict=True)
    return [start if whole else " + ".join(row) for row, start, whole in rows]


def _differs_from_default(frame: "pd.DataFrame", part: str) -> bool:
    default = getattr(Scheduler(), part)
    return bool(default and (frame[part] != default).any())
