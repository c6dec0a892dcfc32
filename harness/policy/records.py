"""The records that policies read, for type checkers: made by `python -m harness.engine.records.docs`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Memory = npt.NDArray[np.float64]  # a policy's own floats for the run, zeros at first
Columns = npt.NDArray[np.float64]  # further columns of the workload: of a job, or a row for each submitted job
Dice = npt.NDArray[np.uint64]  # a policy's own random generator, for `harness.uniform`
Indices = npt.NDArray[np.int64]

Record = TypeVar("Record")


class Records(Generic[Record]):
    """Many records: one by its index, or one field of all of them as an array."""

    def __getitem__(self, index: int) -> Record:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Record]:
        raise NotImplementedError

    def __getattr__(self, field: str) -> npt.NDArray[Any]:
        raise AttributeError(field)


@dataclass(frozen=True)
class Job:
    """`job` of orders, `state.jobs[i]` of the others."""

    procs: int  # processors it needs, all at once
    left: float  # what is left of the estimate [s at reference speed]; of a running job, when last looked at
    status: int  # PENDING … KILLED
    nodes: int  # it last ran on
    score: float  # what the order gave it last, for a later time if scores only fall; lowest first
    submit: float  # [s]
    estimate: float  # what it is believed to take in all: requested, or predicted [s at reference speed]
    planned: float  # virtual time at which its estimate ends, once placed
    start: float  # when it first began [s]
    end: float  # when it left [s]
    service: float  # time in service so far [s]
    speed: float  # of its slowest processor, relative to the reference
    energy: float  # its share of the nodes it used [J]
    ready: float  # when the last of its nodes is awake [s]; in service from then on
    slices: int  # first of its slices, −1 none
    boot: float  # time it held processors and waited for sleeping ones [s]
    lost: float  # time in service that an interruption made worthless [s]
    memory: float  # requested memory per processor [KB], 0 when unknown
    partition: int  # where it must run, −1 anywhere
    user: int  # who submitted it, −1 unknown
    group: int  # of that user, −1 unknown
    queue: int  # it was submitted to, −1 unknown
    number: int  # in the log
    preemptions: int  # times it was suspended
    restarts: int  # times it was interrupted and had to begin again
    index: int  # its place in `state.jobs`
    corrections: int  # times it outlived what it was predicted to take
    overhead: float  # work that suspensions added [s at reference speed]
    requested: float  # requested time [s at reference speed]
    predicted: float  # what it was first believed to take [s at reference speed]

    @property
    def reserved(self) -> float:
        """Return the virtual time promised to it, −1 none: room for the start policy."""
        raise NotImplementedError

    @reserved.setter
    def reserved(self, value: float) -> None: ...


@dataclass(frozen=True)
class Node:
    """`node` of energies, `state.nodes[i]` of the others."""

    free: int  # cores nobody holds
    cores: int  # it has
    status: int  # AWAKE … DOWN
    depths: int  # how many sleep states it has
    vacant: float  # since when none of its cores is held [s]
    until: float  # when its present transition is over [s]
    speed: float  # per core, relative to the reference processor
    busy: int  # cores in service: cores − free, between decisions
    watts: float  # drawn now [W]
    first_draw: int  # where in `known_watts` stands what it draws with no busy core, −1 if it is not kept
    settled: float  # time up to which the sums stand [s]: share and the energies
    share: float  # ∫ watts / busy dt: what one busy core was charged so far [J]
    energy: float  # drawn so far [J]
    idle_energy: float  # of which awake with no busy core [J]
    idle: float  # [W] with no busy core, at the present rate
    peak: float  # [W] with all cores busy, at the present rate
    sleep_energy: float  # drawn asleep so far [J]
    transition_energy: float  # drawn falling asleep and waking so far [J]
    asleep: float  # time it slept so far [s]
    resting: float  # [W] while it is not awake: asleep, on the way there or back, or down
    wanted: int  # 1: it wakes as soon as it has fallen asleep
    depth: int  # which of its sleep states it is in, or was last; 0 is the lightest
    first_nap: int  # where its sleep states begin in `naps`
    pace_count: int  # how many performance states it has …
    first_pace: int  # … and where they begin in `paces`
    type: int  # which of the platform's types of nodes it is of
    partition: int  # it belongs to; −1 if the machine is in one piece
    memory: float  # [KB], infinite when unknown
    curve: npt.NDArray[np.float64]  # [W] at 0, 10, …, 100 % of its cores busy, at full rate


@dataclass(frozen=True)
class Clock:
    """`clock` of orders and energies, `state.clock` of the others."""

    now: float  # [s]
    virtual: float  # ∫ rate dt
    rate: float  # 1 = full speed
    since: float  # real time of the last rate switch …
    origin: float  # … and the virtual time then
    free: int  # processors nobody holds
    cores: int  # all processors
    down: int  # of which on nodes that are down
    booting: int  # of which held by jobs that wait for a sleeping node
    queued: int  # jobs waiting
    running: int  # jobs in service, or about to be when their nodes are awake
    held: int  # jobs that are submitted and held: they do not wait
    upset: int  # 2 when plans moved: nodes failed, woke late or at another rate; 1 when jobs only left
    arrived: int  # jobs that came at this instant …
    newcomer: int  # … and who joined the queue last
    completed: int  # jobs that finished at this instant
    departed: int  # jobs that finished, were cancelled or lost a reservation to a hold at this instant
    corrected: int  # above 0: beliefs corrected since the start policy was asked, or starts wait for a pass
    suspended: int  # jobs suspended by this decision
    started: int  # jobs started by this decision, or rejected
    preemptive: int  # 1 when the start policy may suspend jobs
    constrained: int  # above 0 when memory, partitions … or the selection may forbid free processors
    whole_seconds: int  # 1 when runtimes are rounded to whole seconds
    asks: int  # 1 when the selection says what it would decline …
    asking: int  # … and WONDERING while it is asked just that, TRYING while it places a job to be taken back
    next: int  # jobs that have been submitted: the next one to arrive
    decision_due: int  # 1 at an instant at which something happens that may matter to a policy
    transition: float  # when the next node changes its status [s]
    start_timer: float  # when the start policy wants to be called again [s]
    rate_timer: float  # the same of the rate policy
    sleep_timer: float  # the same of the sleep policy
    rate_from: float  # until when the rate policy wants to be left alone [s]
    sleep_from: float  # the same of the sleep policy
    level: float  # the rate policy wants to be called when the work has fallen to it [s], −1 never …
    work_level_reached: int  # … and 1 at the instant when it has
    profile_first: int  # window of the profile that is in use
    profile_last: int  # where that window ends
    demand: float  # estimated work of the waiting jobs [s]
    promised: float  # Σ planned · speed over the jobs in service, and …
    speed: float  # … Σ speed: together they give the estimated work in service
    decide_per_event: int  # 1 if a decision follows each event, submissions before completions
    began: float  # first instant of the run [s]
    epoch: float  # seconds since 1970 at time 0, by the log; not a number if it does not say
    zone: float  # how far clocks on the wall are ahead of UTC now, where the log is from [s]
    signal: float  # told from outside: carbon [g/kWh], or a price [€/MWh]; not a number without one
    signal_until: float  # when that changes next [s], infinity if never
    instants: int  # at which somebody was asked, this one too
    hook: int  # whose policy is being asked
    fault: int  # what it did wrong …
    culprit: int  # … to which job …
    node: int  # … on which node …
    value: float  # … and the number it gave


@dataclass(frozen=True)
class Share:
    """`user`, `group` and `queue` of the job in question, `users[i]`, `everybody`: what is counted."""

    running: int  # jobs that hold processors
    running_procs: int  # … how many
    running_nodes: int  # … and nodes, counted once for each job
    queued: int  # jobs that wait in the queue
    queued_procs: int  # … for so many processors
    submitted: int  # jobs so far
    users: int  # who submitted them …
    groups: int  # … and in how many groups
    usage: float  # processor-seconds so far, each of which counts half after a half-life [s]
    balance: float  # what `usage` is worked out from


@dataclass(frozen=True)
class Slice:
    """`state.slices[i]`: some cores of one node held by one job."""

    node: int  # on which node
    cores: int  # how many of its cores
    share: float  # `share` of the node when the job entered service [J]
    next: int  # place of the job's next slice, −1 none


@dataclass(frozen=True)
class Pace:
    """`state.paces[i]`: what a node draws at a rate."""

    rate: float  # 1 = full speed; the paces of a node rise
    idle: float  # [W] with no busy core
    peak: float  # [W] with all cores busy


@dataclass(frozen=True)
class Nap:
    """`state.naps[i]`: one way for a node to sleep."""

    watts: float  # [W] while asleep
    falling: float  # [W] while falling asleep
    waking: float  # [W] while waking
    down: float  # how long it takes to fall asleep [s]
    up: float  # how long it takes to wake [s]


@dataclass(frozen=True)
class State:
    """What is going on, for the functions of `harness list verbs`: jobs and nodes by index."""

    jobs: Records[Job]
    nodes: Records[Node]
    slices: Records[Slice]
    clock: Clock
    paces: Records[Pace]
    naps: Records[Nap]
