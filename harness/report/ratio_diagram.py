"""The layout of a diagram of effect sizes: every scheduler's ratio to the first, with its interval, on one axis."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.present.words import readable
from harness.ranking.leaderboard import interval
from harness.ranking.ranking import Ranking

#: [px]
_SPAN, _LINE, _AXIS, _LETTER = 420, 24, 34, 7.2

#: Intervals are cut off at this factor beyond the extreme ratios.
_MARGIN = 3.0


@dataclass(frozen=True)
class Place:
    """One scheduler in the diagram: a dot at its ratio, a line over its interval."""

    scheduler: str
    policy: int
    x: float
    y: float
    low: float | None  # None if there is no interval
    high: float | None
    text: str  # its ratio, and the interval


@dataclass(frozen=True)
class Diagram:
    """The diagram, the best on top."""

    width: int
    height: int
    axis: float
    left: float
    right: float
    one: float  # the position of ratio 1
    ticks: list[tuple[float, str]]
    places: list[Place]


def diagram(ranking: Ranking) -> Diagram | None:
    """Return the layout of a ranking; None for a single scheduler."""
    standings = ranking.standings
    if len(standings) < 2:
        return None
    ratios = [standing.ratio for standing in standings]
    ends = [end for standing in standings for end in standing.interval if math.isfinite(end)]
    lowest = max(min([*ratios, *ends]), min(ratios) / _MARGIN) / 1.05
    highest = min(max([*ratios, *ends]), max(ratios) * _MARGIN) * 1.05
    left = 20 + _LETTER * max(len(standing.scheduler) for standing in standings)
    scale = _SPAN / math.log(highest / lowest)

    def at(ratio: float) -> float:
        return round(left + scale * math.log(min(max(ratio, lowest), highest) / lowest), 1)

    places = []
    for number, standing in enumerate(standings):
        low, high = (at(end) if end == end and number else None for end in standing.interval)
        text = readable(standing.ratio, 3) + (f" ({interval(standing)})" if low is not None else "")
        places.append(
            Place(standing.scheduler, number, at(standing.ratio), _AXIS + _LINE * (number + 1), low, high, text)
        )
    return Diagram(
        width=round(left + _SPAN + 30 + _LETTER * max(len(place.text) for place in places)),
        height=_AXIS + _LINE * (len(standings) + 1),
        axis=_AXIS,
        left=left,
        right=left + _SPAN,
        one=at(1.0),
        ticks=[(at(tick), readable(tick)) for tick in _ticks(lowest, highest)],
        places=places,
    )


def _ticks(lowest: float, highest: float) -> Iterator[float]:
    """Yield round ratios between the two, few enough to be readable."""
    decades = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    for steps in ((1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0, 8.0, 9.0), (1.0, 2.0, 5.0), (1.0,)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        found = [tick for tick in found if lowest <= tick <= highest]
        if len(found) <= 8:
            break
    yield from found
