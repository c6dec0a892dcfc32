"""What a page is about, gathered before anything is drawn: a tournament's results, or one run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from harness.errors import HarnessError
from harness.present.words import readable
from harness.ranking.by_platform import parts
from harness.ranking.ranking import Ranking, criterion_of, known_unit, rank
from harness.report.replays import PAIRS, RECTANGLES, Watch, replays
from harness.results.charts.close_up import CloseUp, close_up
from harness.results.measures import Measure, known_measures
from harness.results.notebook import replayed_by

if TYPE_CHECKING:
    from harness.experiment.stored_results import Results
    from harness.results.schedule import Schedule


@dataclass(frozen=True)
class Subject:
    """What a page is about, for all of its sections."""

    frame: pd.DataFrame  # a row for every run, as `Results.frame` has them
    measures: Mapping[str, Measure]  # by name, those of plugins too
    schedulers: list[str]  # the best first
    procs: Mapping[str, int]  # of the platforms, by name
    close_ups: list[CloseUp]  # of the runs that are looked at closely
    remarks: list[str] = field(default_factory=list)  # on their choice
    by: str = ""  # what decides
    ranking: Ranking | None = None
    why_not: str = ""  # there is no ranking
    results: "Results | None" = None  # of a tournament
    schedule: "Schedule | None" = None  # of one run
    command: str = ""  # that reproduces it
    plugins: tuple[str, ...] = ()
    where: str = ""  # the platforms of the ranking, if it is not of all
    others: Sequence[tuple[str, Ranking]] = ()  # the rankings on each platform, where schedulers lack some

    @property
    def done(self) -> pd.DataFrame:
        """The runs that finished, of the schedulers that are ranked."""
        return apart(self.frame[(self.frame["status"] == "done") & self.frame["scheduler"].isin(self.schedulers)])


def apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Name the variations of a workload apart from the log itself: nothing is averaged over both."""
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
) -> Subject:
    """Rank what is in a tournament's store, finished or not, and repeat the runs that are looked at closely."""
    extra = list(extra)
    frame = results.frame()
    (ranking, where), others, why_not = _ranked(frame, by, extra, unit)
    schedulers = [standing.scheduler for standing in ranking.standings] if ranking else []
    close_ups, remarks = replays(results, frame, schedulers, plugins, watch, look)
    return Subject(
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


def run_subject(schedule: "Schedule", extra: Iterable[Measure], command: str, plugins: tuple[str, ...]) -> Subject:
    """Look closely at one run, which was made with its timeline."""
    extra = list(extra)
    workload, platform = readable(schedule.workload.name), schedule.platform
    scheduler = " + ".join(schedule.scheduler[part] for part in ("order", "start"))
    run = {"workload": workload, "platform": platform.name, "scheduler": scheduler, "status": "done"}
    return Subject(
        pd.DataFrame([run | schedule.measures(extra)]),
        known_measures(extra),
        [scheduler],
        {platform.name: platform.cores},
        [close_up(schedule, replayed_by(schedule), workload, scheduler, 0, RECTANGLES, PAIRS)],
        schedule=schedule,
        command=command,
        plugins=plugins,
    )


def _ranked(
    frame: pd.DataFrame, by: str, extra: list[Measure], unit: str | None
) -> tuple[tuple[Ranking | None, str], list[tuple[str, Ranking]], str]:
    """Return the ranking of most schedulers and where it holds, those of each platform, or why there is none.

    A measure that is no criterion and an unknown unit are refused.
    """
    criterion_of(by, known_measures(extra))
    known_unit(unit)
    if not (frame["status"] == "done").any():
        return (None, ""), [], "no run is done yet." if frame.empty else "no run is done, all that were tried failed."
    found, why = [], ""
    for part in sorted(parts(frame), key=lambda part: -part.frame["scheduler"].nunique()):
        try:
            found.append((rank(part.frame, by, unit=unit, extra=extra), part.where))
        except HarnessError as error:
            why = why or f"{error}."
    if not found:
        return (None, ""), [], why
    return found[0], [(where, ranking) for ranking, where in found[1:]], ""
