"""What clocks on the wall show where the log was written, hour and weekday; and what a signal from outside says."""

from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from harness.engine.decorators import seldom, verb
from harness.engine.records.private import ZONES
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


@seldom
def hear(state: Any) -> None:
    """Let the clock show what the signal says now, and until when. Changes clock."""
    clock = state.clock
    notes = state.notes
    while clock.signal_until <= clock.now:
        clock.signal = state.signal[notes.signals].value
        notes.signals += 1
        if notes.signals == len(state.signal) and notes.signal_from[1] > 0.0:
            notes.signals = 0
            notes.signal_from[0] += notes.signal_from[1]
        clock.signal_until = np.inf
        if notes.signals < len(state.signal):
            clock.signal_until = notes.signal_from[0] + state.signal[notes.signals].time


def set_wall_clock(clock: Any, notes: Any, wall: WallClock) -> None:
    """Let the clock know when and where the log is from, and the notes when clocks there are set. Changes both."""
    clock["epoch"] = np.nan
    notes["zone_time"] = np.inf
    if wall.start is None:
        return
    clock["epoch"] = wall.start
    begin = wall.start + float(clock["now"][0])
    times, offsets = _settings(begin - begin % _YEAR, wall.zone)  # looked for once, for all runs that begin in a year
    notes["zone_time"][0, : len(times)] = np.array(times) - wall.start
    notes["zone"][0, : len(times)] = offsets


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
