"""Holds: limits, hours of the week, dependencies between jobs, and earliest start times."""

import harness

#: The required event of a predecessor.
END, SUCCESS, START = range(3)


def none(state, job):
    """Hold no job."""
    return state.clock.now


def begin(state, job, columns):
    """Earliest start: hold a job until `x_begin` [s] in the log, on the clock of its submission; −1 for no limit."""
    return columns[job, 0]


def dependencies(state, job, columns, after=END):
    """Dependencies: hold a job until its predecessors have ended or started, and for the delay in the log after that.

    The predecessor is column 17 of the Standard Workload Format, `preceding`, and the delay is column 18, `think` [s].
    Further predecessors are `x_preceding_2` to `x_preceding_8`. Jobs outside the workload, and jobs wider than the
    machine, hold no other job.

    `after`: the required event of a predecessor: its `end`, for any reason; its `success`; or its `start`. Jobs that
    are killed, or that the log cancels, do not succeed, even if they start here. If a predecessor does not succeed, the
    job is held for the whole run. The columns `x_after` to `x_after_8` give the event of each predecessor: 0 for its
    end, 1 for its success, 2 for its start, −1 for the event of `after`.
    """
    until = -harness.INFINITY
    for k in range(len(BEFORE)):
        before = int(columns[job, k])
        if before >= 0 and before != job:
            said = columns[job, len(BEFORE) + 1 + k]
            kind = after if said < 0.0 else int(said)
            until = max(until, free_after(state, before, max(0.0, columns[job, len(BEFORE)]), kind))
    return until


#: The columns with the predecessors of a job.
BEFORE = ("x_preceding", *(f"x_preceding_{k}" for k in range(2, 9)))
#: The columns with the required event of each.
AFTER = ("x_after", *(f"x_after_{k}" for k in range(2, 9)))


@harness.jit
def free_after(state, before, think, after):
    """Return the time from which one predecessor allows a job to start; infinity if it is unknown."""
    if before >= len(state.jobs):
        return harness.INFINITY
    other = state.jobs[before]
    if after == START and other.start <= state.clock.now:
        return other.start + think
    if other.status == harness.COMPLETED:
        return other.end + think
    if after == SUCCESS or (other.status != harness.CANCELLED and other.status != harness.KILLED):
        return harness.INFINITY
    return other.end + think


def limits(
    state,
    job,
    user,
    group,
    queue,
    user_jobs=0,
    user_procs=0,
    user_nodes=0,
    user_submitted=0,
    group_jobs=0,
    group_procs=0,
    group_nodes=0,
    group_submitted=0,
    queue_jobs=0,
    queue_procs=0,
    queue_nodes=0,
    queue_submitted=0,
    partition_jobs=0,
    partition_procs=0,
    partition_nodes=0,
    partition_submitted=0,
    table=(-1.0,),
):
    """Limits for each user, group, queue (QOS in dumps of sacct) and partition; 0 for no limit.

    A job that would exceed a limit of jobs, processors or nodes is held until other jobs have ended. A released job may
    still have to wait for processors. Jobs of unknown users, groups, queues or partitions are not limited.

    `user_jobs`, `group_jobs`, `queue_jobs`, `partition_jobs`: running jobs.
    `user_procs`, `group_procs`, `queue_procs`, `partition_procs`: their processors, including those of the job.
    `user_nodes`, `group_nodes`, `queue_nodes`, `partition_nodes`: their nodes, counted once for each job. One more job
    may start while fewer nodes are in use.
    `user_submitted`, `group_submitted`, `queue_submitted`, `partition_submitted`: jobs that run or wait; further jobs
    are held until one leaves.
    `table`: a CSV of limits of single users, groups, queues and partitions, see policies/README.md.
    """
    mine = state.jobs[job]
    waits = mine.status == harness.WAITING
    if len(table) >= ROW:
        user_jobs, user_procs, user_nodes = of_one(table, 0, mine.user, user_jobs, user_procs, user_nodes)
        group_jobs, group_procs, group_nodes = of_one(table, 1, mine.group, group_jobs, group_procs, group_nodes)
        queue_jobs, queue_procs, queue_nodes = of_one(table, 2, mine.queue, queue_jobs, queue_procs, queue_nodes)
        partition_jobs, partition_procs, partition_nodes = of_one(
            table, 3, mine.partition, partition_jobs, partition_procs, partition_nodes
        )
    if (
        (mine.user >= 0 and full(user, mine.procs, waits, user_jobs, user_procs, user_nodes, user_submitted))
        or (mine.group >= 0 and full(group, mine.procs, waits, group_jobs, group_procs, group_nodes, group_submitted))
        or (mine.queue >= 0 and full(queue, mine.procs, waits, queue_jobs, queue_procs, queue_nodes, queue_submitted))
    ):
        return harness.INFINITY
    bounds = (partition_jobs, partition_procs, partition_nodes, 0 if waits else partition_submitted)
    if mine.partition >= 0 and max(bounds) > 0 and full_partition(state, mine.partition, mine.procs, bounds):
        return harness.INFINITY
    return state.clock.now


@harness.jit
def full_partition(state, partition, procs, bounds):
    """Return whether a job of `procs` processors would exceed a limit of the partition."""
    jobs_at_most, procs_at_most, nodes_at_most, submitted_at_most = bounds
    jobs = nodes = 0
    for other in harness.running(state):
        if state.jobs[other].partition == partition:
            jobs += 1
            procs += state.jobs[other].procs
            nodes += state.jobs[other].nodes
    there = jobs
    if submitted_at_most > 0:
        for other in harness.waiting(state):
            if state.jobs[other].partition == partition and state.jobs[other].status == harness.WAITING:
                there += 1
    return (
        (0 < jobs_at_most <= jobs)
        or (0 < procs_at_most < procs)
        or (0 < nodes_at_most <= nodes)
        or (0 < submitted_at_most <= there)
    )


#: Numbers in a row of the table of `harness.read_limits`: kind of owner, its number, its limits.
ROW = 5


@harness.jit
def of_one(table, whom, number, jobs, procs, nodes):
    """Return the limits of one user, group or queue: those of its row, else the common ones."""
    for place in range(0, len(table) - ROW + 1, ROW):
        if table[place] == whom and table[place + 1] == number:
            jobs = int(table[place + 2]) if table[place + 2] >= 0.0 else jobs
            procs = int(table[place + 3]) if table[place + 3] >= 0.0 else procs
            nodes = int(table[place + 4]) if table[place + 4] >= 0.0 else nodes
    return jobs, procs, nodes


#: Its parameters that are numbers.
LIMITS = (
    *("user_jobs", "user_procs", "user_nodes", "user_submitted"),
    *("group_jobs", "group_procs", "group_nodes", "group_submitted"),
    *("queue_jobs", "queue_procs", "queue_nodes", "queue_submitted"),
    *("partition_jobs", "partition_procs", "partition_nodes", "partition_submitted"),
)


@harness.jit
def full(share, procs, waits, jobs_at_most, procs_at_most, nodes_at_most, submitted_at_most):
    """Return whether a job of `procs` processors would exceed the limits, given the usage."""
    return (
        (jobs_at_most > 0 and share.running >= jobs_at_most)
        or (procs_at_most > 0 and share.running_procs + procs > procs_at_most)
        or (nodes_at_most > 0 and share.running_nodes >= nodes_at_most)
        or (submitted_at_most > 0 and not waits and share.running + share.queued >= submitted_at_most)
    )


DAY, WEEK = 86400.0, 604800.0

#: Rounding error of an hour of the week that is a sum [s].
ROUNDING = 1e-6

#: The numbers of a window in a calendar, as `harness.read_calendar` makes them.
RULE, LONGER, AT_MOST, WIDER, AT_MOST_PROCS, QUEUE, USER, GROUP, FROM, TO, WITHIN, WIDTH = range(12)


def calendar(state, job, table=()):
    """Hours of the week in which jobs may start, by requested time, width, queue, user and group.

    Windows for jobs of the same kind are one rule: such a job starts in one of them, or is held until the next. A job
    of several kinds must satisfy all their rules. A job of no kind starts at any time.

    `table`: a TOML or CSV file of windows, or the name of a bundled calendar, see policies/README.md.
    """
    clock = state.clock
    if len(table) == 0:
        return clock.now
    here = clock.now
    if clock.epoch == clock.epoch:
        here += clock.epoch + 3.0 * DAY + (clock.zone if table[0] == 1e9 else table[0])
    wait = until_open(state.jobs[job], table, here % WEEK)
    # Clocks may change before a distant window opens: check again shortly before.
    return clock.now + (wait - 7200.0 if wait > 14400.0 else wait)


@harness.jit
def until_open(job, table, now):
    """Return the time until all rules allow the job to start; infinity if they never do together."""
    waited = 0.0
    for _ in range(4 * len(table)):  # at most from one opening of a window to the next, for a week
        wait = 0.0
        rule = -1.0
        for place in range(1, len(table), WIDTH):
            if table[place] != rule and concerns(job, table, place):
                rule = table[place]
                wait = max(wait, opens(job.requested, table, place, (now + waited) % WEEK))
        if wait == 0.0:
            return waited
        waited += wait
        if waited > WEEK:
            break
    return harness.INFINITY


@harness.jit
def concerns(job, table, place):
    """Return whether the job meets the conditions of a window."""
    return (
        job.requested > table[place + LONGER]
        and job.requested <= table[place + AT_MOST]
        and job.procs > table[place + WIDER]
        and job.procs <= table[place + AT_MOST_PROCS]
        and (table[place + QUEUE] < 0.0 or job.queue == table[place + QUEUE])
        and (table[place + USER] < 0.0 or job.user == table[place + USER])
        and (table[place + GROUP] < 0.0 or job.group == table[place + GROUP])
    )


@harness.jit
def opens(requested, table, first, now):
    """Return the time until a window of the rule is open for a job of this length; infinity if it fits in none."""
    wait = harness.INFINITY
    for place in range(1, len(table), WIDTH):
        if table[place] != table[first]:
            continue
        length = table[place + TO] - table[place + FROM]
        if table[place + WITHIN] != 0.0 and requested > length:
            continue
        since = (now - table[place + FROM] + ROUNDING) % WEEK - ROUNDING
        left = length - since
        if left > 0.0 and (table[place + WITHIN] == 0.0 or requested <= left + ROUNDING):
            return 0.0
        wait = min(wait, (table[place + FROM] - now) % WEEK)
    return wait


#: The fields of a job by which windows of a calendar concern it.
KIND = ("requested", "procs", "queue", "user", "group")


@harness.hookimpl
def hold_jobs():
    return [
        harness.Hold("none", none, constant=True, reads=("clock.now",)),
        harness.Hold(
            "limits",
            limits,
            rechecked_on=("starts",),
            least=dict.fromkeys(LIMITS, 0),
            readers={"table": harness.read_limits},
            same_answer_for=("user", "group", "queue", "partition", "procs"),
            unless=("user_submitted", "group_submitted", "queue_submitted", "partition_submitted"),
            reads=("job", "queue", "clock.now"),
        ),
        harness.Hold(
            "calendar",
            calendar,
            readers={"table": harness.read_calendar},
            rechecked_on=("time",),
            timed=True,
            same_answer_for=KIND,
            reads=(*(f"job.{name}" for name in KIND), "clock.now", "clock.epoch", "clock.zone"),
        ),
        harness.Hold("begin", begin, columns=("x_begin",), rechecked_on=(), timed=True, reads=()),
        harness.Hold(
            "dependencies",
            dependencies,
            columns=(*BEFORE, "x_think", *AFTER),
            choices={"after": ("end", "success", "start")},
            rechecked_on=(),
            released_on=("ends", "starts"),
            reads=("job.start", "job.end", "job.status", "clock.now"),
        ),
    ]
