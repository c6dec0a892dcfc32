"""Slurm's two loops over a workload: the main one soon after events, and the backfill every so many seconds.

The main loop goes through the queue and stops, partition by partition, at the first job that finds no room; nodes of
such a partition are nobody's any more. The backfill plans everybody from time limits, whole nodes and in slots, and
starts who can start at once. When it looks is chance: a seed draws it.
"""

import heapq
import itertools
import math
import random
from collections import Counter, deque
from dataclasses import dataclass

from harness.slurm.cluster import Cluster
from harness.slurm.fair_tree import Shares
from harness.slurm.limits_in_force import Allowance
from harness.slurm.node_resources import Holdings, Running, Wish, usable, wish
from harness.slurm.node_selection import Places
from harness.slurm.priorities import Priorities
from harness.slurm.requests import Request
from harness.slurm.slots import Slots
from harness.slurm.slurm_reservations import KeptNodes

#: What happens: by the order in which it is seen to when it happens at once.
ENDED, SUBMITTED, CANCELLED, RECOMPUTED, PINGED, LOOKED, LOOKED_ALL, BACKFILLED = range(8)

#: Threads of the controller look at the clock once a second, and it counts whole ones [s].
_SECOND = 1.0

#: After the end of a job its nodes are somebody else's so much later, or less [s].
_CLEANED = 0.0, 0.2

#: The main loop looks at its work so long after something happened, or less long [s].
_LOOKED = 0.1, 1.2

#: The thread of the backfill sleeps by so much too long, or less [s].
_OVERSLEPT = 0.1

#: The time of the workload begins at some second of the clock's day.
_DAY = 86400


@dataclass
class Decided:
    """What became of a job."""

    start: float = math.nan
    end: float = math.nan
    places: Places | None = None


class Loops:
    """One run."""

    def __init__(self, cluster: Cluster, requests: list[Request], shares: Shares, seed: int, late: float = 0.0) -> None:
        self.late = late  # what launching a job and noticing its end take besides its work [s]
        self.cluster, self.requests, self.shares = cluster, requests, shares
        self.holdings = Holdings(cluster)
        self.kept = KeptNodes()
        self.allowance = Allowance(cluster, shares)
        self.priorities = Priorities(cluster, shares)
        self.usable = {id(one): usable(one, cluster) for one in requests}
        self.wishes = {id(one): wish(one) for one in requests}
        self.waiting: list[Request] = []
        self.decided = {id(one): Decided() for one in requests}
        self.chance = random.Random(seed)
        self.numbers = itertools.count()
        self.events: list[tuple[float, int, int, Request | Running | None]] = []
        self.now = 0.0
        self.last_pass = self.last_look = -math.inf
        self.pass_due = self.look_due = False  # an event for the next one is on its way
        self.origin = self.chance.randrange(_DAY)
        self.sleepy = self.chance.random() * _OVERSLEPT
        self.updated = -math.inf  # when anything last happened that a backfill goes again for [s]
        self.recorded: deque[float] = deque()  # when jobs ended whose records are still there [s]
        self.empty = Holdings(cluster)
        self.foreseen: dict[tuple[Wish, int], tuple[float, Places] | None] = {}  # as long as nobody starts or ends

    def run(self) -> list[Decided]:
        """Let everything happen; return what became of the jobs, in their order."""
        for one in self.requests:
            self._expect(one.eligible, SUBMITTED, one)
            if one.cancel < math.inf:
                self._expect(max(one.cancel, one.eligible), CANCELLED, one)
        first = min((one.eligible for one in self.requests), default=0.0)
        self.priorities.decayed = first
        parameters = self.cluster.parameters
        self._expect(first + self.chance.random() * parameters.main_interval, LOOKED_ALL, None)
        self._expect(first + self.chance.random() * self.cluster.weights.period, RECOMPUTED, None)
        self.last_pass = first - parameters.interval
        if parameters.pinging:  # what nodes answer is news too, the only ones of the idle machine before
            called = first - self.chance.random() * parameters.pinging
            often = parameters.interval > parameters.pinging  # whenever a backfill may go again, there are news
            self.last_pass = first - self.chance.random() * parameters.interval if often else called
            self._expect(called + parameters.pinging, PINGED, None)
        while self.events:
            self.now, kind, _, subject = heapq.heappop(self.events)
            self._happen(kind, subject)
        return [self.decided[id(one)] for one in self.requests]

    def _expect(self, time: float, kind: int, subject: Request | Running | None) -> None:
        heapq.heappush(self.events, (time, kind, next(self.numbers), subject))

    def _happen(self, kind: int, subject: Request | Running | None) -> None:
        """See to one event."""
        if isinstance(subject, Running):
            self.priorities.ended(subject, self.now)
            self.holdings.give_back(subject)
            self.recorded.append(self.now)
            self.allowance.give_back(subject)
            self._plan_look()
        elif isinstance(subject, Request):
            if kind == SUBMITTED:
                self._submit(subject)
            elif any(subject is one for one in self.waiting):
                self._leave(subject)
                self.allowance.leave(subject)
        elif kind == BACKFILLED:
            self.pass_due = False
            self._backfill()
            self.last_pass = self.now
        elif kind == LOOKED:
            self.look_due = False
            self._look(self.cluster.parameters.depth)
        elif self._goes_on():
            self._expect(self.now + self._regularly(kind), kind, None)
        if kind in (ENDED, SUBMITTED, CANCELLED, PINGED):
            self.updated = self.now
        self._plan_pass()

    def _regularly(self, kind: int) -> float:
        """See to what happens again and again; return after how long it does so next [s]."""
        if kind == PINGED:
            return self.cluster.parameters.pinging
        if kind == RECOMPUTED:
            self.priorities.decay(self.waiting, self.holdings.running, self.now)
            return max(_SECOND, self.cluster.weights.period)
        self._forget()
        self._look(math.inf)
        return self.cluster.parameters.main_interval

    @property
    def second(self) -> float:
        """The time as Slurm has it: whole seconds."""
        return self.now // _SECOND * _SECOND

    def _goes_on(self) -> bool:
        """Return whether anything is still to come."""
        return bool(self.waiting or self.holdings.running) or any(isinstance(one[3], Request) for one in self.events)

    def _plan_look(self) -> None:
        """Expect the main loop at the controller's next look at the clock, if it is long enough after its last one."""
        if self.waiting and not self.look_due:
            due = max(self.now + self.chance.uniform(*_LOOKED), self.last_look + self.cluster.parameters.delay)
            self._expect(due, LOOKED, None)
            self.look_due = True

    def _forget(self) -> None:
        """Throw away the records of jobs that ended long ago: a change like any other."""
        kept = self.cluster.parameters.kept
        while kept > 0 and self.recorded and self.recorded[0] <= self.now - kept:
            self.recorded.popleft()
            self.updated = self.now

    def _plan_pass(self) -> None:
        """Expect the next backfill if something has happened since the second of the last one.

        Its thread looks whether that is so an interval after the last one, and then every second. An empty queue is
        passed over too: what comes afterwards waits for the next one. That somebody waits is no reason to go again.
        """
        news = self.updated >= self.last_pass // _SECOND * _SECOND
        if self.cluster.parameters.backfilling and news and not self.pass_due:
            first = self.last_pass + self.cluster.parameters.interval + self.sleepy
            late = max(0, math.ceil((self.now - first) / _SECOND)) * _SECOND
            self._expect(first + late, BACKFILLED, None)
            self.pass_due = True

    # ------------------------------------------------------------ submissions and priorities

    def _submit(self, one: Request) -> None:
        """Queue a job; it starts at once if nobody before it wants the same nodes."""
        if not self._possible(one) or not self.allowance.admit(one):
            return
        self.shares.know(one.account, one.user)
        self.priorities.at_submission(one)
        self.waiting.append(one)
        self._plan_look()

    def _may(self, one: Request) -> bool:
        """Return whether licences are there and limits allow the job to begin now; who may not is passed over."""
        return self.holdings.licensed(one) and self.allowance.allows(one, self.now)

    def _leave(self, subject: Request) -> None:
        """Take a job out of the queue."""
        self.waiting = [one for one in self.waiting if one is not subject]

    def _possible(self, one: Request) -> bool:
        """Return whether the job could run on the empty machine."""
        return (
            self.allowance.ever(one)
            and self.empty.licensed(one)
            and self.empty.place(one, self.usable[id(one)]) is not None
        )

    def _queue(self) -> list[Request]:
        return sorted(self.waiting, key=self.priorities.order)

    # ------------------------------------------------------------ the main loop

    def _look(self, depth: float) -> None:
        """Start jobs in order, in each partition up to the first that finds no room.

        One that would find none on the nodes left to it, were they all empty, keeps nobody back: it asks for more than
        the nodes that no other partition is kept from.
        """
        self.last_look = self.now
        allowed = self.cluster.everywhere
        failed: set[str] = set()
        for tested, one in enumerate(self._queue()):
            if tested > depth:  # it notices one too late
                return
            if one.partition.name in failed:
                continue
            if not self._may(one):
                if not self.holdings.licensed(one):
                    self.updated = self.now  # it waits for licences, which is noted again each time
                continue
            there = self._open(one, self.second) & allowed
            places = self.holdings.place(one, there)
            if places is not None:
                if self.allowance.allows(one, self.now, places):
                    self._start(one, places)
            elif self.empty.place(one, there) is None:
                self.updated = self.now  # noted again each time, as with licences
            elif self.now - one.eligible >= self.cluster.parameters.least_age:
                failed.add(one.partition.name)
                allowed &= ~one.partition.nodes

    def _open(self, one: Request, begin: float) -> int:
        """Return the nodes that the job could use from then on, as far as nobody keeps them."""
        return self.usable[id(one)] & ~self.kept.within(begin, begin + one.limit)

    def _start(self, one: Request, places: Places) -> None:
        self._leave(one)
        self.foreseen.clear()
        start = max(one.eligible, self.second)
        running = Running(one, places, start, start + one.limit, self.now)
        self.holdings.take(running)
        self.allowance.take(running)
        self.decided[id(one)] = Decided(start, start + one.work, places)
        self.updated = self.now
        self._expect(self.now + one.work + self.late + self.chance.uniform(*_CLEANED), ENDED, running)

    # ------------------------------------------------------------ the backfill

    def _backfill(self) -> None:
        """Plan the queue in order, and start who can start at once."""
        parameters = self.cluster.parameters
        self.foreseen.clear()
        slots = Slots(
            self.second,
            parameters.window,
            parameters.resolution,
            self.cluster.everywhere,
            self.origin % parameters.resolution,
            parameters.most_slots or parameters.most_tested,
        )
        tested = started = 0
        of_user: Counter[str] = Counter()
        of_partition: Counter[str] = Counter()
        for one in self._queue():
            if tested >= parameters.most_tested:
                return
            of_user[one.user] += 1
            of_partition[one.partition.name] += 1
            if 0 < parameters.most_of_user < of_user[one.user]:
                continue
            if 0 < parameters.most_of_partition < of_partition[one.partition.name]:
                continue
            if not self._may(one):
                continue
            tested += 1
            started += self._plan(one, slots)
            if 0 < parameters.most_started <= started or slots.full:
                return

    def _foresee(self, one: Request, free: int, begin: float) -> tuple[float, Places] | None:
        """Return when from `begin` on the job could start on these nodes, and where.

        Jobs that ask for the same get one answer. That a start is put off to `begin` is noted as a change of the job.
        """
        key = self.wishes[id(one)], free
        if key not in self.foreseen:
            self.foreseen[key] = self.holdings.foresee(
                one, free, self.second, self.cluster.parameters.linear, self.origin
            )
        found = self.foreseen[key]
        if found is None or found[0] >= begin:
            return found
        self.updated = self.now
        return begin, found[1]

    def _plan(self, one: Request, slots: Slots) -> bool:
        """Start a job if that delays no promise, or else promise it nodes; return whether it starts."""
        parameters, now = self.cluster.parameters, self.second
        begin = now
        while begin <= slots.end:
            free, later = self._free(one, slots, begin)
            found = self._foresee(one, free, begin)
            if found is not None:
                start, places = found
                if start <= now:
                    if not self.allowance.allows(one, self.now, places):
                        return False
                    self._start(one, places)
                    return True
                if self.now - one.eligible < parameters.least_age:
                    return False
                if not later or start <= later:
                    end = slots.floor(start + one.limit)
                    if start > now + parameters.window or slots.fills_up():
                        return False
                    if self._promised(slots, slots.floor(start), end, places):
                        return False
                    later = start if start > begin else start + parameters.resolution
            if not later:
                return False
            begin = later
        return False

    def _free(self, one: Request, slots: Slots, begin: float) -> tuple[int, float]:
        """Return which nodes are nobody's if the job starts at `begin`, and when to look next; 0: no more."""
        there = self._open(one, begin)
        free, later = slots.free(begin, begin + one.limit, there)
        if there != self.usable[id(one)]:
            later = min(later or math.inf, slots.ceiling(self.kept.next_end(begin)) + _SECOND)
        return free, later

    def _promised(self, slots: Slots, begin: float, end: float, places: Places) -> bool:
        """Promise nodes unless that clashes with a promise; idle ones are marked as planned, a change of theirs."""
        nodes = sum(1 << node for node in places)
        if slots.clash(begin, end, nodes):
            return False
        slots.promise(begin, end, nodes)
        if not all(self.holdings.jobs[node] for node in places):
            self.updated = self.now
        return True
