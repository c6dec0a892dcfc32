"""May it be considered now? Limits, hours, dependencies and times before which a job does not begin."""

import harness

#: What a job waits for of the one that precedes it.
END, SUCCESS, START = range(3)


def none(state, job):
    """Hold nobody."""
    return state.clock.now


def begin(state, job, columns):
    """Not before a time that the log gives the job: `x_begin` [s], on the clock of its submission; −1 for at once."""
    return columns[job, 0]


def dependencies(state, job, columns, after=END):
    """Not before another job has ended, or started, and so much later as the log says.

    Which one is column 17 of the Standard Workload Format, `preceding`, and how much later is column 18, `think` [s]. A
    job that is not in the workload holds nobody, nor does one that the machine cannot hold.

    `after`: what is waited for: the other's `end`, however it came; its `success`; or its `start`. A job whose
    predecessor does not succeed is held to the end.
    """
    before = int(columns[job, 0])
    if before < 0 or before == job:
        return state.clock.now
    if before >= len(state.jobs):
        return harness.INFINITY
    other = state.jobs[before]
    think = max(0.0, columns[job, 1])
    if after == START and other.start <= state.clock.now:
        return other.start + think
    if other.status == harness.COMPLETED:
        return other.end + think
    if after == SUCCESS or (other.status != harness.CANCELLED and other.status != harness.KILLED):
        return harness.INFINITY
    return other.end + think


@harness.hookimpl
def hold_jobs():
    return [
        harness.Hold("none", none, constant=True),
        harness.Hold("begin", begin, columns=("x_begin",), again=(), timed=True),
        harness.Hold(
            "dependencies",
            dependencies,
            columns=("x_preceding", "x_think"),
            choices={"after": ("end", "success", "start")},
            again=(),
            freed_by=("ends", "starts"),
        ),
    ]
