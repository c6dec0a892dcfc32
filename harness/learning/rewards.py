"""Rewards of episodes: functions of the measures of the schedule."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from harness.errors import HarnessError, did_you_mean
from harness.results.measures import MEASURES

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

Reward = Callable[[Mapping[str, float]], float]


class Measured(Mapping[str, float]):
    """The measures of a schedule, each computed when it is read."""

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


def reward_of(reward: str | Reward) -> Reward:
    """Return `reward` if it is a function, else the measure of this name, with its sign changed if less is better."""
    if not isinstance(reward, str):
        return reward
    if reward not in MEASURES:
        raise HarnessError(f"reward={reward!r}: there is no such measure; {did_you_mean(reward, MEASURES)}")
    sign = {"less": -1.0, "more": 1.0}.get(MEASURES[reward].better)
    if sign is None:
        raise HarnessError(f"reward={reward!r}: neither more nor less of it is better; expected another measure")
    return lambda measures: sign * measures[reward]
