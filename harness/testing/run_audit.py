"""Record allocations independently during a run, because the engine's own sums are not trusted."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness.engine.queue.waiting_jobs import running, waiting
from harness.engine.records.public import COMPLETED, KILLED, RUNNING
from harness.platform.machine import NodeType, Platform
from harness.testing.comparing import close
from harness.testing.subject import CheckError, Chosen, add_recorders


@dataclass
class Allocation:
    """One job on its cores, until it ended or was suspended."""

    job: int  # its number, counted from 1
    begin: float
    pieces: list[tuple[int, int]]  # (node, cores)
    restarts: int  # the number of its restarts before
    end: float = float("nan")


class AllocationRecorder:
    """Records calls of the selection, of the rate, which comes first at every instant, and of the start policy."""

    def __init__(self) -> None:
        self.stretches: list[Allocation] = []
        self.rates: list[tuple[float, float]] = []  # (since, rate)
        self._open: dict[int, Allocation] = {}  # by the job's index

    def around(self, chosen: Chosen) -> Chosen:
        """Return the chosen policies with the recorders."""
        add_recorders(chosen, "select", after=self._selected)
        add_recorders(chosen, "rate", after=self._rated)
        add_recorders(chosen, "start", after=self._started)
        return chosen

    def _selected(self, answer: Any, state: Any, job: int, *own: Any) -> None:
        if not answer or state.clock.asking:  # it declined, or a plan tries a start
            return
        self._begin(state, job)

    def _begin(self, state: Any, job: int) -> None:
        pieces = []
        piece = state.jobs[job].slices
        while piece >= 0:
            pieces.append((int(state.slices[piece].node), int(state.slices[piece].cores)))
            piece = state.slices[piece].next
        record = state.jobs[job]
        self._open[job] = Allocation(int(record.number), float(state.clock.now), pieces, int(record.restarts))
        self.stretches.append(self._open[job])

    def _rated(self, answer: Any, state: Any, *own: Any) -> None:
        self.rates.append((float(state.clock.now), float(answer)))
        self._close(state)
        self._compare(state)
        self._compare_left(state)

    def _compare(self, state: Any) -> None:
        """Refuse counts of free cores that disagree with the jobs in service."""
        held = Counter(dict.fromkeys(range(len(state.nodes)), 0))
        for stretch in self._open.values():
            held.update(dict(stretch.pieces))
        for number, node in enumerate(state.nodes):
            if node.free + held[number] != node.cores:
                raise CheckError(
                    f"node {number} of {node.cores} cores serves {held[number]}, and {node.free} are recorded as free"
                )
        if state.clock.free != state.clock.cores - sum(held.values()):
            raise CheckError(
                f"{sum(held.values())} of {state.clock.cores} processors are held, and {state.clock.free} free"
            )

    def _compare_left(self, state: Any) -> None:
        """Refuse remaining estimates of suspended jobs that disagree with their service."""
        for index in map(int, waiting(state)):
            job = state.jobs[index]
            if job.preemptions == 0 or job.boot > 0:  # it never ran, or ran while nodes were waking
                continue
            done = 0.0
            for stretch in self.stretches:
                if stretch.job == job.number and stretch.restarts == job.restarts:
                    speed = min(state.nodes[node].speed for node, _ in stretch.pieces)
                    done += float(speed) * self.virtual(stretch.begin, stretch.end)
            left = max(0.0, float(job.estimate) + float(job.overhead) - done)
            if not close(left, float(job.left)):
                raise CheckError(
                    f"at {state.clock.now:g} s job {job.number}, which was suspended, has {job.left:g} s left by its "
                    f"record, and {left:g} s by its service"
                )

    def _started(self, answer: Any, state: Any, *own: Any) -> None:
        self._close(state)
        for job in map(int, running(state)):
            if job not in self._open:  # it was suspended in place, so the selection is not called
                self._begin(state, job)

    def _close(self, state: Any) -> None:
        """Record the end of jobs that are no longer in service: they ended, or are being suspended now."""
        for job in [job for job in self._open if state.jobs[job].status != RUNNING]:
            record = state.jobs[job]
            self._open.pop(job).end = float(record.end if record.status in (COMPLETED, KILLED) else state.clock.now)

    def virtual(self, begin: float, end: float) -> float:
        """Return the integral of the rate."""
        changes = [*self.rates, (float("inf"), 1.0)]
        return sum(
            rate * max(0.0, min(end, until) - max(begin, since)) for (since, rate), (until, _) in pairwise(changes)
        )


def node_types(platform: Platform) -> list[NodeType]:
    """Return the type of every node, by its number."""
    return [t for t in platform.types for _ in range(t.count)]
