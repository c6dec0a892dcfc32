"""Start policies that follow the carbon intensity or price of energy: `--signal`."""

import harness


def lull(plan, queue, state, level=200.0, delay=14400.0):
    """EASY backfilling that waits for a lull: while the signal is above `level`, only who waited for `delay` starts.

    So nobody is put off by more than `delay` [s]. Those who may start do so in order, with backfilling.
    Thresholds and bounded delays are those of Wiesner and others (2021), "Let's wait awhile".
    """
    plan.refresh()
    clock = state.clock
    blocked = False
    soonest = harness.INFINITY
    for job in queue:
        latest = state.jobs[job].submit + delay
        if clock.signal > level and clock.now < latest:
            soonest = min(soonest, latest)
        elif not plan.start(job) and not blocked:
            plan.reserve(job)
            blocked = True
    plan.cancel_all()
    if soonest < harness.INFINITY:
        harness.call_again(state, min(soonest, clock.signal_until))


@harness.hookimpl
def start_jobs():
    return [
        harness.Start("lull", lull, least={"level": 0, "delay": 0}, needs=("signal",), reads=("queue", "job", "clock"))
    ]
