"""What an episode is worth: a function of the measures of its schedule."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from harness.errors import HarnessError, did_you_mean
from harness.results.measures import MEASURES

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Reward = Callable[[Mapping[str, float]], float]


class Measured(Mapping[str, float]):
    """The measures of a schedule, each calculated when it is asked for."""

    def __init__(self, schedule: "Schedule") -> None:
        self._schedule = schedule

    def __getitem__(self, name: str) -> float:
        if name not in MEASURES:
            raise HarnessError(f"there is no measure {name!r}; {did_you_mean(name, MEASURES)}")
        return float(MEASURES[name].function(self._schedule))

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)


def reward_of(told: str | Reward) -> Reward:
    """Return the function that `told` is, or that of a measure by name: less of what is bad, more of what is good."""
    if not isinstance(told, str):
        return told
    if told not in MEASURES:
        raise HarnessError(f"reward={told!r}: there is no such measure; {did_you_mean(told, MEASURES)}")
    sign = {"less": -1.0, "more": 1.0}.get(MEASURES[told].better)
    if sign is None:
        raise HarnessError(f"reward={told!r}: neither more nor less of it is better; expected another measure")
    return lambda measures: sign * measures[told]
