"""The data of a page, collected before anything is drawn: the results of a tournament, or one run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from harness.errors import HarnessError
from harness.present.words import readable
from harness.ranking.by_platform import parts
from harness.ranking.ranking import Ranking, criterion_of, known_unit, rank
from harness.report.replays import PAIRS, RECTANGLES, Watch, replays
from harness.results.charts.run_details import RunDetails, run_details
from harness.results.measures import Measure, known_measures
from harness.results.notebook import replayed_by

if TYPE_CHECKING:
    from harness.experiment.stored_results import Results
    from harness.results.schedule import Schedule


@dataclass(frozen=True)
class PageData:
    """The data of a page, for all of its sections."""

    frame: pd.DataFrame  # a row for every run, as in `Results.frame`
    measures: Mapping[str, Measure]  # by name, including those of plugins
    schedulers: list[str]  # the best first
    procs: Mapping[str, int]  # of the platforms, by name
    close_ups: list[RunDetails]  # the runs that are shown in detail
    remarks: list[str] = field(default_factory=list)  # on their choice
    by: str = ""  # the measure that ranks
    ranking: Ranking | None = None
    why_not: str = ""  # the reason if there is no ranking
    results: "Results | None" = None  # of a tournament
    schedule: "Schedule | None" = None  # of one run
    command: str = ""  # the command that reproduces it
    plugins: tuple[str, ...] = ()
    where: str = ""  # the platforms of the ranking, if not all
    others: Sequence[tuple[str, Ranking]] = ()  # the rankings by platform, if some schedulers cannot run on some

    @property
    def done(self) -> pd.DataFrame:
        """The finished runs of the ranked schedulers."""
        return separate_variations(
            self.frame[(self.frame["status"] == "done") & self.frame["scheduler"].isin(self.schedulers)]
        )


def separate_variations(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename the variations of each workload, so that no average is over both the log and its variations."""
    if "variation" not in frame or not (frame["variation"] > 0).any():
        return frame
    workload = frame["workload"].astype(str)
    return frame.assign(workload=workload.where(frame["variation"] == 0, workload + ", variations"))


def tournament_subject(
    results: "Results",
    by: str,
    extra: Iterable[Measure],
    plugins: tuple[str, ...],
    watch: Watch,
    look: Sequence[str] = (),
    unit: str | None = None,
) -> PageData:
    """Rank the results of a tournament, finished or not, and repeat the runs that are shown in detail."""
    extra = list(extra)
    frame = results.frame()
    (ranking, where), others, why_not = _ranked(frame, by, extra, unit)
    schedulers = [standing.scheduler for standing in ranking.standings] if ranking else []
    close_ups, remarks = replays(results, frame, schedulers, plugins, watch, look)
    return PageData(
        frame,
        known_measures(extra),
        schedulers,
        {str(machine["name"]): int(machine["procs"]) for machine in results.about["platforms"]},
        close_ups,
        remarks,
        by,
        ranking,
        why_not,
        results=results,
        plugins=plugins,
        where=where,
        others=others,
    )


def run_subject(schedule: "Schedule", extra: Iterable[Measure], command: str, plugins: tuple[str, ...]) -> PageData:
    """Return the data of one run that was made with its timeline."""
    extra = list(extra)
    workload, platform = readable(schedule.workload.name), schedule.platform
    scheduler = " + ".join(schedule.scheduler[part] for part in ("order", "start"))
    run = {"workload": workload, "platform": platform.name, "scheduler": scheduler, "status": "done"}
    return PageData(
        pd.DataFrame([run | schedule.measures(extra)]),
        known_measures(extra),
        [scheduler],
        {platform.name: platform.cores},
        [run_details(schedule, replayed_by(schedule), workload, scheduler, 0, RECTANGLES, PAIRS)],
        schedule=schedule,
        command=command,
        plugins=plugins,
    )


def _ranked(
    frame: pd.DataFrame, by: str, extra: list[Measure], unit: str | None
) -> tuple[tuple[Ranking | None, str], list[tuple[str, Ranking]], str]:
    """Return the ranking with most schedulers and its platforms, the rankings by platform, or the reason if there is
    none.

    Raises an error for a measure that does not judge runs and for an unknown unit.
    """
    criterion_of(by, known_measures(extra))
    known_unit(unit)
    if not (frame["status"] == "done").any():
        return (None, ""), [], "no run is done yet." if frame.empty else "no run is done: all tried runs failed."
    found, why = [], ""
    for part in sorted(parts(frame), key=lambda part: -part.frame["scheduler"].nunique()):
        try:
            found.append((rank(part.frame, by, unit=unit, extra=extra), part.where))
        except HarnessError as error:
            why = why or f"{error}."
    if not found:
        return (None, ""), [], why
    return found[0], [(where, ranking) for ranking, where in found[1:]], ""
