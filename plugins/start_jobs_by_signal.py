"""Who starts now, by what a kilowatt-hour emits or costs: `--signal`."""

import harness


def lull(state, level=200.0, delay=14400.0):
    """EASY backfilling that waits for a lull: while the signal is above `level`, only who waited for `delay` starts.

    So nobody is put off by more than `delay` [s]. Those who may start do so in order, with backfilling.
    Thresholds and bounded delays are those of Wiesner and others (2021), "Let's wait awhile".
    """
    clock = state.clock
    head = -1
    at = 0.0
    spare = 0
    soonest = harness.INFINITY
    for job in harness.waiting(state):
        record = state.jobs[job]
        if clock.signal > level and clock.now < record.submit + delay:
            soonest = min(soonest, record.submit + delay)
        elif head < 0:
            if not (harness.fits(state, job) and harness.start(state, job)):
                head = job
                at, spare = harness.reservation(state, head)
        elif record.procs <= clock.free and harness.fits(state, job):
            if not harness.later(clock.virtual + record.left, at):
                harness.start(state, job)
            else:
                burden = harness.burden(state, job, head)
                if burden <= spare and harness.start(state, job):
                    spare -= burden
    if soonest < harness.INFINITY:
        harness.call_again(state, min(soonest, clock.signal_until))


@harness.hookimpl
def start_jobs():
    return [
        harness.Start("lull", lull, least={"level": 0, "delay": 0}, needs=("signal",), reads=("queue", "job", "clock"))
    ]
