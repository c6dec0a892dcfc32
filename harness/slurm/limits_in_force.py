"""Who may begin now by the limits of QOS and associations, given who runs.

Slurm asks the QOS of the partition first, then that of the job, then the user and the accounts above: the first that
limits something says how far. Of what all jobs of an account may have together each account above says its own. Who is
over a limit waits, keeps nobody from passing, and is promised nothing.
"""

from collections import defaultdict

from harness.slurm.cluster import Cluster
from harness.slurm.fair_tree import ROOT, Shares
from harness.slurm.limits import CPU_MINUTES, JOBS, MINUTES, SUBMITTED, Limits
from harness.slurm.node_resources import Running, memory_on
from harness.slurm.node_selection import Places
from harness.slurm.requests import Request

#: Those who share a limit, such as ("user of qos", "high", "ann"); one job alone is nobody.
Whose = tuple[str, ...]

_NOBODY: Whose = ()

#: Sums of minutes are not exact.
_ALIKE = 1e-6

#: A limit: of whom, of what, how much; and whether that is the least a job must ask for.
Bound = tuple[Whose, str, float, bool]


class Allowance:
    """What everybody has now, and may have."""

    def __init__(self, cluster: Cluster, shares: Shares) -> None:
        self.cluster, self.shares, self.limited = cluster, shares, shares.limits
        self.in_force = cluster.enforced and self.limited.any
        self.used: dict[Whose, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._bounds: dict[tuple[str, str, str, str], list[Bound]] = {}

    def ever(self, request: Request) -> bool:
        """Return whether the job may begin at all, if it were alone."""
        return not self.in_force or self._fits(request, None, None)

    def allows(self, request: Request, now: float, places: Places | None = None) -> bool:
        """Return whether the job may begin now, on these places or on as much as it asks for."""
        return not self.in_force or self._fits(request, now, places)

    def admit(self, request: Request) -> bool:
        """Return whether the job may be submitted beside those that wait and run; it counts among them if it may."""
        bounds = self.bounds(request) if self.in_force else []
        admitted = all(self.used[whose][thing] < most for whose, thing, most, _ in bounds if thing == SUBMITTED)
        if admitted:
            self._count_submitted(request, 1.0)
        return admitted

    def leave(self, request: Request) -> None:
        """Count a submitted job no more: it has ended, or has given up waiting."""
        self._count_submitted(request, -1.0)

    def _fits(self, request: Request, now: float | None, places: Places | None) -> bool:
        """Return whether a job keeps to all limits beside those who run; without a time, beside nobody."""
        asked = self._asked(request, places)
        for whose, thing, number, least in self.bounds(request):
            if thing == SUBMITTED:
                continue
            count = asked.get(thing, 0.0)
            if least and count < number:
                return False
            if not least and count + (0.0 if now is None else self._has(whose, thing, now)) > number + _ALIKE:
                return False
        return True

    def take(self, running: Running) -> None:
        """Count a job that begins."""
        self._change(running, 1.0)

    def give_back(self, running: Running) -> None:
        """Count a job no more that has ended."""
        self._change(running, -1.0)
        self.leave(running.request)

    def bounds(self, request: Request) -> list[Bound]:
        """Return the limits on a job, one of each kind."""
        key = request.partition.qos, request.qos, request.account, request.user
        if key not in self._bounds:
            self._bounds[key] = self._found(*key)
        return self._bounds[key]

    def _found(self, of_partition: str, qos: str, account: str, user: str) -> list[Bound]:
        found: list[Bound] = []
        said: set[tuple[str, str]] = set()  # (kind of limit, thing): the first that says it counts
        for name in dict.fromkeys(filter(None, (of_partition, qos))):
            limits = self.limited.qos.get(name, Limits())
            of_whom = {"together": ("qos", name), "of_user": ("user of qos", name, user)}
            of_whom |= {"of_account": ("account of qos", name, account), "of_job": _NOBODY, "least": _NOBODY}
            for kind, whose in of_whom.items():
                found += self._new(kind, whose, getattr(limits, kind), said)
        own = "user", account, user
        above: list[tuple[Whose, Limits]] = [(own, self.limited.users.get((account, user), Limits()))]
        above += [(("account", one), self.limited.accounts.get(one, Limits())) for one in self._line(account)]
        by_qos = set(said)
        for whose, limits in above:
            found += self._new("together", whose, limits.together, set(by_qos))
            found += self._new("of_user", own, limits.of_user, said)
            found += self._new("of_job", _NOBODY, limits.of_job, said)
        return found

    @staticmethod
    def _new(kind: str, whose: Whose, most: dict[str, float], said: set[tuple[str, str]]) -> list[Bound]:
        """Return the limits of a kind that nobody before has said. Changes `said`."""
        new = [(whose, thing, number, kind == "least") for thing, number in most.items() if (kind, thing) not in said]
        said.update((kind, thing) for thing in most)
        return new

    def _line(self, account: str) -> list[str]:
        """Return an account and those above it."""
        found = [account]
        while found[-1] != ROOT and len(found) <= len(self.shares.parent):
            found.append(self.shares.parent.get(found[-1], ROOT))
        return found

    def _has(self, whose: Whose, thing: str, now: float) -> float:
        """Return how much of a thing all who share a limit have now."""
        if not whose:
            return 0.0
        used = self.used[whose]
        return used[thing] - now / 60.0 * used["cpu"] if thing == CPU_MINUTES else used[thing]

    def _asked(self, request: Request, places: Places | None) -> dict[str, float]:
        """Return what a job has on its places; what it asks for where there are none."""
        if places is None:
            nodes, cpus = request.nodes, request.cpus
            memory = request.memory * (nodes if request.memory_per == "n" else cpus)
        else:
            nodes, cpus = len(places), sum(places.values())
            memory = sum(memory_on(request, self.cluster.nodes[node], count) for node, count in places.items())
        found = {JOBS: 1.0, "cpu": float(cpus), "node": float(nodes), "mem": memory / 1024.0}
        found |= {MINUTES: request.limit / 60.0, CPU_MINUTES: cpus * request.limit / 60.0}
        found |= {f"gres/{name.lower()}": float(count * nodes) for name, count in request.gres.items()}
        return found | {f"license/{name.lower()}": float(count) for name, count in request.licences.items()}

    def _change(self, running: Running, sign: float) -> None:
        if not self.in_force:
            return
        request = running.request
        asked = self._asked(request, running.places)
        asked[CPU_MINUTES] = asked["cpu"] * running.end / 60.0  # less the present time, see `_has`
        for whose in self._everybody(request):
            for thing, count in asked.items():
                self.used[whose][thing] += sign * count

    def _count_submitted(self, request: Request, sign: float) -> None:
        for whose in self._everybody(request) if self.in_force else []:
            self.used[whose][SUBMITTED] += sign

    def _everybody(self, request: Request) -> list[Whose]:
        """Return all whose limits a job may come under."""
        account, user = request.account, request.user
        found: list[Whose] = [("user", account, user), *(("account", one) for one in self._line(account))]
        for name in dict.fromkeys(filter(None, (request.partition.qos, request.qos))):
            found += [("qos", name), ("user of qos", name, user), ("account of qos", name, account)]
        return found
