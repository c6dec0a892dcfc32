"""The rule of several queues for the slow simulators: one after the other is alone with its own jobs.

A queue is (numbers that the log gives it, order, start), the last one that of everybody else. `together` gives what
`slow.simulate` and `slow_holds.simulate` take for a start policy. Plans are made anew among those that run.
"""

from slow import STARTS, conservative, replan


def together(queues):
    def queue_of(job):
        return next((k for k, (numbers, *_) in enumerate(queues[:-1]) if job.queue in numbers), len(queues) - 1)

    def rule(machine):
        usual = machine.order, machine.backfill
        try:
            for k, (_, order, start) in enumerate(queues):
                one(machine, order, start, [job for job in machine.waiting if queue_of(job) == k])
        finally:
            machine.order, machine.backfill = usual

    return rule, ""


def one(machine, order, start, jobs):
    """Ask one queue about its jobs."""
    others = [job for job in machine.waiting if job not in jobs]
    rule, backfill = STARTS[start]
    machine.order, machine.backfill = order, backfill or order
    machine.waiting, machine.aside = jobs, others
    try:
        (replan if rule is conservative else rule)(machine)
    finally:
        machine.waiting, machine.aside = others + machine.waiting, []
