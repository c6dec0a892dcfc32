"""What the slow simulators have in common where jobs are held, and the twins of bundled holds.

A rule is `rule(machine, job) -> time`. It may look at `machine.now`, `running`, `waiting`, and `jobs`, of which each
knows its `start` and `end` and what it has `done`; at `machine.accepts(job)`, whether the machine could run it at all,
and at `machine.nodes_of(job)`, on how many nodes it runs.
"""

import math


class DecisionOver(Exception):  # noqa: N818 - a signal
    """A start has made somebody held who waits."""


class Holding:
    """What a machine does that knows who is held: rules are asked about everybody, all the time."""

    def until(self, job):
        return max((rule(self, job) for rule in self.rules), default=-math.inf)

    def hold_back(self):
        """Take held jobs out of the queue, and their reservations back; return whether there are any."""
        back = [job for job in self.waiting if self.until(job) > self.now]
        self.waiting = [job for job in self.waiting if job not in back]
        self.held += back
        self.give_back(back)
        return bool(back)

    def let_go(self):
        """Let those wait who are free, each asked about when those before it wait already; return who they are.

        They are asked about in order of submission, then of the log.
        """
        free = []
        for job in sorted(self.held, key=lambda job: (job.submit, job.place)):
            if self.until(job) <= self.now:
                self.held.remove(job)
                self.waiting.append(job)
                free.append(job)
        return free


def limited(whose, jobs=math.inf, procs=math.inf, nodes=math.inf, submitted=math.inf):
    """The twin of `limits`."""

    def rule(machine, job):
        mine = getattr(job, whose)
        running = [other for other in machine.running if getattr(other, whose) == mine]
        there = running + [other for other in machine.waiting if getattr(other, whose) == mine]
        over = len(running) >= jobs or sum(map(machine.nodes_of, running)) >= nodes
        over = over or sum(other.procs for other in running) + job.procs > procs
        over = over or (job not in machine.waiting and len(there) >= submitted)
        return math.inf if over and mine >= 0 else machine.now

    return rule


def follows(after):
    """The twin of `dependencies`."""

    def rule(machine, job):
        kinds = {}
        for name, number in vars(job).items():
            if name.startswith("x_preceding"):
                said = getattr(job, name.replace("preceding", "after"), -1)
                kinds.setdefault(number, []).append(after if said < 0 else ("end", "success", "start")[said])
        others = [one for one in machine.jobs if one.place + 1 in kinds and one is not job and machine.accepts(one)]
        think = max(0, job.x_think)
        times = [free_after(one, think, kind) for one in others for kind in kinds[one.place + 1]]
        return max(times, default=-math.inf)

    def free_after(other, think, after):
        if after == "start" and other.start is not None:
            return other.start + think
        if other.end is None or (after == "success" and (other.done < other.work or other.cancel < math.inf)):
            return math.inf
        return other.end + think

    return rule
