"""Which jobs are in which queue of those that have their own policies, and the numbers by which these are asked."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numba import config

from harness.engine.queue.queues_with_policies import (
    ASKED,
    COUNT,
    HEAD,
    LEARNS,
    PARTS,
    QUEUE_OF,
    ROOM,
    ROW,
    compiled_by_queue,
)
from harness.engine.records.public import PENDING
from harness.errors import HarnessError
from harness.numba_support.addresses import address_of
from harness.policy.own_queues import CONDITIONS, OwnQueue
from harness.policy.scheduler import queue_part
from harness.policy.spec import Choice
from harness.policy.timing import DecisionTiming
from harness.policy_api import compiled_policies
from harness.workload.log import Workload
from harness.workload.names import number_of

Array = np.ndarray[Any, Any]


def base_part(part: str) -> str:
    """Return which part of a scheduler that is, whoever's it is."""
    return part.partition(" of ")[0]


def assign_queues(
    chosen: Mapping[str, Choice], workload: Workload, place: Array, statuses: Any, timing: DecisionTiming
) -> tuple[Mapping[str, Choice], Array | None]:
    """Return the policies that decide, and of each job the number of its queue; None if one queue has them all."""
    queues = chosen["start"].queues
    if not queues:
        return chosen, None
    which = np.full(len(place), len(queues))
    for k in reversed(range(len(queues))):
        which[_is_in(queues[k], workload)[place]] = k
    used = np.unique(which[statuses == PENDING])
    if len(used) > 1:
        if limited := [name for name in ("backfill_depth", "main_interval") if name in timing.periods]:
            raise HarnessError(
                f"{limited[0]}={timing.periods[limited[0]]:g} with queues that have orders of their own: expected "
                "backfill_interval or plan_horizon, which need no common order of all jobs"
            )
        return chosen, which
    everybody = {part: one for part, one in chosen.items() if part == base_part(part)}
    everybody["start"] = replace(chosen["start"], queues=())
    if len(used) and used[0] < len(queues):
        everybody |= {part: chosen[queue_part(part, queues[used[0]])] for part in PARTS}
    return everybody, None


def _is_in(queue: OwnQueue, workload: Workload) -> Array:
    """Tell which jobs of the workload meet the conditions of a queue."""
    found = np.ones(len(workload.jobs), bool)
    for column in CONDITIONS:
        if wanted := getattr(queue, column):
            listed = [
                number_of(workload, column, name, str(queue)) if isinstance(name, str) else name for name in wanted
            ]
            found &= np.isin(workload.jobs[column].to_numpy(), listed)
    return found


class ByQueue(Mapping[str, Choice]):
    """The policies of a run in which queues have their own: an order and a start are those of the queue asked last."""

    def __init__(self, chosen: Mapping[str, Choice], own: Array) -> None:
        self.chosen, self.table = chosen, own.view(np.int64)
        self.queues = chosen["start"].queues

    def __getitem__(self, part: str) -> Choice:
        asked = int(self.table[ASKED])
        if part in PARTS and asked < len(self.queues):
            return self.chosen[queue_part(part, self.queues[asked])]
        found = self.chosen[part]
        return replace(found, queues=()) if part == "start" else found

    def __iter__(self) -> Iterator[str]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)


def build_queue_table(
    chosen: Mapping[str, Choice],
    which: Array,
    bound: Mapping[str, compiled_policies.Kernel],
    vectors: Mapping[str, Array],
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return what the state has in the place of one order and one start policy, and tickets of those not compiled."""
    queues = [*chosen["start"].queues, None]
    first = HEAD + ROW * len(queues)
    parts = [[part if queue is None else queue_part(part, queue) for part in PARTS] for queue in queues]
    base = first + 2 * len(which)
    pieces = [vectors[part] for row in parts for part in row]
    own = np.concatenate([np.zeros(base), *pieces])
    table = own.view(np.int64)
    table[COUNT], table[ASKED] = len(queues), len(queues) - 1
    table[QUEUE_OF], table[ROOM] = first, first + len(which)
    table[first : first + len(which)] = which
    tickets = {part: compiled_policies.ticket() for row in parts for part in row} if config.DISABLE_JIT else {}
    for k, row in enumerate(parts):
        for part, place in zip(row, PARTS.values(), strict=True):
            begin = HEAD + ROW * k + place
            table[begin] = tickets[part] if tickets else address_of(bound[part].function)
            table[begin + 1 : begin + 3] = base, base + len(vectors[part])
            base += len(vectors[part])
            other = place == PARTS["order"] or chosen[part] is not chosen[row[0]]
            table[HEAD + ROW * k + LEARNS] |= (1 << place) * (other and chosen[part].says("learn"))
    stand_in = compiled_by_queue()
    return {**stand_in, **{f"{part}_own": own for part in PARTS}}, tickets
