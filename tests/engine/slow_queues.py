"""The rule of several queues for the slow simulators: one after the other is alone with its own jobs.

A queue is (numbers that the log gives it, order, start), the last one that of everybody else. `together` gives what
`slow.simulate` and `slow_holds.simulate` take for a start policy, `together_by_nodes` what `slow_nodes_holds.simulate`
does. Plans are made anew among those that run.
"""

import slow_nodes
from slow import STARTS, conservative, replan


def together(queues):
    def ask(machine, order, start):
        rule, backfill = STARTS[start]
        machine.order, machine.backfill = order, backfill or order
        (replan if rule is conservative else rule)(machine)

    def rule(machine):
        usual = machine.order, machine.backfill
        try:
            one_after_the_other(machine, queues, ask)
        finally:
            machine.order, machine.backfill = usual

    return rule, ""


def together_by_nodes(queues):
    def ask(machine, order, start):
        machine.order = order
        slow_nodes.STARTS[start](machine, False)
        machine.forget_plans()

    return lambda machine, early: one_after_the_other(machine, queues, ask)


def one_after_the_other(machine, queues, ask):
    """Let the jobs of each queue wait alone, and ask about them."""

    def queue_of(job):
        return next((k for k, (numbers, *_) in enumerate(queues[:-1]) if job.queue in numbers), len(queues) - 1)

    for k, (_, order, start) in enumerate(queues):
        jobs = [job for job in machine.waiting if queue_of(job) == k]
        others = [job for job in machine.waiting if job not in jobs]
        machine.waiting, machine.aside = jobs, others
        try:
            ask(machine, order, start)
        finally:
            machine.waiting, machine.aside = others + machine.waiting, []
