"""What is written down on request while the loop runs: the timeline, and the places of jobs.

The loop fills small buffers and goes back to Python before one is full; see `simulate.drive`.
"""

from typing import Any

from harness.engine.decorators import once, seldom
from harness.engine.power.draw import total_power
from harness.engine.records.public import ASLEEP, AWAKE, DOWN


@once
def full(state: Any) -> bool:
    """Return whether the next instant might not find room to be recorded in."""
    samples = len(state.samples)
    placements = len(state.placements)
    return (samples > 0 and samples == state.sums.samples) or (
        placements > 0 and placements - state.sums.placements < state.clock.cores
    )


@once
def record_sample(state: Any) -> None:
    """Write down how the system goes on from this instant. Changes samples, sums."""
    if len(state.samples) > 0:
        write_sample(state)


@seldom
def write_sample(state: Any) -> None:
    """Write a row of the timeline. Changes samples, sums."""
    clock = state.clock
    sample = state.samples[state.sums.samples]
    state.sums.samples += 1
    sample.time = clock.now
    sample.queued = clock.queued
    sample.running = clock.running
    sample.up = clock.cores - clock.down
    sample.busy = sample.up - clock.booting - clock.free
    sample.free = clock.free
    sample.rate = clock.rate
    sample.work = state.sums.backlog + state.sums.due_speed - clock.virtual * clock.speed
    sample.power = total_power(state)
    sample.asleep = 0
    sample.switching = 0
    sample.down = 0
    for node in range(len(state.nodes)):
        status = state.nodes[node].status
        if status == ASLEEP:
            sample.asleep += 1
        elif status == DOWN:
            sample.down += 1
        elif status != AWAKE:
            sample.switching += 1


@seldom
def record_placement(state: Any, job: int, node: int, cores: int, begun: float) -> None:
    """Write down that the job was on this node since `begun`. Changes placements, sums.

    A stay of no length is left out: so there are never more at one instant than the machine has cores.
    """
    if not begun < state.clock.now:
        return
    placement = state.placements[state.sums.placements]
    state.sums.placements += 1
    placement.job = job
    placement.node = node
    placement.cores = cores
    placement.begin = begun
    placement.end = state.clock.now
