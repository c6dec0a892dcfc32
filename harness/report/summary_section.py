"""The summary section: every measure of one run."""

from typing import Any

from harness.present.words import readable
from harness.report.page_subject import PageData
from harness.report.section import section
from harness.report.winners_section import head
from harness.results.measures import measures_table


@section("summary", "How did it go?")
def summary(subject: PageData) -> dict[str, Any] | None:
    """Return the scheduler of a run, and its measures."""
    schedule = subject.schedule
    if schedule is None:
        return None
    extra = subject.measures.values()
    measures = measures_table(schedule.measures(extra), extra)
    rows = [(head(subject.measures[name]), readable(value), unit) for name, value, unit in measures if value == value]
    return {"rows": rows, "scheduler": schedule.scheduler, "seed": schedule.seed}
