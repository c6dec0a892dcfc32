"""Expand a field into its runs: prepare workloads, read platforms, choose policies and identify every run."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from dataclasses import field as dataclass_field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import harness
from harness.engine.resources.request_setup import windows_of
from harness.errors import CannotRunError, HarnessError
from harness.experiment.execution import Task, variation
from harness.experiment.field import AS_CONFIGURED, MAX_RUNS, Field
from harness.experiment.run_identity import identity, versions_of
from harness.experiment.simulation import choose_policies, simulate
from harness.experiment.slurm_simulation import machine_of_policies, nodes_of
from harness.experiment.source_text import SourceText
from harness.platform.machine import Platform, described, plain
from harness.platform.platform_reading import read_platform
from harness.platform.sizing import OF_THE_LOG, of_the_log
from harness.platform.windows import reserved
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.timing import DecisionTiming
from harness.results.ignored_requests import ignored_in_a_field
from harness.slurm.requests import Said, requests_of, said_of
from harness.slurm.shared_machine import machine_of_all, with_requests
from harness.slurm.slurm_scheduler import BEGINS_EMPTY, SlurmScheduler
from harness.workload.catalogue import catalogue
from harness.workload.log import Workload
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare
from harness.workload.signals import Signal
from harness.workload.snapshot import followed_by
from harness.workload.state_file import read_state

if TYPE_CHECKING:
    from harness.results.schedule import Schedule


@dataclass(frozen=True)
class Run:
    """One combination of a field."""

    identity: str
    workload: Workload  # the log itself, from which variations are drawn
    variation: int
    platform: Platform
    seed: int
    scheduler: Chosen
    plugins: tuple[str, ...]
    versions: dict[str, Any]  # of the engine, policies and measures that make it
    timing: DecisionTiming = dataclass_field(default_factory=DecisionTiming)  # when starts are decided
    signal: Signal | None = None  # the external signal that policies read

    @cached_property
    def policies(self) -> dict[str, str]:
        """The policy of each part with its parameters, as tables show it."""
        return self.scheduler.names

    @property
    def preemptive(self) -> bool:
        """Whether the scheduler may preempt jobs."""
        return self.scheduler.preemptive

    @property
    def jobs(self) -> int:
        """The approximate number of jobs that it will simulate."""
        return len(self.workload)

    @property
    def length(self) -> tuple[bool, bool, int]:
        """A key that sorts runs by their expected duration.

        Preemptive policies examine all jobs at every event. A Slurm does so too, and is not compiled.
        """
        return bool(self.scheduler.configured), self.preemptive, self.jobs

    @property
    def replayed(self) -> Workload:
        """The workload that it replays."""
        return variation(self.workload, self.variation) if self.variation else self.workload

    def task(self, keep: "Callable[[Schedule], bytes] | None" = None) -> Task:
        """Return the task for a worker; `keep` returns what is stored of the schedule."""
        asked = self.scheduler, self.seed, self.plugins, self.versions
        return Task(self.variation, self.platform, *asked, keep, self.timing, self.signal)

    def simulate(self, workload: Workload | None = None, **kept: Any) -> "Schedule":
        """Simulate the run here, or another workload in its place; `kept` are arguments of `simulate` such as
        `timeline`.
        """
        replayed = self.replayed if workload is None else workload
        kept |= {"timing": self.timing, "signal": self.signal}
        return simulate(replayed, self.platform, self.scheduler, seed=self.seed, plugins=self.plugins, **kept)


@dataclass(frozen=True)
class Refused:
    """A combination of a field that cannot run."""

    workload: str
    platform: str
    policies: Mapping[str, str]  # by part
    reason: str


@dataclass(frozen=True)
class RunMatrix:
    """All runs of a field, and the workloads, platforms and plugins that they need."""

    field: Field
    runs: tuple[Run, ...]
    refused: tuple[Refused, ...]
    workloads: tuple[Workload, ...]
    platforms: tuple[Platform, ...]
    plugins: tuple[str, ...]

    @property
    def jobs(self) -> int:
        """The number of jobs of all runs."""
        return sum(run.jobs for run in self.runs)

    def provenance(self) -> dict[str, Any]:
        """Return a description of the workloads and platforms and of their origins, for the store."""
        return {
            "workloads": [
                {
                    "name": workload.name,
                    "source": source.source,
                    "digest": workload.digest,
                    "jobs": len(workload),
                    "procs": workload.procs,
                    "users": int(workload.jobs.loc[workload.jobs["user"] >= 0, "user"].nunique()),
                    "preparation": [asdict(step) for step in workload.preparation],
                }
                for workload, source in zip(self.workloads, self.field.workloads, strict=True)
            ],
            "platforms": [described(platform) for platform in self.platforms],
            "parameters": {short: full for run in self.runs for short, full in run.scheduler.in_full.items()},
            "refused": [asdict(one) for one in self.refused],
            "notices": self._notices(),
        }

    def _notices(self) -> list[str]:
        """Return warnings about the results: requests that platforms ignore, and logs of machines of unknown size."""
        replays = {
            (run.workload.digest, run.platform.digest): (run.workload, run.platform)
            for run in self.runs
            if not self.field.slurms  # their machines have what the jobs request
        }
        sizes: dict[str, set[int]] = {}
        for run in self.runs:
            jobs = run.workload.jobs
            if run.workload.procs is None and "logged_wait" in jobs and (jobs["logged_wait"] >= 0).any():
                sizes.setdefault(run.workload.name, set()).add(run.platform.cores)
        return ignored_in_a_field(replays.values()) + [
            f"adequacy is left out: {name} does not state the size of its machine, and the field has platforms of "
            f'{len(found)} sizes: expected its number of processors, as in {{source = "…", procs = 128}}'
            for name, found in sizes.items()
            if len(found) > 1
        ]


class RunMaker:
    """Makes the runs of a field, one at a time. Each workload is prepared once, and each platform read once."""

    def __init__(self, field: Field, plugins: Iterable[str] = ()) -> None:
        self.field, self.plugins = field, tuple(plugins)
        self.workload = cache(self._workload)
        self._slurm = cache(self._slurm_of)
        self._said: dict[int, Said] = {}  # per workload, the requests in a dump of sacct
        self._named = cache(lambda name: self._reserved(read_platform(name, plugins=self.plugins)))
        self._plain = cache(lambda procs: self._reserved(plain(procs)))
        self._bound: dict[tuple[str, int | None, Scheduler], tuple[str, Chosen, dict[str, Any]]] = {}

    def platform(self, name: str, workload: Workload) -> Platform:
        """Return the platform of that name, or the one that the log of a workload names."""
        with self.field.written.locating(name):
            slurm = machine_of_all(self.field.slurms) if self.field.mixed else None
            if name == AS_CONFIGURED:
                own = self.field.slurms[0].platform if slurm is None else machine_of_policies(slurm)
                return replace(own, name=name)
            if workload.procs is None and (name == OF_THE_LOG or of_the_log(name, 1, workload.name) != name):
                raise CannotRunError(
                    f"{workload.name} does not state how many processors its machine had: expected a number, as in "
                    "platforms = [128]"
                )
            if name != OF_THE_LOG:
                found = self._named(of_the_log(name, workload.procs, workload.name))
            else:
                assert workload.procs is not None
                found = self._plain(workload.procs)
            with _as_cannot_run():
                windows_of(found, workload)  # raises if the log has no dates for them
                return found if slurm is None else machine_of_policies(slurm, found)

    def _reserved(self, machine: Platform) -> Platform:
        if not self.field.reservations:
            return machine
        with self.field.written.locating("reservations"):
            return reserved(machine, self.field.reservations)

    def run(self, number: int, variation: int, platform: str, seed: int, scheduler: Scheduler) -> Run:
        """Return the run of one of the field's combinations."""
        workload = self.workload(number)
        machine = self.platform(platform, workload)
        where = platform, workload.procs, scheduler  # these determine the machine
        if where not in self._bound:
            with self.field.written.locating("scheduler"):
                wanted, told = self.field.schedulers[scheduler], self.field.signal is not None
                found = choose_policies(wanted, machine, self.plugins, told=told)
            self._bound[where] = machine.digest, found, versions_of(found, self.plugins)
        digest, chosen, versions = self._bound[where]
        if chosen.configured:
            machine, chosen = self._slurm(number, platform, scheduler)
            digest = machine.digest
        timing, signal = self.field.timing, self.field.signal
        key = identity(workload.digest, variation, digest, seed, versions, timing, signal)
        return Run(key, workload, variation, machine, seed, chosen, self.plugins, versions, timing, signal)

    def _slurm_of(self, number: int, platform: str, scheduler: Scheduler) -> "tuple[Platform, SlurmScheduler]":
        """Return a Slurm that knows the requests of a workload's jobs, and its nodes under the platform's name."""
        found = self.field.schedulers[scheduler]
        assert isinstance(found, SlurmScheduler)
        workload = self.workload(number)
        with self.field.written.locating(found.written_as):
            own = platform == AS_CONFIGURED and not self.field.mixed
            there = self.platform(platform, workload)
            with _as_cannot_run():
                machine = found.platform if own else nodes_of(found, there)
            found = found.of(self._said[number])
            with _as_cannot_run():
                requests_of(workload, found.said, found.cluster)  # raises if they request what the nodes do not have
        return replace(machine, name=there.name), found

    def _workload(self, number: int) -> Workload:
        """Prepare a workload, and give it the name that tables show."""
        source = self.field.workloads[number]
        with self.field.written.locating(source.source):
            workload = self._jobs(number)
            if self.field.mixed:
                workload = with_requests(workload, self._said[number], self.field.slurms[0].cluster)
            known = {short.lower(): short for short in catalogue()}.get(source.source.lower(), workload.name)
            options = ", ".join(f"{name}={value}" for name, value in source.options.items())
            if self.field.resamples:
                harness.resample(workload, 1)  # raises if it cannot be resampled
            return replace(workload, name=source.name or known + (f" ({options})" if options else ""))

    def _jobs(self, number: int) -> Workload:
        """Read and prepare the jobs of a log, of a snapshot, or of a log that follows a snapshot."""
        source = self.field.workloads[number]
        if source.state:
            if self.field.slurms:
                raise HarnessError(f"{source.state}: {BEGINS_EMPTY}: expected no state")
            there = read_state(source.state).workload()
            if not source.source:
                if source.options:
                    given = ", ".join(source.options)
                    raise HarnessError(f"{source.state}: a state with {given}: expected a source too")
                return there if there.procs else replace(there, procs=source.procs)
        log = read_workload(source.source, plugins=self.plugins)
        if self.field.slurms:
            self._said[number] = said_of(log)
        jobs = prepare(log if log.procs else replace(log, procs=source.procs), **source.options)
        return followed_by(there, jobs) if source.state else jobs


@contextmanager
def _as_cannot_run() -> Iterator[None]:
    """Raise an error within the block as `CannotRunError`, so that the other combinations of the field still run."""
    try:
        yield
    except HarnessError as error:
        raise CannotRunError(f"{error}") from error


def make_run_matrix(field: Field, plugins: Iterable[str] = ()) -> RunMatrix:
    """Prepare what a field needs, and list its runs and the combinations that cannot run.

    Raises an error if the field has a mistake or nothing of it can run.
    """
    if field.size > MAX_RUNS:
        problem = f"stands for {field.size:,} runs: expected at most {MAX_RUNS:,}"
        raise field.written.refusal(problem, "resamples" if field.resamples else "")
    made = RunMaker(field, plugins)
    workloads = [made.workload(number) for number in range(len(field.workloads))]
    named = zip((workload.name for workload in workloads), field.workloads, strict=True)
    _refuse_equal_names(field.written, "workload", named)
    machines = [
        machine
        for name in field.platforms
        for workload in workloads
        if (machine := _machine(made, name, workload)) is not None
    ]
    platforms = {machine.digest: machine for machine in machines}
    _refuse_equal_names(field.written, "platform", [(machine.name, machine.digest) for machine in machines])
    runs: dict[str, Run] = {}
    refused: dict[Any, Refused] = {}
    for combination in field.combinations():
        number, _, platform, _, scheduler = combination
        if (number, platform, scheduler) in refused:
            continue
        try:
            run = made.run(*combination)
        except CannotRunError as error:
            machine, names = _machine(made, platform, workloads[number]), field.schedulers[scheduler].names
            refused[number, platform, scheduler] = Refused(
                workloads[number].name, machine.name if machine else platform, names, f"{error}"
            )
            continue
        runs.setdefault(run.identity, run)
    if not runs:
        raise field.written.refusal(next(iter(refused.values())).reason, "scheduler")
    return RunMatrix(
        field, tuple(runs.values()), tuple(refused.values()), tuple(workloads), tuple(platforms.values()), made.plugins
    )


def _machine(made: RunMaker, name: str, workload: Workload) -> Platform | None:
    """Return a platform for a workload, or None if there is none for it."""
    try:
        return made.platform(name, workload)
    except CannotRunError:
        return None


def _refuse_equal_names(written: SourceText, what: str, named: Iterable[tuple[str, Any]]) -> None:
    """Refuse two workloads or platforms with the same name: tables distinguish them by it."""
    known: dict[str, Any] = {}
    for name, content in named:
        if known.setdefault(name, content) != content:
            hint = ', as in {source = "…", name = "…"}' if what == "workload" else ""
            raise written.refusal(f"two {what}s are called {name!r}: expected different names{hint}", f"{what}s")
