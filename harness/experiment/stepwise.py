"""A run step by step: your own code decides about starts, between two steps of the event loop."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.engine import loop
from harness.engine.decorators import expect_done
from harness.engine.events.event_source import STEPS, TIMED
from harness.engine.faults import STARTING
from harness.engine.prepare_run import prepare_run
from harness.engine.prepared_run import PreparedRun
from harness.engine.queue.waiting_jobs import running, waiting
from harness.engine.records.public import WAITING
from harness.engine.resources.nodes import fits
from harness.engine.simulate import MOST_INSTANTS, SLICE_SECONDS, hand_over
from harness.engine.verbs import start
from harness.errors import HarnessError
from harness.experiment.simulation import RunInputs, run_inputs
from harness.policy.kinds import Start
from harness.policy.own_queues import refuse_queues
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.spec import Choice
from harness.policy.timing import DecisionTiming
from harness.policy_api.readonly_views import Viewer, set_explainer
from harness.results.schedule import Schedule

if TYPE_CHECKING:
    from harness.experiment.simulation import Machine
    from harness.workload.log import Log, Workload


def start_nothing(state: Any) -> None:
    """Start no job: the code that steps through the run does."""


_BY_HAND = Choice.plain(Start("by-hand", start_nothing))


class Moment:
    """A moment at which starts are to be decided: jobs wait, and something has happened.

    It ends when the next moment is requested.
    """

    def __init__(self, run: "Steps", ready: PreparedRun, state: Any) -> None:
        self._run = run  # keeps the run alive while a moment of it is in use
        self._ready = ready
        self._over = False
        set_explainer(state, self._told)
        self.state = state  #: the state that start policies get, for verbs such as `harness.reservation(…)`

    @property
    def now(self) -> float:
        """The time [s]."""
        return float(self._ready.view.clock.now)

    @property
    def free(self) -> int:
        """The number of free processors."""
        return int(self._ready.view.clock.free)

    @property
    def waiting(self) -> list[Any]:
        """The waiting jobs in queue order, records as policies read them: `job.procs`, `job.estimate`, `job.submit`."""
        jobs = self.state.jobs
        return [job for job in (jobs[int(k)] for k in waiting(self._ready.state)) if job.status == WAITING]

    @property
    def running(self) -> list[Any]:
        """The running jobs, by their estimated end."""
        jobs = self.state.jobs
        return [jobs[int(k)] for k in running(self._ready.state)]

    def fits(self, job: Any) -> bool:
        """Return whether a waiting job, given as a record or an index, could start now."""
        self._expect_to_decide()
        return bool(fits(self.state, _index(job)))

    def start(self, job: Any) -> bool:
        """Start a waiting job now; return False if the selection declines. Refuses a job that does not wait or does not
        fit.
        """
        self._expect_to_decide()
        return bool(start(self.state, _index(job)))

    def over(self) -> None:
        """Accept no more decisions."""
        self._over = True

    def _expect_to_decide(self) -> None:
        """Raise an error if the moment has ended."""
        if self._over:
            raise HarnessError("the run is over: expected decisions before its last moment ends")

    def _told(self, verb: str, error: Exception) -> Exception:
        """Return the error of a wrong decision in one sentence; another decision may follow it."""
        clock = self._ready.view.clock
        refused = clock.hook == STARTING  # before it changed anything
        try:
            with self._ready.explaining_errors():
                raise error
        except HarnessError as sentence:
            return sentence
        except Exception:
            return HarnessError(f"harness.{verb}: {type(error).__name__}: {error}; see `harness list verbs`")
        finally:
            if refused:
                clock.fault = 0

    def __repr__(self) -> str:
        return f"<Moment {self.now:g} s: {len(self.waiting):,} jobs wait, {self.free:,} processors are free>"


def _index(job: Any) -> int:
    """Return the index of a job, which may be given as its record."""
    given = getattr(job, "index", job)
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not -1 << 63 <= given < 1 << 63:
        raise HarnessError(f"the job {job!r:.50}: expected one of moment.waiting, or its index")
    return int(given)


class Steps:
    """A run in steps: an iterator over its moments, and the schedule at the end."""

    def __init__(self, what: RunInputs) -> None:
        self._given = what
        self._ready = prepare_run(
            what.workload, what.machine, what.chosen, seed=what.seed, extras=what.extras, features=TIMED | STEPS
        )
        self._seconds = 0.0
        self._over = False
        self._moments = self._through()

    def __iter__(self) -> Iterator[Moment]:
        return self._moments

    def _through(self) -> Iterator[Moment]:
        ready = self._ready
        moment = Moment(self, ready, Viewer(("reserved",))(ready.state))
        run, budget = loop.compiled_loop(ready.features), 1
        try:
            while not self._over:
                began = time.perf_counter()
                with ready.explaining_errors():
                    end = run(ready.state, budget)
                hand_over(ready.state, self._given.extras)
                elapsed = time.perf_counter() - began
                self._seconds += elapsed
                self._over = end == loop.OVER
                if end == loop.DUE:
                    yield moment
                    with ready.explaining_errors():
                        expect_done(ready.state, STARTING)
                budget = max(1, min(4 * budget, int(budget * SLICE_SECONDS / max(elapsed, 1e-9)), MOST_INSTANTS))
        finally:
            moment.over()
            ready.disconnect()

    @property
    def schedule(self) -> Schedule:
        """The schedule, when the run is over."""
        if not self._over:
            raise HarnessError("the run is not over: expected its schedule to be read after its last moment")
        return self._given.schedule(self._ready.outcome(self._seconds))


def steps(
    workload: "Workload | Log | str | Path",
    platform: "Machine | None" = None,
    scheduler: Scheduler | Chosen | None = None,
    *,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
    timing: DecisionTiming | None = None,
    timeline: bool = False,
) -> Steps:
    """Replay `workload` step by step: `for moment in harness.steps(…)` yields every moment at which jobs wait.

    Your code decides: `for job in moment.waiting: if moment.fits(job): moment.start(job)`. The policies of `scheduler`
    decide everything else; its start policy is not used. See `harness.simulate` for the arguments. If no job is started
    although nothing else will happen, the run stops with an error. Afterwards `steps.schedule` is the schedule.
    """
    what = run_inputs(workload, platform, scheduler, seed=seed, plugins=plugins, timing=timing, timeline=timeline)
    if what.timing.periods:
        raise HarnessError(f"timing={what.timing!r}: expected no scheduling interval: steps decide at any moment")
    if not what.chosen["hold"].policy.constant:
        raise HarnessError(f"hold={str(what.chosen['hold'])!r}: expected no hold policy: steps do not support holds")
    refuse_queues(what.chosen["start"])
    chosen = replace(what.chosen, choices={**what.chosen.choices, "start": _BY_HAND})
    return Steps(replace(what, chosen=chosen))
