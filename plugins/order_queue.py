"""Classic orders of the queue. The lowest score is first; ties go by submission, then by position in the log."""

import math

import harness

#: A zero estimate would divide by zero; a millisecond is as short.
SHORTEST = 1e-3


def fcfs(job, clock):
    """First come, first served: by submission."""
    return job.submit


def lcfs(job, clock):
    """Last come, first served: the latest submission first. With `preempt(at=any)` this is preemptive-resume."""
    return -job.submit


def spf(job, clock):
    """Shortest processing time first: by requested time, or remaining estimate of suspended and running jobs."""
    return job.left


def lpf(job, clock):
    """Longest processing time first: by requested time, or remaining estimate of suspended and running jobs."""
    return -job.left


def sjf_width(job, clock):
    """Narrowest first: by processors."""
    return float(job.procs)


def ljf_width(job, clock):
    """Widest first: by processors."""
    return -float(job.procs)


def saf(job, clock):
    """Smallest area first: by requested time × processors."""
    return job.estimate * job.procs


def laf(job, clock):
    """Largest area first: by requested time × processors."""
    return -job.estimate * job.procs


def wfp3(job, clock, power=3.0):
    """WFP3: waiting over requested time, to the power of 3, × processors (Tang et al. 2009).

    `power`: influence of a long wait.
    """
    wait = clock.now - job.submit
    return -((wait / max(job.estimate, SHORTEST)) ** power) * job.procs


def unicef(job, clock):
    """UNICEF: waiting over (log2 of the width × requested time), small and old jobs first (Tang et al. 2009)."""
    wait = clock.now - job.submit
    return -wait / (math.log2(max(job.procs, 2)) * max(job.estimate, SHORTEST))


def expansion(job, clock):
    """Expansion factor: the largest (waiting + requested) / requested time first."""
    wait = clock.now - job.submit
    return -(wait + job.estimate) / max(job.estimate, SHORTEST)


def f1(job, clock):
    """F1: log10(r)·n + 870·log10(s), fitted by simulation (Carastan-Santos and de Camargo 2017).

    r is the requested time [s], n the processors, s the submission [s].
    """
    return math.log10(max(job.estimate, 1.0)) * job.procs + 8.70e2 * math.log10(max(job.submit, 1.0))


def f2(job, clock):
    """F2: √r·n + 25600·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return math.sqrt(job.estimate) * job.procs + 2.56e4 * math.log10(max(job.submit, 1.0))


def f3(job, clock):
    """F3: r·n + 6860000·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return job.estimate * job.procs + 6.86e6 * math.log10(max(job.submit, 1.0))


def f4(job, clock):
    """F4: r·√n + 530000·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return job.estimate * math.sqrt(job.procs) + 5.30e5 * math.log10(max(job.submit, 1.0))


#: One hidden unit: what is left of the estimate less half of the wait. The shortest first, but aging.
AGING = (-0.5, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0)


def network(job, clock, weights=AGING):
    """A small trained network: the job with the lowest output is first (as in Zhang et al. 2020).

    It has one hidden layer of rectified linear units, and takes the eight numbers of `harness.described`.
    `weights`: of each hidden unit its eight weights, its bias, and its weight in the output; last the output's bias.
    """
    seen = harness.described(job, clock)
    width = len(seen) + 2
    if len(weights) % width != 1:
        return math.nan  # which is refused: no number of units has so many weights
    score = weights[-1]
    for unit in range(len(weights) // width):
        inside = weights[unit * width + len(seen)]
        for k in range(len(seen)):
            inside += weights[unit * width + k] * seen[k]
        score += weights[unit * width + len(seen) + 1] * max(inside, 0.0)
    return score


# ---------------------------------------------------------------- shares and priorities

#: Whose shares count: those of the user, of the group, or of the user within the group.
WHOSE = {"of": ("user", "group", "both")}
USER, GROUP, BOTH = range(3)


@harness.jit
def part(number, shares, known):
    """Return an owner's part of all shares. With one share in the table, all known owners have equal parts."""
    if len(shares) == 1:
        return 1.0 / max(known, 1)
    total = 0.0
    for k in range(len(shares)):
        total += shares[k]
    return shares[number] / total if 0 <= number < len(shares) and total > 0.0 else 0.0


@harness.jit
def overuse(job, user, group, everybody, of, shares, group_shares):
    """Return recent usage over the share: U_E / S of Slurm's classic formula."""
    total = max(everybody.usage, SHORTEST)
    allowed, used = 0.0, 0.0
    if of == USER:
        allowed, used = part(job.user, shares, everybody.users), user.usage / total
    else:
        allowed, used = part(job.group, group_shares, everybody.groups), group.usage / total
    if of == BOTH:
        among = part(job.user, shares, group.users)
        own = user.usage / total
        allowed, used = allowed * among, own + (used - own) * among
    return used / allowed if allowed > 0.0 else math.inf


def fairshare(job, clock, user, group, everybody, half_life=604800.0, of=USER, shares=(1.0,), group_shares=(1.0,)):
    """Fair share: jobs of users with the least usage for their share first, by Slurm's classic F = 2^(−U/S).

    U is the part of all usage, in which each processor-second counts half after a half-life. S is the part of all
    shares. `half_life`: that time [s], 0 for no decay. `of`: owner of usage and shares, `user`, `group`, or `both`: a
    user within the group. `shares`, `group_shares`: by number from 0; one entry means equal shares of all known owners.
    """
    return overuse(job, user, group, everybody, of, shares, group_shares)


@harness.jit
def relative(number, table):
    """Return an entry of a table relative to the largest. A single entry holds for all."""
    if len(table) == 1:
        return 1.0
    most = 0.0
    for k in range(len(table)):
        most = max(most, table[k])
    return table[number] / most if 0 <= number < len(table) and most > 0.0 else 0.0


def multifactor(
    job,
    clock,
    user,
    group,
    everybody,
    age=1000.0,
    size=1000.0,
    fairshare=10000.0,
    partition=1000.0,
    qos=0.0,
    max_age=604800.0,
    favor_small=False,
    size_relative=False,
    dampening=1.0,
    half_life=604800.0,
    of=USER,
    shares=(1.0,),
    group_shares=(1.0,),
    partitions=(1.0,),
    qualities=(1.0,),
):
    """Slurm's multifactor priority, highest first: the sum of factors between 0 and 1, each times its weight.

    The default weights are those of Slurm's example of a configuration. `age`: weight of the time since submission over
    `max_age` [s], at most 1. `size`: weight of the processors over those of the machine, or of 1 minus that with
    `favor_small`; with `size_relative`, also divided by the requested minutes. `fairshare`: weight of
    2^(−U/(S·`dampening`)); `half_life`, `of`, `shares` and `group_shares` are those of the order `fairshare`.
    `partition`, `qos`: weights of the entries of the tables `partitions` and `qualities` for the job's partition and
    queue, by number, over the largest entry.
    """
    waited = min(max(clock.now - job.submit, 0.0) / max_age, 1.0)
    large = job.procs / clock.cores
    if size_relative:
        large /= max(job.estimate / 60.0, 1.0)
    if favor_small:
        large = 1.0 - large
    fair = 2.0 ** -(overuse(job, user, group, everybody, of, shares, group_shares) / dampening)
    priority = age * waited + size * large + fairshare * fair
    return -(priority + partition * relative(job.partition, partitions) + qos * relative(job.queue, qualities))


def queue_priority(job, clock, priority=(0.0,)):
    """The queue with the highest priority first. `priority`: by number of the queue; 0 for other queues."""
    return -priority[job.queue] if 0 <= job.queue < len(priority) else 0.0


#: No weight, share or priority of a queue may take back what another one gives.
NOT_BELOW_ZERO = ("half_life", "shares", "group_shares")
WEIGHTS = ("age", "size", "fairshare", "partition", "qos", "partitions", "qualities")


#: What orders read: the area of a job; that and how long it has waited; the processors and the queue.
AREA = ("job.procs", "job.estimate")
WAIT = (*AREA, "job.submit", "clock.now")
MACHINE = ("clock.cores", "clock.free", "clock.queued")


@harness.hookimpl
def order_queue():
    return [
        *(harness.Order(score.__name__, score, reads=("job.submit",)) for score in (fcfs, lcfs)),
        *(harness.Order(score.__name__, score, reads=("job.left",)) for score in (spf, lpf)),
        *(harness.Order(score.__name__, score, reads=AREA) for score in (saf, laf)),
        *(harness.Order(score.__name__, score, timed=True, reads=(*AREA, "job.submit")) for score in (f1, f2, f3, f4)),
        harness.Order("sjf-width", sjf_width, reads=("job.procs",)),
        harness.Order("ljf-width", ljf_width, reads=("job.procs",)),
        harness.Order("wfp3", wfp3, varies=True, falls=True, least={"power": 0.0}, reads=WAIT),
        *(harness.Order(score.__name__, score, varies=True, falls=True, reads=WAIT) for score in (unicef, expansion)),
        harness.Order("network", network, varies=True, reads=(*WAIT, "job.left", *MACHINE)),
        harness.Order("queue-priority", queue_priority, reads=("job.queue",)),
        harness.Order(
            "fairshare",
            fairshare,
            varies=True,
            choices=WHOSE,
            least=dict.fromkeys(NOT_BELOW_ZERO, 0.0),
            same_answer_for=("user", "group"),
            reads=("job.user", "job.group"),
        ),
        harness.Order(
            "multifactor",
            multifactor,
            varies=True,
            choices=WHOSE,
            least=dict.fromkeys((*NOT_BELOW_ZERO, *WEIGHTS), 0.0) | {"max_age": 1.0, "dampening": SHORTEST},
            reads=(*WAIT, "clock.cores", "job.user", "job.group", "job.queue", "job.partition"),
        ),
    ]
