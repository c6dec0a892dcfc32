"""The summary of a run: a sentence, a dozen measures, and warnings."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from harness.engine.records.public import HELD
from harness.errors import HarnessError, did_you_mean
from harness.present.human_units import with_units
from harness.present.words import counted, lasting, readable
from harness.results.measures import Measure, known_measures

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: The number of measures shown by default.
MOST = 12

#: The headers of `rows`.
HEADS = ("measure", "value", "meaning")

#: A machine is overloaded if, at the last submission, more than this share of all jobs waits.
_LEFT_WAITING = 0.05

#: A job starves if it waits longer than this many times the 95 % quantile, and longer than a week.
_STARVING, _WEEK = 5.0, 7 * 86400.0


def chosen_measures(asked: str, values: Mapping[str, float], known: Mapping[str, Measure]) -> list[str]:
    """Return the measures to show: those of `asked`, names or groups, or `all`; by default the headline measures.

    The default includes those of plugins, and leaves out measures that are 0 or not a number.
    """
    if not asked:
        telling = [name for name, value in values.items() if known[name].headline and value == value and value != 0]
        return telling[:MOST] + [name for name in values if known[name].group == "extra"]
    groups = {known[name].group for name in values}
    names: list[str] = []
    for word in (word.strip() for word in asked.split(",")):
        if word not in values and word not in groups and word != "all":
            raise HarnessError(f"--measures {asked}: {did_you_mean(word, [*values, *groups, 'all'])}")
        names += [name for name in values if word in (name, known[name].group, "all") and name not in names]
    return names


def rows(values: Mapping[str, float], known: Mapping[str, Measure]) -> list[tuple[str, str, str]]:
    """Return measures as rows for `HEADS`, with values in readable units."""
    return [
        (name, with_units(value, known[name].unit, share=known[name].share), known[name].meaning)
        for name, value in values.items()
    ]


def sentence(schedule: "Schedule") -> str:
    """Return a sentence that summarises the run."""
    waits = schedule.ran_column("wait")
    policies = schedule.scheduler
    where = f"{schedule.workload.name} on {schedule.platform.name} under {policies['order']} + {policies['start']}"
    if not len(waits):
        return f"{where}: no job ran."
    known = known_measures()
    values = {name: float(known[name].function(schedule)) for name in ("utilisation", "energy")}
    used = f"jobs used {with_units(values['utilisation'], '', share=True)} of the processors"
    drew = f", which drew {with_units(values['energy'], 'kWh')}" if values["energy"] == values["energy"] else ""
    return f"{where}: {_waited(waits)}; {used}{drew}."


def _waited(waits: npt.NDArray[np.float64]) -> str:
    jobs = counted(len(waits), "job")
    if waits.max() == 0:
        return f"{jobs}, and none waited"
    half, late, longest = (float(np.quantile(waits, share)) for share in (0.5, 0.95, 1.0))
    usual = f"waited {lasting(half)} or less" if half > 0 else "did not wait"
    return f"half of {jobs} {usual}, one in twenty {lasting(late)} or more, one {lasting(longest)}"


def warnings(schedule: "Schedule") -> Iterable[str]:
    """Yield a sentence for each problem of the run."""
    yield from _overloaded(schedule)
    yield from _starving(schedule)
    yield from _held_to_the_end(schedule)


def _overloaded(schedule: "Schedule") -> Iterator[str]:
    """Yield a warning if the submitted work exceeds the capacity, and the queue grows."""
    submit, start = (schedule.ran_column(name) for name in ("submit", "start"))
    if not len(submit) or schedule.workload.now is not None:  # the waiting jobs of a snapshot are no load
        return
    span = float(submit.max() - submit.min())
    waiting = int(np.count_nonzero(start > submit.max()))
    work = float(np.sum(schedule.ran_column("procs") * schedule.ran_column("run")))
    offered = work / (span * schedule.platform.cores) if span > 0 else math.inf
    if offered > 1 and span > 86400 and waiting > _LEFT_WAITING * len(submit):
        yield (
            f"overloaded: the jobs bring {readable(offered, 3)} times the work that the processors can do while they "
            f"are submitted; the queue grows by {readable(waiting / span * 86400, 3)} jobs a day, and waits depend on "
            "where the log ends"
        )


def _starving(schedule: "Schedule") -> Iterator[str]:
    """Yield a warning if a few jobs wait far longer than the others."""
    waits = schedule.ran_column("wait")
    if not len(waits):
        return
    bound = max(_STARVING * float(np.quantile(waits, 0.95)), _WEEK)
    starving = int(np.count_nonzero(waits > bound))
    if starving:
        yield (
            f"starvation: {counted(starving, 'job')} waited longer than {lasting(bound)}, one of them "
            f"{lasting(float(waits.max()))}"
        )


def _held_to_the_end(schedule: "Schedule") -> Iterator[str]:
    """Yield a warning if some jobs were never released from a hold."""
    held = schedule.outcome.jobs["status"] == HELD
    if held.any():
        first = schedule.outcome.jobs["number"][np.argmax(held)]
        yield (
            f"never released: {counted(int(held.sum()), 'job')} never started, the first is job {first}, held to the "
            f"end by {schedule.scheduler['hold']}; no average includes them"
        )
