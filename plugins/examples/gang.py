"""Gang scheduling: jobs share the machine in turns; all processes of a job run at once, or none does.

Source: Ousterhout (1982), Scheduling techniques for concurrent systems, ICDCS (its matrix); Feitelson and Rudolph
(1992), Gang scheduling performance benefits for fine-grain synchronization, JPDC 16(4).

From the papers (by textbooks, because the texts were not at hand): the matrix of rows and processors, one row at a
time, all processes of a job at once. Our choices: a job goes to the first row with room, in queue order. Free places of
a row that jobs of other rows could fill (alternate scheduling) stay empty. Changing rows costs nothing.
"""

import harness


def gang(state, memory, per_job, quantum=600.0, rows=4):
    """Put jobs in rows as wide as the machine, in queue order, and run one row after the other for a quantum each.

    A job goes to the first row with enough room, and stays there. If no row has room, it and all later jobs wait. After
    its turn a job stays in memory, and later resumes on the same processors. The turn of an empty row ends at once.

    `quantum`: length of a turn [s]. `rows`: largest number of jobs of a processor.
    """
    clock = state.clock
    put_in_rows(state, per_job, rows)
    if clock.now >= memory[1] or load(state, per_job, memory[0]) == 0:
        memory[0] = next_row(state, per_job, memory[0], rows)
        memory[1] = clock.now + quantum
    others = next_row(state, per_job, memory[0], rows) != memory[0]  # before they are suspended and no longer listed
    for job in harness.running(state).copy():
        if per_job[job].row != memory[0]:
            harness.suspend(state, job, 0.0, True)
    for begun in (True, False):  # jobs that resume in place come first
        for job in harness.waiting(state):
            record = state.jobs[job]
            its_turn = record.status == harness.WAITING and per_job[job].row == memory[0]
            if its_turn and (record.preemptions > 0) == begun and harness.fits(state, job):
                harness.start(state, job)
    if others:
        harness.call_again(state, memory[1])


@harness.jit
def put_in_rows(state, per_job, rows):
    """Give waiting jobs a row, in queue order, until there is no room for one."""
    room = state.clock.cores - state.clock.down
    for job in harness.waiting(state):
        row = 1
        while per_job[job].row == 0.0:
            if row > rows:
                return
            if load(state, per_job, row) + state.jobs[job].procs <= room:
                per_job[job].row = row
            row += 1


@harness.jit
def load(state, per_job, row):
    """Return how many processors the jobs of a row need; there is no row 0."""
    procs = 0
    for job in harness.running(state):
        if per_job[job].row == row > 0:
            procs += state.jobs[job].procs
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and per_job[job].row == row > 0:
            procs += state.jobs[job].procs
    return procs


@harness.jit
def next_row(state, per_job, row, rows):
    """Return the next row after this one that has jobs; this one if no other has."""
    for further in range(1, rows):
        following = (row - 1 + further) % rows + 1
        if load(state, per_job, following) > 0:
            return following
    return max(row, 1.0)


@harness.hookimpl
def start_jobs():
    kept = (2, harness.per_job(("row",)))  # the row that runs, and when its turn is over; each job's row
    least = {"quantum": 1, "rows": 1}
    return [
        harness.Start(
            "gang", gang, memory=kept, preemptive=True, timed=True, least=least, reads=("queue", "job", "clock")
        )
    ]
