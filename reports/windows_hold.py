"""A hold for sites whose week is divided: nothing that began in one window may run into the next. A plugin.

`kth_calendar.py` fits it to a log, and `--plugins reports/windows_hold.py --hold 'windows(…)'` uses it anywhere.
"""

from typing import Any

import numpy as np

import harness

HOURS, WEEK = 3600.0, 168.0
MONDAY = 72.0  # 1970 began with a Thursday: so many hours of the week had gone by


def windows(
    state: Any, job: int, begins: Any = (0.0,), longest: Any = (168.0,), late: Any = (168.0,), ahead: float = 0.0
) -> float:
    """Hold jobs until a window of the week in which they may begin, and which they leave in time by their request.

    `begins`: when the windows begin [hours of the week, Monday 0 h on, ascending]; the last lasts until the first.
    `longest`: what a job may request to begin in each [h]. `late`: by how much it may outlast each [h].
    `ahead`: how far the machine's clock is ahead of UTC [s]. A job that no window holds is let go.
    """
    clock = state.clock
    seconds = clock.now if np.isnan(clock.epoch) else clock.now + clock.epoch + ahead + MONDAY * HOURS
    hour = (seconds / HOURS) % WEEK
    count = min(len(begins), len(longest), len(late))
    window = count - 1
    for i in range(count):
        if begins[i] <= hour:
            window = i
    request = state.jobs[job].requested / HOURS
    after = 0.0  # hours from now on, at which the window that is looked at begins, or now
    for _ in range(count + 1):
        left = (begins[(window + 1) % count] - hour - after) % WEEK
        left = WEEK if left == 0.0 else left
        if request <= longest[window] and request <= left + late[window]:
            return float(clock.now + after * HOURS)
        after += left
        window = (window + 1) % count
    return float(clock.now)


@harness.hookimpl
def hold_jobs() -> list[harness.Hold]:
    return [harness.Hold("windows", windows, again=("time",), freed_by=())]
