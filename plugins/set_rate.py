"""Rates: the speed of all nodes, 1 at full speed.

Policies with two rates begin at the slow one. Performance states give the power of a node at each rate. Without them a
slower node draws the same power, for longer.
"""

import harness


def full(state):
    """Full speed, always."""
    return 1.0


def fixed(state, rate=1.0):
    """One rate, always. `rate`: 1 is full speed."""
    return rate


@harness.jit
def present_rate(state, first):
    """The rate so far; `first` at the first instant."""
    return first if state.clock.instants == 1 else state.clock.rate


def coin(state, dice, up=0.5, down=0.5, slow=0.75, fast=1.0):
    """Flip a coin: rate `fast` with probability `up` at an arrival, `slow` with probability `down` at a departure."""
    rate = present_rate(state, slow)
    for _ in range(state.clock.completed):
        if harness.uniform(dice) < down:
            rate = slow
    for _ in range(state.clock.arrived):
        if harness.uniform(dice) < up:
            rate = fast
    return rate


def hysteresis(state, low=8, high=16, slow=0.75, fast=1.0):
    """By the number of jobs: rate `fast` when it rises above `high`, `slow` when it falls to `low`, else as it was.

    The number is that after all completions and submissions of the instant.
    """
    jobs = state.clock.queued + state.clock.running
    if jobs <= low:
        return slow
    return fast if jobs > high else present_rate(state, slow)


def workload(state, low=1e5, high=3e5, slow=0.75, fast=1.0):
    """By the work left in the system [s at reference speed]: rate `fast` above `high`, `slow` at or below `low`.

    It switches to slow at the very instant at which the work has fallen to `low`. The work is what the estimates say;
    with `--estimates actual` it is the true one (Rumyantsev, Morozova and Basmadjian 2018).
    """
    rate = present_rate(state, slow)
    work = harness.work_left(state)
    if work <= low or (state.clock.work_level_reached and state.clock.arrived == 0):
        return slow
    if work > high:
        rate = fast
    if rate != slow:
        harness.call_at_work(state, low)
    return rate


def ondemand(state, up=0.8, slow=0.5, period=60.0):
    """Like the governor of Linux: looked at every `period` seconds, full speed if the share of busy processors is
    at least `up`, in proportion to it below, but never slower than `slow`."""
    clock = state.clock
    harness.call_not_before(state, clock.now + period)
    there = clock.cores - clock.down
    busy = (there - clock.free - clock.booting) / max(there, 1)
    return 1.0 if busy >= up else max(slow, busy / up)


def powercap(state, watts=1e6):
    """The highest performance state that keeps the platform's power within `watts`, even if jobs start now.

    Where jobs wait, every free core is counted as busy, and sleeping nodes as awake. If no state is low enough, it
    takes the one that draws least, and the power above the cap is reported.
    """
    best = state.clock.rate
    least = harness.INFINITY
    for k in range(len(state.paces)):
        rate = state.paces[k].rate
        power = 0.0
        for node in range(len(state.nodes)):
            record = state.nodes[node]
            if record.status == harness.DOWN:
                continue
            idle, peak = harness.power_at(state, node, rate)
            busy = record.cores if state.clock.queued > 0 else record.cores - record.free
            power += idle + harness.load_share(record, busy) * (peak - idle)
        if (power <= watts and (least > watts or rate > best)) or (power < least and least > watts):
            best = rate
            least = power
    return best


def bsld(state, threshold=2.0, slow=0.75):
    """Rate `slow` as long as no job's bounded slowdown is predicted above `threshold` at it, else full speed.

    A waiting job is predicted to start now, a running one to need its estimate.
    """
    for job in harness.waiting(state):
        if slowdown(state.jobs[job], state.clock, slow) > threshold:
            return 1.0
    for job in harness.running(state):
        if slowdown(state.jobs[job], state.clock, slow) > threshold:
            return 1.0
    return slow


@harness.jit
def slowdown(job, clock, rate):
    """Return the bounded slowdown of a job if its remaining estimate is served at `rate` from now on."""
    rest = job.left
    if job.status == harness.RUNNING:
        rest = max(0.0, job.planned - clock.virtual)
    return max(1.0, (clock.now - job.submit + rest / rate) / max(job.estimate, 10.0))


def follow(state, low=100.0, high=300.0, slow=0.75):
    """Full speed while the signal is at most `low`, rate `slow` from `high` on, in between in proportion.

    It changes with the signal, at that very instant.
    """
    clock = state.clock
    if clock.signal_until < harness.INFINITY:
        harness.call_not_before(state, clock.signal_until)
    if clock.signal >= high:
        return slow
    if clock.signal > low:
        return 1.0 - (1.0 - slow) * (clock.signal - low) / (high - low)
    return 1.0


TWO_RATES = ("slow", "fast")
PRESENT = ("clock.instants", "clock.rate")


@harness.hookimpl
def set_rate():
    return [
        harness.Rate("full", full, constant=True, reads=()),
        harness.Rate("fixed", fixed, constant=True, reads=()),
        harness.Rate(
            "coin",
            coin,
            least={"up": 0, "down": 0},
            most={"up": 1, "down": 1},
            rising=(TWO_RATES,),
            reads=(*PRESENT, "clock.completed", "clock.arrived"),
        ),
        harness.Rate(
            "hysteresis",
            hysteresis,
            least={"low": 0},
            rising=(("low", "high"), TWO_RATES),
            reads=(*PRESENT, "clock.queued", "clock.running"),
        ),
        harness.Rate(
            "workload",
            workload,
            least={"low": 0},
            rising=(("low", "high"), TWO_RATES),
            reads=(*PRESENT, "clock.demand", "clock.work_level_reached", "clock.arrived"),
        ),
        harness.Rate(
            "ondemand",
            ondemand,
            least={"up": 0, "period": 1},
            most={"up": 1},
            reads=("clock.now", "clock.cores", "clock.down", "clock.free", "clock.booting"),
        ),
        harness.Rate(
            "powercap",
            powercap,
            least={"watts": 0},
            needs=("idle", "peak", "performance"),
            cap="watts",
            reads=("clock.rate", "clock.queued", "pace", "node"),
        ),
        harness.Rate(
            "follow",
            follow,
            least={"slow": 1e-3},
            rising=(("low", "high"),),
            needs=("signal",),
            reads=("clock.signal", "clock.signal_until"),
        ),
        harness.Rate(
            "bsld",
            bsld,
            least={"threshold": 1, "slow": 1e-3},
            reads=("queue", "job", "clock.now", "clock.virtual"),
        ),
    ]
