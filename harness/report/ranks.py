"""The critical-difference diagram of Demšar (2006), as coordinates: mean ranks, and bars over who is alike."""

from dataclasses import dataclass

from harness.tournament.ranking import Ranking

#: [px]
_SPAN, _LINE, _AXIS, _LETTER = 380, 22, 66, 7.2


@dataclass(frozen=True)
class Place:
    """One scheduler in the diagram: a line from the axis at `x` down to its name at `y`."""

    scheduler: str
    policy: int
    rank: float
    x: float
    y: float
    left: bool  # on which side its name is


@dataclass(frozen=True)
class Diagram:
    """The diagram, best on the left."""

    width: int
    height: int
    axis: float
    left: float
    right: float
    ticks: list[tuple[float, int]]
    places: list[Place]
    bars: list[tuple[float, float, float]]  # from, to, height
    difference: float | None  # in the drawing's units
    critical: float | None


def diagram(ranking: Ranking) -> Diagram | None:
    """The diagram of a ranking of three or more schedulers."""
    standings = ranking.standings
    count = len(standings)
    if count < 3:
        return None
    left = 70 + _LETTER * max(len(standing.scheduler) for standing in standings)
    right = left + _SPAN
    scale = (right - left) / (count - 1)
    bars = [group for group in ranking.groups if len(group) > 1]
    below = _AXIS + 12 + 7 * len(bars)
    half = (count + 1) // 2
    places = []
    for number, standing in enumerate(standings):
        on_left = number < half
        row = number if on_left else count - 1 - number
        x = left + (standing.mean_rank - 1) * scale
        places.append(Place(standing.scheduler, number, standing.mean_rank, x, below + _LINE * (row + 1), on_left))
    at = {place.scheduler: place.x for place in places}
    spans = [(at[group[0]] - 4, at[group[-1]] + 4, _AXIS + 12 + 7.0 * number) for number, group in enumerate(bars)]
    return Diagram(
        width=round(left + right),
        height=below + _LINE * (half + 1),
        axis=_AXIS,
        left=left,
        right=right,
        ticks=[(left + (rank - 1) * scale, rank) for rank in range(1, count + 1)],
        places=places,
        bars=spans,
        difference=None if ranking.critical_difference is None else ranking.critical_difference * scale,
        critical=ranking.critical_difference,
    )
