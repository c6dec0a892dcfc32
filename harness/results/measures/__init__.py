"""All measures of a run, each declared once with its meaning, unit, formula and direction.

Tables, rankings, checks and the documentation read them from `MEASURES`. A new measure is a function with `@measure` in
the module of its subject. In the formulas, sums and means are over the jobs that ran: accepted and not cancelled. N is
a job's width, c the processors of the platform, R the rate, φ the busy processors, Q the number of waiting jobs, and
integrals are over the time from the first submit to the last event. A measure is not a number if its denominator is 0
or energy was not accounted.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.errors import HarnessError
from harness.policy.registry import plugins as load_plugins
from harness.results.measures import energy_measures, job_measures, log_measures, machine_measures
from harness.results.measures.declaring import DECLARED
from harness.results.measures.declaring import Measure as Measure

#: The built-in measures, in the order of tables.
MEASURES = {
    measure.name: measure
    for subject in (job_measures, machine_measures, energy_measures, log_measures)
    for measure in DECLARED
    if measure.function.__module__ == subject.__name__
}


def extra_measures(plugins: Iterable[str | Path] = ()) -> list[Measure]:
    """Return the measures of plugins; refuse a name that is already taken."""
    offered: dict[str, Measure] = {}
    for measure, origin in load_plugins(*map(str, plugins)).offered("score_schedule", Measure):
        if measure.name in MEASURES or measure.name in offered:
            raise HarnessError(f"the measure {measure.name!r} of {origin} is already taken: expected another name")
        offered[measure.name] = measure
    return list(offered.values())


def known_measures(extra: Iterable[Measure] = ()) -> dict[str, Measure]:
    """Return the built-in measures and the `extra` ones by name, in the order of tables."""
    return MEASURES | {measure.name: measure for measure in extra}


def measures_table(measures: Mapping[str, float], extra: Iterable[Measure] = ()) -> list[tuple[str, float, str]]:
    """Return rows of name, value and unit; the units of measures that are not built in come from `extra`."""
    known = known_measures(extra)
    return [(name, value, known[name].unit if name in known else "") for name, value in measures.items()]
