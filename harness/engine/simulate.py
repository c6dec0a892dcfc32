"""The simulation of one run: its loop is called in slices, so that it can be interrupted and its progress is seen."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from harness.engine import loop
from harness.engine.power.unknown_power import warn_of_unknown_power
from harness.engine.prepare_run import prepare_run
from harness.engine.prepared_run import Outcome
from harness.engine.run_state import State
from harness.engine.setup import Extras
from harness.numba_support.lazy_symbols import asked
from harness.platform.machine import Platform
from harness.policy.spec import Choice
from harness.present.captured_output import output_to_stderr
from harness.workload.log import Workload

#: How long a slice should take [s]: the longest wait for Ctrl-C and between two signs of progress.
SLICE_SECONDS = 0.2

#: The most instants of a slice.
MOST_INSTANTS = 1 << 40

Progress = Callable[[int, int], None]  # (jobs that left the system, all jobs)


def simulate(
    workload: Workload,
    platform: Platform,
    chosen: Mapping[str, Choice],
    *,
    seed: int = 0,
    plain: bool = False,
    progress: Progress | None = None,
    extras: Extras | None = None,
) -> Outcome:
    """Simulate a run from the first arrival to the last departure."""
    extras = extras or Extras()
    prepared = prepare_run(workload, platform, chosen, seed=seed, plain=plain, extras=extras)
    run = loop.compiled_loop(prepared.features)
    began, computing = time.perf_counter() - asked.seconds, time.thread_time() - asked.computing
    try:
        with prepared.explaining_errors():
            drive(run, prepared.state, progress, extras)
        warn_of_unknown_power(prepared.state, prepared.chosen)
    finally:
        prepared.disconnect()
    seconds = time.perf_counter() - asked.seconds - began
    return prepared.outcome(seconds, time.thread_time() - asked.computing - computing)


def drive(run: Any, state: State, progress: Progress | None, extras: Extras) -> None:
    """Call the loop in slices of about `SLICE_SECONDS`, between which Ctrl-C is noticed and progress reported."""
    budget = 1  # a policy in plain Python may take its time at every instant, where no signal reaches it
    while True:
        began = time.perf_counter()
        with output_to_stderr():
            ending = run(state, budget)
        hand_over(state, extras)
        if ending == loop.OVER:
            return
        if progress is not None:
            still_there = int(state.clock.queued + state.clock.running)
            progress(int(state.clock.next) - still_there, len(state.jobs))
        elapsed = time.perf_counter() - began
        budget = max(1, min(4 * budget, int(budget * SLICE_SECONDS / max(elapsed, 1e-9)), MOST_INSTANTS))


def hand_over(state: Any, extras: Extras) -> None:
    """Pass the records that the loop wrote to the recorders, and empty the buffers."""
    if extras.on_samples is not None:
        extras.on_samples(state.samples[: state.sums.samples])
    if extras.on_placements is not None:
        extras.on_placements(state.placements[: state.sums.placements])
    state.sums.samples = state.sums.placements = 0
