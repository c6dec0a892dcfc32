"""Carbon-aware: a job is held until the hours in which energy is expected to be cleanest, within a delay.

Source: Hanafy, Liang, Bashir, Souza, Irwin and Shenoy (2024), Going green for less green: optimizing the cost of
reducing cloud carbon emissions, ASPLOS (its policies Lowest Window, Lowest Slot and Carbon-Time).

From the paper (by its published program, umassos/GAIA): candidate starts every hour until the delay is over, the
earliest of equal ones, and three criteria. Our choices: hours are those of the clock, not counted from the submission.
Lengths are requested times; in the paper they are the mean runtime of the queue, which `length` may give. The paper
uses a given forecast. Here the forecast is the last value seen at the same hour, so the first day is spent learning.
"""

import math

import harness

WINDOW, SLOT, SAVING = range(3)


def lowest_window(state, job, memory, delay=21600.0, by=WINDOW, length=0.0):
    """Hold a job until the hour from which the signal's mean over its length is lowest, at most for a delay.

    Candidates are the present time and every full hour until the delay is over; of equal ones the earliest. A released
    job is not held again. Without `--signal`, and for hours without a known value, no job is held.

    `delay`: longest hold after the submission [s]. `by`: criterion of the best hour, the lowest mean over the job's
    length from then on (`window`), the lowest signal in that hour (`slot`), or the largest saving for each second until
    the job's end (`saving`). `length`: assumed runtime of jobs [s], 0 for the requested time.
    """
    clock, record = state.clock, state.jobs[job]
    if math.isnan(clock.signal):
        return clock.now
    hour = harness.hour(clock)
    memory[int(hour)] = clock.signal
    memory[24 + int(hour)] = 1.0  # known
    taken = length if length > 0.0 else record.estimate
    hours = 1 if by == SLOT else int(min(24, max(1, math.ceil(taken / 3600.0))))
    best = clock.now
    now = expected(memory, int(hour), hours)
    least = 0.0 if by == SAVING else now
    time = clock.now + (1.0 + math.floor(hour) - hour) * 3600.0
    later = 1
    while time <= record.submit + delay:
        cost = expected(memory, int(hour) + later, hours)
        if by == SAVING:
            cost = (cost - now) / (time - clock.now + max(taken, 1.0))
        if cost < least:
            best, least = time, cost
        time += 3600.0
        later += 1
    return best


@harness.jit
def expected(memory, hour, hours):
    """Return the mean signal over a number of hours from this hour of the day on; not a number if one is unknown."""
    total = 0.0
    for k in range(hour, hour + hours):
        if memory[24 + k % 24] == 0.0:
            return math.nan
        total += memory[k % 24]
    return total / hours


@harness.hookimpl
def hold_jobs():
    return [
        harness.Hold(
            "lowest-window",
            lowest_window,
            memory=48,
            timed=True,
            rechecked_on=(),
            reads=("clock.now", "clock.signal", "clock.epoch", "clock.zone", "job.submit", "job.estimate"),
            least={"delay": 0, "length": 0},
            choices={"by": ("window", "slot", "saving")},
        )
    ]
