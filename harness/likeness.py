"""Which policy does the real scheduler most resemble? Every combination replayed, the nearest to the log first."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.plugins import plugins as load_plugins
from harness.policy import Scheduler
from harness.run import simulate

if TYPE_CHECKING:
    from harness.platform.platform import Platform
    from harness.workload.log import Workload


@dataclass(frozen=True)
class Likeness:
    """How far the replay under one combination of policies is from the log."""

    order: str
    start: str
    P: float  # [s]
    E: float  # [s]
    median: float  # of |V − v| [s]
    p95: float  # of |V − v| [s]
    different: int  # jobs whose waits differ
    seconds: float  # simulation alone


def identify(
    workload: "Workload",
    platform: "Platform | int | None" = None,
    *,
    orders: Sequence[str] = (),
    starts: Sequence[str] = (),
    scheduler: Scheduler | None = None,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Likeness]:
    """Replay `workload` under every order with every start policy; those nearest to its log by P come first.

    Without `orders` it takes all there are; without `starts` all but the preemptive ones, each with its default
    parameters, and `easy(backfill_order=spf)`. The other policies are those of `scheduler`. The replays run on
    `workers` threads, as many as there are processors by default; `progress(done, all)` is called after each.
    """
    from harness.results.adequacy import adequacy, logged

    logged(workload)  # what makes the comparison undefined is said before anything is simulated
    policies = load_plugins(*map(str, plugins)).policies
    orders = orders or list(policies["order_queue"])
    served = [name for name, policy in policies["start_jobs"].items() if not getattr(policy, "preemptive", False)]
    starts = starts or [*served, "easy(backfill_order=spf)"]
    rest = scheduler or Scheduler(energy="none")
    combinations = [replace(rest, order=order, start=start) for start in starts for order in orders]
    if len(set(combinations)) < len(combinations):
        raise HarnessError("a combination of order and start is named twice: expected each once")
    stop = Event()

    def watched(done: int, all_: int) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    def replayed(scheduler: Scheduler) -> Likeness:
        schedule = simulate(workload, platform, scheduler, seed=seed, plugins=plugins, progress=watched)
        off = adequacy(schedule)
        different = int(off.growth[-1].different)
        seconds = schedule.outcome.seconds
        return Likeness(scheduler.order, scheduler.start, off.P, off.E, off.median, off.p95, different, seconds)

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(replayed, scheduler) for scheduler in combinations]
        try:
            found = []
            for future in as_completed(futures):
                found.append(future.result())
                if progress is not None:
                    progress(len(found), len(futures))
        except BaseException:  # Ctrl-C, or a replay that failed: the others need not go on
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return sorted(found, key=lambda likeness: (likeness.P, likeness.start, likeness.order))
