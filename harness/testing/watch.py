"""Who held which cores when, written down from outside while a run goes on: the engine's own sums are not trusted."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness.engine.state import COMPLETED, RUNNING
from harness.platform.platform import NodeType, Platform
from harness.testing.subject import Chosen, spy


@dataclass
class Stretch:
    """One job on its cores, until it was done or suspended."""

    job: int  # its number, counted from 1
    begin: float
    pieces: list[tuple[int, int]]  # (node, cores)
    end: float = float("nan")


class Watch:
    """Spies around the selection, the rate, which is asked first at every instant, and the start."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.rates: list[tuple[float, float]] = []  # (since, rate)
        self._open: dict[int, Stretch] = {}  # by the job's index

    def around(self, chosen: Chosen) -> Chosen:
        """The chosen policies, watched."""
        spy(chosen, "select", after=self._selected)
        spy(chosen, "rate", after=self._rated)
        spy(chosen, "start", after=self._started)
        return chosen

    def _selected(self, answer: Any, state: Any, job: int, *own: Any) -> None:
        if not answer:
            return
        pieces = []
        piece = state.jobs[job].slices
        while piece >= 0:
            pieces.append((int(state.slices[piece].node), int(state.slices[piece].cores)))
            piece = state.slices[piece].next
        self._open[job] = Stretch(int(state.jobs[job].number), float(state.clock.now), pieces)
        self.stretches.append(self._open[job])

    def _rated(self, answer: Any, state: Any, *own: Any) -> None:
        self.rates.append((float(state.clock.now), float(answer)))
        self._close(state)

    def _started(self, answer: Any, state: Any, *own: Any) -> None:
        self._close(state)

    def _close(self, state: Any) -> None:
        """Whoever is not in service any more gave its cores back when it ended, or is being suspended now."""
        for job in [job for job in self._open if state.jobs[job].status != RUNNING]:
            record = state.jobs[job]
            self._open.pop(job).end = float(record.end if record.status == COMPLETED else state.clock.now)

    def virtual(self, begin: float, end: float) -> float:
        """The integral of the rate."""
        changes = [*self.rates, (float("inf"), 1.0)]
        return sum(
            rate * max(0.0, min(end, until) - max(begin, since)) for (since, rate), (until, _) in pairwise(changes)
        )


def node_types(platform: Platform) -> list[NodeType]:
    """The type of every node, as they are numbered."""
    return [t for t in platform.types for _ in range(t.count)]
