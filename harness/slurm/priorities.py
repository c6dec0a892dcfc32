"""Who comes first: Slurm's priority/basic, and the factors of priority/multifactor as its documentation gives them."""

import math

from harness.slurm.cluster import Cluster
from harness.slurm.fair_tree import Shares
from harness.slurm.node_resources import Running
from harness.slurm.requests import Request


class Priorities:
    """Gives every waiting job its priority, at submission and then every `PriorityCalcPeriod`."""

    def __init__(self, cluster: Cluster, shares: Shares) -> None:
        self.cluster = cluster
        self.shares = shares
        self.factor = max(1, *(one.factor for one in cluster.partitions.values()))
        self.submitted = 0
        self.decayed = 0.0  # when usage was last let decay [s]
        if shares.used:
            shares.rank()

    def at_submission(self, request: Request) -> None:
        """Set the priority of a job that has just been submitted."""
        self.submitted += 1
        request.priority = -float(self.submitted)
        if self.cluster.weights.any:
            self.recompute([request], request.eligible)

    def recompute(self, waiting: list[Request], now: float) -> None:
        """Set the priorities of jobs anew; first come, first served needs none."""
        weights = self.cluster.weights
        if not weights.any:
            return
        for request in waiting:
            total = weights.size * self._size(request) + weights.partition * request.partition.factor / self.factor
            if self.cluster.accounts:
                total += weights.age * min(1.0, (now - request.eligible) / weights.oldest if weights.oldest else 1.0)
                total += weights.fairshare * self.shares.factor(request.account, request.user)
                total += weights.qos * self.shares.qos_factor(request.qos)
            request.priority = float(int(total))

    def decay(self, waiting: list[Request], running: list[Running], now: float) -> None:
        """Let usage decay, count what was used since, and set the priorities of all who wait anew."""
        self.shares.decay(self._left(now - self.decayed))
        self.decayed = now
        for one in running:
            self.count_usage(one, now)
        self.shares.rank()
        self.recompute(waiting, now)

    def ended(self, one: Running, now: float) -> None:
        """Count the last of what a job has used, which Slurm forgets where limits are not in force."""
        if self.cluster.enforced:
            self.count_usage(one, now)

    def count_usage(self, one: Running, now: float) -> None:
        """Count what a job has used since that was done last, less what decays in as long."""
        span = now - one.counted
        used = sum(one.places.values()) * span * self._left(span)
        self.shares.use(one.request.account, one.request.user, used * self.shares.counted(one.request.qos))
        one.counted = now

    def _left(self, span: float) -> float:
        """Return how much of what was used counts after so long."""
        half_life = self.cluster.weights.half_life
        return 0.5 ** (span / half_life) if 0 < half_life < math.inf else 1.0

    def _size(self, request: Request) -> float:
        """Return the size factor: of nodes asked for and of CPUs, the mean."""
        weights, nodes, cpus = self.cluster.weights, len(self.cluster.nodes), self.cluster.cpus
        if weights.relative:
            share = request.cpus / (request.limit / 60.0) / cpus
            return 1.0 - share if weights.small_first else share
        if weights.small_first:
            return ((nodes - request.nodes) / nodes + (cpus - request.cpus) / cpus) / 2.0
        return (request.nodes / nodes + request.cpus / cpus) / 2.0

    @staticmethod
    def order(request: Request) -> tuple[float, float, int]:
        """Return what the queue is sorted by: the partition's tier, the priority, the number."""
        return -request.partition.tier, -request.priority, request.job
