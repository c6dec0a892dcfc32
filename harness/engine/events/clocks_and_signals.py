"""The wall clock at the place of the log, its hour and weekday; and the value of an external signal."""

from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from harness.engine.decorators import once, seldom, verb
from harness.engine.events.event_source import EventSource
from harness.engine.records.loop_records import ZONES
from harness.engine.records.private import SIGNAL
from harness.workload.signals import Signal
from harness.workload.wall_clock import WallClock

DAY = 86400.0

#: Clocks are looked at so often to find when they are set [s], for so many years; then to the second.
_STEP, _YEARS = 7 * DAY, 30
_YEAR = 365.25 * DAY

#: The last instant that the calendar knows, with a year to spare.
_LAST = datetime(9998, 1, 1, tzinfo=UTC).timestamp()


@verb
def hour(clock: Any) -> float:
    """Return the hour of the day, from 0 up to 24, where the log is from: 13.5 is half past one in the afternoon.

    Where the log does not say when its time 0 was (`clock.epoch` is not a number), that is midnight. Without a time
    zone it is UTC.
    """
    seconds = clock.now if np.isnan(clock.epoch) else clock.now + clock.epoch + clock.zone
    return (seconds % DAY) / 3600.0


@verb
def weekday(clock: Any) -> int:
    """Return the day of the week where the log is from: 0 is Monday, 6 is Sunday.

    Where the log does not say when its time 0 was (`clock.epoch` is not a number), that is the beginning of a Monday.
    """
    days = clock.now // DAY if np.isnan(clock.epoch) else (clock.now + clock.epoch + clock.zone) // DAY + 3.0
    return int(days % 7.0)  # 1970 began with a Thursday


@once
def advance_clocks(state: Any) -> None:
    """Set `clock.signal` and `clock.zone` to their values at this instant. Changes loop, clock."""
    clock = state.clock
    loop = state.loop
    if clock.signal_until <= clock.now:
        advance_signal(state)
    while loop.next_zone < ZONES and loop.zone_time[loop.next_zone] <= clock.now:
        clock.zone = loop.zone[loop.next_zone]
        loop.next_zone += 1


@seldom
def advance_signal(state: Any) -> None:
    """Set `clock.signal` to its value now, and `clock.signal_until` to the end of this value. Changes loop, clock."""
    clock = state.clock
    loop = state.loop
    while clock.signal_until <= clock.now:
        clock.signal = state.signal[loop.next_signal].value
        loop.next_signal += 1
        if loop.next_signal == len(state.signal) and loop.signal_period > 0.0:
            loop.next_signal = 0
            loop.signal_origin += loop.signal_period
        clock.signal_until = np.inf
        if loop.next_signal < len(state.signal):
            clock.signal_until = loop.signal_origin + state.signal[loop.next_signal].time


SOURCE = EventSource(apply=advance_clocks)


def set_wall_clock(clock: Any, loop: Any, wall: WallClock) -> None:
    """Set when and where the log is from, and the changes of wall clocks there. Changes clock, loop."""
    clock["epoch"] = np.nan
    loop["zone_time"] = np.inf
    if wall.start is None:
        return
    clock["epoch"] = wall.start
    begin = wall.start + float(clock["now"][0])
    times, offsets = _settings(begin - begin % _YEAR, wall.zone)  # found once for all runs that begin in a year
    loop["zone_time"][0, : len(times)] = np.array(times) - wall.start
    loop["zone"][0, : len(times)] = offsets


def set_signal(clock: Any, loop: Any, signal: Signal | None) -> Any:
    """Set the signal at the beginning, and return its steps. Changes clock, loop."""
    steps = np.zeros(0 if signal is None else len(signal.times), SIGNAL)
    clock["signal"], clock["signal_until"] = np.nan, np.inf
    if signal is not None:
        steps["time"], steps["value"] = signal.times, signal.values
        now = float(clock["now"][0])
        origin = np.floor((now - signal.times[0]) / signal.period) * signal.period if signal.period else 0.0
        loop["signal_origin"], loop["signal_period"] = origin, signal.period
        # Before its first step a signal that does not repeat has the value of that step.
        clock["signal"], clock["signal_until"] = signal.values[0], origin + signal.times[0]
    return steps


@cache
def _settings(begin: float, zone: ZoneInfo) -> tuple[list[float], list[float]]:
    """Return when clocks are set in this time zone, from `begin` on, and how far they are ahead of UTC since then."""
    times, offsets = [-np.inf], [_ahead(begin, zone)]
    for step in range(int(_YEARS * _YEAR / _STEP)):
        early, late = begin + step * _STEP, begin + (step + 1) * _STEP
        after = _ahead(late, zone)
        if after == offsets[-1] or len(times) == ZONES:
            continue
        while late - early > 0.5:
            middle = (early + late) / 2
            early, late = (early, middle) if _ahead(middle, zone) == after else (middle, late)
        times.append(float(round(late)))
        offsets.append(after)
    return times, offsets


def _ahead(time: float, zone: ZoneInfo) -> float:
    offset = datetime.fromtimestamp(min(time, _LAST), zone).utcoffset()
    return offset.total_seconds() if offset else 0.0
