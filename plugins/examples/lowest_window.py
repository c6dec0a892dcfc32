"""Carbon-aware: a job is held until the hours in which energy is expected to be cleanest, within a delay.

Source: Hanafy, Liang, Bashir, Souza, Irwin and Shenoy (2024), Going green for less green: optimizing the cost of
reducing cloud carbon emissions, ASPLOS (its policy Lowest Window).

There the forecast is given; here it is what was seen at the same hour when it was last looked at, so that the first day
is spent learning.
"""

import math

import harness


def lowest_window(state, job, memory, delay=21600.0):
    """Hold a job until the hour from which the signal's mean over its requested time is lowest, at most for a delay.

    Looked at are the present time and every full hour until the delay is over; of equals the earliest. Whoever was let
    go stays so. Without `--signal`, and for hours of which nothing is known yet, nobody is held.

    `delay`: how long after its submission a job may be held [s].
    """
    clock, record = state.clock, state.jobs[job]
    if math.isnan(clock.signal):
        return clock.now
    hour = harness.hour(clock)
    memory[int(hour)] = clock.signal
    memory[24 + int(hour)] = 1.0  # known
    hours = int(min(24, max(1, math.ceil(record.estimate / 3600.0))))
    best = clock.now
    least = expected(memory, int(hour), hours)
    time = clock.now + (1.0 + math.floor(hour) - hour) * 3600.0
    later = 1
    while time <= record.submit + delay:
        mean = expected(memory, int(hour) + later, hours)
        if mean < least:
            best, least = time, mean
        time += 3600.0
        later += 1
    return best


@harness.jit
def expected(memory, hour, hours):
    """Return the mean of so many hours from this one of the day on; not a number if one of them is not known."""
    total = 0.0
    for k in range(hour, hour + hours):
        if memory[24 + k % 24] == 0.0:
            return math.nan
        total += memory[k % 24]
    return total / hours


@harness.hookimpl
def hold_jobs():
    return [harness.Hold("lowest-window", lowest_window, memory=48, timed=True, again=(), least={"delay": 0})]
