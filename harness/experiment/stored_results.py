"""Reading a store back: plain pandas."""

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from harness.errors import HarnessError
from harness.experiment.field import PARTS
from harness.experiment.store import Store, opened, schedule_path
from harness.policy.scheduler import SLURM, Scheduler
from harness.results.measures import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

_RUNS = f"""
SELECT workload, platform, variation, seed, {", ".join(f'"{part}"' for part in PARTS)}, status, error, jobs, seconds,
       measures, schedule_digest, identity
FROM plan JOIN runs USING (identity)
WHERE plan.session = (SELECT max(session) FROM sessions) AND status <> 'running' ORDER BY place
"""

#: Part of a scheduler → its column in the frame, where `energy` is the measure.
COLUMNS = {part: "energy_policy" if part == "energy" else part for part in PARTS}

_PLANNED = "SELECT count(*) FROM plan WHERE session = (SELECT max(session) FROM sessions)"


class _FieldAbout(BaseModel):
    """What is kept of the field that ran last."""

    name: str
    about: str
    text: str
    resamples: int
    jobs: int | None = None


class _LogAbout(BaseModel, extra="allow"):
    """What is kept of a workload."""

    users: int


class _MachineAbout(BaseModel, extra="allow"):
    """What is kept of a platform."""

    name: str
    procs: int


class _About(BaseModel, extra="allow"):
    """What a session says of itself, as far as anything relies on it."""

    field: _FieldAbout
    workloads: list[_LogAbout]
    platforms: list[_MachineAbout]


class Results:
    """What is in the folder of a tournament, finished or not: the field that ran there last."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        with self._store() as store:
            last = store.database.execute("SELECT about FROM sessions ORDER BY session DESC LIMIT 1").fetchone()
            if last is None:
                raise HarnessError(f"{folder}: nothing has run there yet")
            #: The last session: `field` (name, about, text), `command`, `versions`, `machine`, `workloads`, `platforms`
            self.about: dict[str, Any] = _About.model_validate_json(last[0]).model_dump()

    def __repr__(self) -> str:
        return (
            f"<Results of {self.about['field']['name']} in {self.folder}: {len(self.frame())} of {self.planned} runs>"
        )

    def _repr_html_(self) -> str:
        from harness.experiment.showing_results import results_html

        return results_html(self)

    def plot(self, measure: str = "mean_bounded_slowdown", against: str = "energy") -> "Figure":
        """Draw a measure against another, means of each scheduler, as a figure of Plotly's that a notebook shows.

        Where no energy was accounted, `against` is the longest wait unless you say otherwise. Variations are left out.
        """
        from harness.experiment.showing_results import results_plot

        return results_plot(self, measure, against)

    @property
    def planned(self) -> int:
        """How many runs the field has."""
        with self._store() as store:
            (count,) = store.database.execute(_PLANNED).fetchone()
        return int(count)

    def frame(self) -> "pd.DataFrame":
        """Read one row per run that is done or failed, in the order of the field.

        `workload`, `platform`, `variation` (0 = the log as it is, 1, 2, … = resampled), `seed`: the same four are a
        block, within which schedulers are compared. `scheduler`: the policies that vary, or differ from the
        defaults, in a few words. `order`, `start`, `select`, `rate`, `sleep`, `energy_policy`: each policy with its
        parameters. `status` (done, failed), `error`, `jobs`, `seconds` (simulation alone); then every measure by its
        name, in its own unit, not a number where there is none; `schedule_digest`, `identity`.
        """
        import pandas as pd

        with self._store() as store:
            frame = pd.read_sql_query(_RUNS, store.database)
            for name in ("variation", "seed", "jobs", "seconds"):
                frame[name] = pd.to_numeric(frame[name])  # SQLite holds any column to any type
            frame.insert(4, "scheduler", scheduler_names(frame))
            frame = frame.rename(columns=COLUMNS)
            measures = [json.loads(text) for text in frame.pop("measures")]
            extra = dict.fromkeys(name for values in measures for name in values if name not in MEASURES)
            for name in (name for name in (*MEASURES, *extra) if name != "jobs"):  # these are there
                values = [values.get(name) for values in measures]
                frame[name] = [math.nan if value is None else float(value) for value in values]
        last = ["schedule_digest", "identity"]
        return frame[[name for name in frame if name not in last] + last]

    @contextmanager
    def _store(self) -> Iterator[Store]:
        """Open the store; whatever else it holds than it should is refused."""
        with opened(self.folder) as store, store.refusing(OSError, ValueError, TypeError, AttributeError):
            yield store

    def keeps(self, identity: str) -> bool:
        """Return whether the schedule of a run was kept."""
        return schedule_path(self.folder, identity).is_file()

    def schedule(self, identity: str) -> "pd.DataFrame":
        """Read the schedule of a run, if schedules were kept."""
        import pandas as pd

        path = schedule_path(self.folder, identity)
        if not self.keeps(identity):
            raise HarnessError(f"{path}: there is no such schedule: expected a run that was made with keep_schedules")
        return pd.read_parquet(path)


def scheduler_names(frame: "pd.DataFrame") -> list[str]:
    """Name the scheduler of each row in a few words, such as `spf + easy`.

    It names the policies that differ from the harness's defaults, and those that vary on one platform: the energy
    policy, say, may be another one on every platform because their figures differ, which says nothing. A Slurm is
    named by its configuration.
    """
    slurm = frame["order"] == SLURM
    ours = frame[~slurm]
    shown = [part for part in PARTS if _varies(ours, part) or _unusual(ours, part)] or ["order", "start"]
    if slurm.any() and len(shown) == 1:
        shown = ["order", "start"]  # beside a Slurm, what all others have in common says something
    rows = zip(frame[shown].itertuples(index=False), frame["start"], slurm, strict=True)
    return [start if whole else " + ".join(row) for row, start, whole in rows]


def _varies(frame: "pd.DataFrame", part: str) -> bool:
    return bool((frame.groupby("platform")[part].nunique() > 1).any())


def _unusual(frame: "pd.DataFrame", part: str) -> bool:
    default = getattr(Scheduler(), part)
    return bool(default and (frame[part] != default).any())
