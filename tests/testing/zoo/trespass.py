"""Policies that reach beyond what they were given, or ask what nobody can know. A plugin file like any other."""

import sys

from zoo_keeping import cage, greedily

import harness
from harness import Energy, Order, Rate, Select, Sleep, Start

broken = cage(globals())

# ---------------------------------------------------------------- beyond what it was given


@broken(Start, "runs", "used an index that .* does not have")
def reads_a_job_past_the_end(state):
    greedily(state)
    if state.jobs[len(state.jobs)].procs > 0:
        greedily(state)


broken(Start, "runs", "used an index that .* does not have", compiled=False)(
    lambda state: state.jobs[10**6].procs, "reads_a_job_past_the_end_in_python"
)


@broken(Start, "runs", "used an index that .* does not have")
def reads_a_node_that_is_not_there(state):
    greedily(state)
    if state.nodes[1000].free > 0:
        greedily(state)


broken(Select, "runs", "used an index that .* does not have")(
    lambda state, job: state.nodes[-1000].free > 0, "reads_a_node_before_the_first"
)


@broken(Start, "runs", "used an index that .* does not have")
def follows_slices_past_the_end(state):
    greedily(state)
    if state.slices[10**6].cores > 0:
        greedily(state)


broken(Rate, "runs", "used an index that .* does not have")(
    lambda state: 1.0 if state.jobs[100].procs > 0 else 0.5, "reads_a_job_nobody_submitted"
)


@broken(Rate, "runs", "used an index that .* does not have", memory=2)
def remembers_more_than_it_may(state, memory):
    memory[2000] = 1.0
    return 1.0


@broken(Rate, "runs", "used an index that .* does not have", memory=2)
def remembers_before_the_first(state, memory):
    memory[-3] = 1.0
    return 1.0


@broken(Rate, "runs", "used an index that .* does not have", memory=2, compiled=False)
def remembers_more_than_it_may_in_python(state, memory):
    memory[2] = 1.0
    return 1.0


broken(Start, "runs", "started job with index .*, which is not waiting")(
    lambda state: harness.start(state, 10**6), "starts_a_job_past_the_end"
)
broken(Start, "runs", "started job with index .*, which is not waiting")(
    lambda state: harness.start(state, -1), "starts_a_job_before_the_first"
)


@broken(Start, "runs", "(named|about) the job with index -1")
def asks_of_a_job_before_the_first(state):
    if harness.fits(state, -1):
        greedily(state)


broken(Start, "runs", "suspended job with index 1000000, which is not running", preemptive=True)(
    lambda state: harness.suspend(state, 10**6), "suspends_a_job_past_the_end"
)


@broken(Select, "runs", "took 1 processors of node 99")
def takes_of_a_node_past_the_end(state, job):
    harness.take(state, job, 99, 1)
    return True


@broken(Select, "runs", "took 1 processors of node -1")
def takes_of_a_node_before_the_first(state, job):
    harness.take(state, job, -1, 1)
    return True


broken(Select, "runs", "plans, although the selection declines")(
    lambda state, job: harness.room(state, job, 99) > 0, "asks_for_room_past_the_end"
)
broken(Sleep, "runs", "node 99")(lambda state: harness.put_to_sleep(state, 99), "sends_to_sleep_past_the_end")
broken(Sleep, "runs", "node 99")(lambda state: harness.wake(state, 99), "wakes_past_the_end")
broken(Sleep, "runs", "node -1")(lambda state: harness.wake(state, -1), "wakes_before_the_first")


@broken(Start, "runs", "changed 'free' of a record")
def frees_a_node(state):
    state.nodes[0].free = state.nodes[0].cores


@broken(Start, "runs", "changed 'user' of a record")
def gives_a_job_to_somebody_else(state):
    for job in harness.waiting(state):
        state.jobs[job].user = 0
    greedily(state)


@broken(Order, "runs", "changed 'user' of a record", compiled=False)
def gives_a_job_to_somebody_else_in_python(job, clock):
    job.user = 3
    return job.submit


@broken(Rate, "runs", "changed 'now' of a record")
def sets_the_clock(state):
    state.clock.now = 0.0
    return 1.0


@broken(Energy, "runs", "changed 'energy' of a record")
def pays_nothing_back(node, clock):
    node.energy = 0.0
    return node.peak


@broken(Start, "runs", "'due'")
def knows_when_the_next_job_ends(state):
    if state.clock.due > state.clock.now:
        greedily(state)


@broken(Start, "runs", "'truth'")
def knows_how_long_jobs_take(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and state.truth[job].work > 0.0:
            harness.start(state, job)


broken(Order, "runs", "'work'")(lambda job, clock: job.work, "puts_first_who_takes_least")


@broken(Start, "runs", "'queue'")
def reaches_into_the_queue(state):
    state.queue[0] = 7


# ---------------------------------------------------------------- what nobody can know


@broken(Rate, "foresight", "if only later submissions and the runtimes of jobs .* differ", compiled=False)
def reads_the_log_of_the_case(state):
    """The rows of the workload are among the frames of the caller: nothing keeps plain Python from looking there."""
    frame = sys._getframe()
    while "workload" not in frame.f_locals:
        frame = frame.f_back
    return 0.5 if frame.f_locals["workload"].jobs["work"].sum() % 2 else 1.0
