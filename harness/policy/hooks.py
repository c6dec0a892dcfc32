"""The decision points: what a plugin may answer. Read this first when you write one.

A plugin is a Python file. It implements any of the functions below, marked with `@harness.hookimpl`, and returns
the policies it offers. The compiled event loop binds the chosen ones once per run and calls them at full speed, so
a policy is written in the part of Python that numba compiles: numbers, arrays, loops. A policy that needs more
still works, called back in Python a few microseconds a time.

The records that policies read (`job`, `node`, `clock`, and the arrays of `state`) are listed by `harness list records`.
They are for reading: who writes into one, but for `job.reserved`, which is a start policy's own, or uses an index that
is not there, stops the run. The functions that a policy may call are listed by `harness list verbs`, and
`help(harness.start)` and the like say more; jobs and nodes are given to them by index. For type checkers and editors
the arguments are `harness.Job`, `harness.Node`, `harness.Clock`, `harness.State`, `harness.Memory` and `harness.Dice`.

A policy's function takes the hook's arguments, then, if it names them, `memory` (so many floats of its own for the
run, `harness.Order(…, memory=4)`, or, in plain Python, what `fresh` makes at its beginning), `per_job`, `per_user`,
`per_group`, `per_queue` and `per_node` (records of its own, one for each: with
`memory=harness.per_user(("last", "previous"))` there is `per_user[job.user].last`; several in a tuple), `user`, `group`
and `queue` (what the engine counts of those that the job in question belongs to, `harness.Share`: jobs and processors
that run and wait, and usage, which decays), `users`, `groups` and `queues` (the same of all, by number) and `everybody`
(of all jobs), `dice` (its own random generator, for `harness.uniform(dice)`) and `columns` (further columns of the
workload, `columns=("x_priority",)`: of an order the numbers of the job, of the others `columns[job, k]`), then
parameters with defaults, which users set as in `wfp3(power=2)`. The default gives the kind: a number, a whole number,
yes or no, or a tuple of numbers, of which users make tables of any length, as a list or a file; the function gets an
array.
`choices={"at": ("any", "departure")}` makes a parameter a word (the function gets its place),
`least={"reservations": 1}` bounds one, `rising=(("low", "high"),)` says that one must not lie above another,
`cap="watts"` names the one above which the platform's power is reported,
`order="backfill_order"` lets a start policy take another order (for `harness.ranked`), `needs=("peak", "sleep")` says
what a platform must know of its nodes; `needs=("signal",)` that there must be one.

A helper function of a plugin is marked `@harness.jit`, or the policies that call it run as plain Python.
`compiled=False` says that a policy is meant to.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, overload

import pluggy

if TYPE_CHECKING:
    from harness.platform.machine import Platform
    from harness.policy.kinds import Energy, Hold, Order, Policy, Predict, Rate, Select, Sleep, Start
    from harness.results.measures import Measure
    from harness.workload.log import Log

    T = TypeVar("T")
    Answer = Sequence[Policy] | Sequence[Measure] | Log | Platform | None
    Implementation = TypeVar("Implementation", bound=Callable[..., Answer])

    class _Marks(Protocol[T]):
        def __call__(self, function: Callable[..., T], /) -> Callable[..., T]: ...

    class _HookImpl(Protocol):
        """Marks what implements a hook: one of its name, or of the name that `specname` gives."""

        @overload
        def __call__(self, function: Implementation, /) -> Implementation: ...
        @overload
        def __call__(self, *, tryfirst: bool = ..., trylast: bool = ...) -> _Marks[Answer]: ...
        @overload
        def __call__(self, *, specname: Literal["order_queue"]) -> _Marks[Sequence[Order]]: ...
        @overload
        def __call__(self, *, specname: Literal["start_jobs"]) -> _Marks[Sequence[Start]]: ...
        @overload
        def __call__(self, *, specname: Literal["select_resources"]) -> _Marks[Sequence[Select]]: ...
        @overload
        def __call__(self, *, specname: Literal["set_rate"]) -> _Marks[Sequence[Rate]]: ...
        @overload
        def __call__(self, *, specname: Literal["set_sleep"]) -> _Marks[Sequence[Sleep]]: ...
        @overload
        def __call__(self, *, specname: Literal["account_energy"]) -> _Marks[Sequence[Energy]]: ...
        @overload
        def __call__(self, *, specname: Literal["predict_runtime"]) -> _Marks[Sequence[Predict]]: ...
        @overload
        def __call__(self, *, specname: Literal["hold_jobs"]) -> _Marks[Sequence[Hold]]: ...
        @overload
        def __call__(self, *, specname: Literal["score_schedule"]) -> _Marks[Sequence[Measure]]: ...
        @overload
        def __call__(
            self, *, specname: Literal["read_workload"], tryfirst: bool = ..., trylast: bool = ...
        ) -> _Marks[Log | None]: ...
        @overload
        def __call__(
            self, *, specname: Literal["read_platform"], tryfirst: bool = ..., trylast: bool = ...
        ) -> _Marks[Platform | None]: ...


hookspec = pluggy.HookspecMarker("harness")
hookimpl: "_HookImpl" = pluggy.HookimplMarker("harness")


@hookspec
def order_queue() -> "list[Order]":  # type: ignore[empty-body]
    """Who is next?

    Each `harness.Order(name, score)` has a function `score(job, clock, **parameters) -> float`; the lowest score
    is first, ties go by submission, then by place in the log. It is called when a job arrives (or is suspended).
    With `varies=True` it is called for every waiting job at every instant, because the score changes with time. With
    `falls=True` besides, which says that it only falls, and with nothing but `clock.now`, it is called for few of them,
    and about times to come that may never be.

    `job` is one record of `state.jobs`: `job.procs`, `job.estimate`, `job.left` (what remains of the estimate),
    `job.submit`, `job.user`, …; `clock.now` is the time in seconds. The true runtime is not there.

    With `learn=function`, `function(state, **parameters)` is called once at every instant, after completions, events
    and cancellations, before the jobs of that instant are scored. It may look, and keep what it learns in `memory`.

    With `order="of"` the parameter `of`, whose default names an order, is the score that this other order gives to
    the job.

    A score that is not a number stops the run. An infinite one is a score like others: −∞ is before and ∞ behind every
    number, and equal ones go by submission.
    """


@hookspec
def start_jobs() -> "list[Start]":  # type: ignore[empty-body]
    """Who starts now?

    Each `harness.Start(name, start)` has a function `start(state, **parameters)`, called once at every instant
    after everything that happens then has been applied. It looks at `harness.waiting(state)`, the waiting jobs in
    queue order, asks `harness.fits(state, job)`, and calls `harness.start(state, job)` for whoever starts; that
    returns False if the selection declines. The queue does not move while it is being looked at: started jobs stay
    in it, with another `status`, until the function returns.

    For planning there are `harness.running` (which changes as jobs start or are suspended), `harness.reservation`, and
    the profile (`harness.earliest_fit`, `harness.reserve`, `harness.release`, …), which begins with
    `harness.plan_from_running` or `harness.forget_past`. Plans are in virtual time, `state.clock.virtual`. The profile
    counts processors: one that plans with it gives `bound=…` the function that takes its place where memory or
    partitions bind, and plans with `harness.promise` and its kin, which name processors. With `preemptive=True` it may
    also `harness.suspend(state, job)`, or `harness.requeue` it so that it begins anew; with `rejects=True` it may
    `harness.reject` a job that waits.

    Where jobs have a choice of their width, `molding=…` takes its place: it says how wide with
    `harness.start(state, job, procs)`, between `harness.narrowest` and `harness.widest`. Where nodes may sleep,
    `waking=…` does, which asks `harness.boot_time` and `harness.longest_boot`.

    Starting a job that does not fit, or does not wait, stops the run.
    """


@hookspec
def select_resources() -> "list[Select]":  # type: ignore[empty-body]
    """On which nodes?

    Each `harness.Prefer(name, merit)` has a function `merit(node, job, **parameters) -> float`: the processors of the
    nodes with the highest are taken first, of equal ones in their order. `node` and `job` are records; an argument
    `procs` is how many processors the node would give the job.

    Each `harness.Select(name, select)` takes them itself: it has a function `select(state, job, **parameters) -> bool`,
    called when `job` (an index) is started. It calls `harness.take(state, job, node, procs)` until the job has its
    processors, and returns True; or returns False to decline, and what it took is given back. One that declines
    although there are processors enough says when with `fits=…`, which plans ask. `harness.room(state, job, node)`
    says how many processors of a node the job may have, its memory and partition respected;
    `harness.next_free(state, after)` walks the nodes that have a free core, `harness.unlike(state)` lists one of all
    that are alike.

    Taking more than there is room for, or ending with another number than the job needs, stops the run.
    """


@hookspec
def set_rate() -> "list[Rate]":  # type: ignore[empty-body]
    """How fast?

    Each `harness.Rate(name, rate)` has a function `rate(state, **parameters) -> float`: the service rate of all
    nodes from now on, 1 at full speed. It is called first at every instant, and again at a time of its own if it
    asks with `harness.call_again(state, time)`, or when the work has fallen to a level, `harness.call_at_work`.
    `harness.work_left(state)` is the work in the system by its estimates, `harness.power_at(state, node, rate)` what a
    node would draw.

    A policy with `constant=True` is only asked at the first instant. A rate that is not above 0 stops the run.
    """


@hookspec
def set_sleep() -> "list[Sleep]":  # type: ignore[empty-body]
    """Which idle nodes sleep, which wake?

    Each `harness.Sleep(name, sleep)` has a function `sleep(state, **parameters)`, called last at every instant,
    and again at a time of its own if it asks with `harness.call_again(state, time)`; with `harness.call_not_before` it
    is left alone until then. It calls `harness.put_to_sleep(state, node, depth)` for nodes that are awake and hold no
    job (`node.status`, `node.free`, `node.vacant` since when), into one of their `node.depths` sleep states, and
    `harness.wake(state, node)`; `harness.longest_vacant(state)` is the node that has been idle longest. Or it leaves
    that to the engine with `harness.sleep_when_idle(state, idle, depth)`.

    A sleeping node can be allocated: it wakes, and the job begins when its last node is awake. Putting a node to sleep
    that cannot stops the run. That nodes have merely fallen asleep is no reason to ask anybody, this policy included:
    let one that is falling asleep wake when that is decided, not when it sleeps.
    """


@hookspec
def account_energy() -> "list[Energy]":  # type: ignore[empty-body]
    """How many watts does a node draw?

    Each `harness.Energy(name, watts)` has a function `watts(node, clock, **parameters) -> float`, called whenever
    the node's busy cores, its status or the rate change; the loop integrates. `node.busy` of `node.cores` cores are in
    service, `node.idle` and `node.peak` are its watts with none and all of them busy at the present rate,
    `harness.drawn(node, busy)` those of its load curve; a node whose `node.status` is not `harness.AWAKE` draws
    `node.resting`, if the policy says so.

    A node's power is shared by its busy cores; what it draws with none busy is idle energy, sleep energy, or the
    energy of a transition.
    """


@hookspec
def predict_runtime() -> "list[Predict]":  # type: ignore[empty-body]
    """How long will it take?

    Each `harness.Predict(name, predict, learn=…, correct=…)` has a function `predict(job, user, clock, **parameters)
    -> float`, called when a job is submitted, before it is put in order: what it will probably take [s at reference
    speed], at most the request, unless `capped=False`. All policies then plan with `job.estimate`, what is believed
    now, and `job.left`; `job.requested` remains the request. `user` is a record of the policy's own for the job's user,
    with the fields that it declared: `memory=harness.per_user(("last", "previous"))`.

    `learn(job, user, clock, **parameters)` is called when a job completes; `job.service` is how long it took then.
    `correct(job, user, clock, **parameters) -> float` is called when a running job outlives `job.estimate`: how long
    it takes in all, more than that; `job.predicted` is what was believed first, `job.corrections` how often that was
    too little before. Without it the request is believed from then on. Such a moment is an event: everyone decides.

    With `clairvoyant=True`, `job.service` is what the job will take already when `predict` is called. With
    `constant=True` the request is believed, and nobody is ever asked. A prediction that is no time, or a correction
    that is no more than what had been believed, stops the run.
    """


@hookspec
def hold_jobs() -> "list[Hold]":  # type: ignore[empty-body]
    """May it be considered now, and if not, until when?

    Each `harness.Hold(name, hold)` has a function `hold(state, job, **parameters) -> float`, called for a job (an
    index) that has been submitted, and waits or is held. The present time or an earlier one says that the job may be
    considered; a later one, not before then: it is asked again at that time, which is an event of its own; infinity,
    not as things are: it is asked again when a job has ended, or left in another way.

    A held job is in the system but not in `harness.waiting`: no policy sees it there, nobody waits behind it, and it is
    promised nothing. Released, it joins the queue where the order puts it. Several holds may be in use at once; a job
    is released when none of them holds it, and the first that does is asked again. A waiting job is asked about again
    before every decision, and after every start, which may have used up what it needs: `again=()` says that a job once
    let go is let go for good, `again=("time",)` or `("starts",)` that only this can change it. `freed_by=("ends",
    "starts")` says that the start of another job may release one that is held without a time.

    What is not a number stops the run. A job that is held when nothing is left to happen never begins.
    """


@hookspec(firstresult=True)
def read_workload(source: str, lenient: bool) -> "Log | None":
    """Read a workload, or return None to leave it to others.

    `source` is what the user wrote: a path, a name, or a call like `lublin(jobs=1000)`. Called from Python, once.
    """


@hookspec(firstresult=True)
def read_platform(source: str) -> "Platform | None":
    """Read a platform, or return None to leave it to others.

    `source` is what the user wrote after `--platform`; the name of a bundled platform has become its path. Build a
    `harness.Platform` of `harness.NodeType`s. Called from Python, once.
    """


@hookspec
def score_schedule() -> "list[Measure]":  # type: ignore[empty-body]
    """Offer extra measures of a schedule, each a `harness.Measure` with its unit, formula and direction.

    Called from Python after a run; they appear in every table beside the built-in ones.
    """
