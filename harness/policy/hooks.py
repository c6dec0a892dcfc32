"""The hooks: the decisions that a plugin may implement. Read this first when you write one.

A plugin is a Python file. It implements any of the functions below, marked with `@harness.hookimpl`, and returns its
policies. The compiled event loop binds the chosen policies once per run and calls them at full speed. So a policy is
written in the part of Python that numba compiles: numbers, arrays, loops. Other policies work too, but each call back
to Python takes a few microseconds.

Policies read records: `job`, `node`, `clock`, and the arrays of `state`. `harness list records` lists them. They are
read-only, except `job.reserved`, which belongs to the start policy. Writing to another field, or using an index that
does not exist, stops the run. `harness list verbs` lists the functions that a policy may call, and
`help(harness.start)` explains one of them. They take jobs and nodes by index. For type checkers and editors the
arguments are `harness.Job`, `harness.Node`, `harness.Clock`, `harness.State`, `harness.Memory` and `harness.Dice`.

The function of a policy takes the arguments of the hook. It may then name any of these:

- `memory`: an array of floats of its own for the run, `harness.Order(…, memory=4)`; in plain Python, the object that
  `fresh` makes at the beginning of the run.
- `per_job`, `per_user`, `per_group`, `per_queue`, `per_node`: records of its own, one for each key. With
  `memory=harness.per_user(("last", "previous"))` there is `per_user[job.user].last`. Give several in a tuple.
- `user`, `group`, `queue`: the engine's counts for the user, group or queue of the job, `harness.Share`: running and
  waiting jobs and processors, and usage, which decays. `users`, `groups`, `queues` have these counts for all, by
  number, and `everybody` for all jobs.
- `dice`: a random generator of its own, for `harness.uniform(dice)`.
- `columns`: further columns of the workload, declared with `columns=("x_priority",)`. An order gets the numbers of the
  job, other policies `columns[job, k]`.

Parameters with defaults follow. Users set them as in `wfp3(power=2)`. The default determines the kind: a number, a
whole number, a truth value, or a tuple of numbers. For a tuple users give a table of any length, as a list or a file,
and the function gets an array. Further declarations:

- `choices={"at": ("any", "departure")}`: the parameter is a word; the function gets its position.
- `least={"reservations": 1}`: the minimum of a parameter; `most` is the maximum.
- `rising=(("low", "high"),)`: the first parameter must not exceed the second.
- `cap="watts"`: the parameter is a power cap; the run reports power above it.
- `order="backfill_order"`: the parameter names another order for a start policy, for `harness.ranked`.
- `needs=("peak", "sleep")`: data about nodes that the platform must have; `needs=("signal",)`: there must be a signal.
- `reads=("job.procs", "clock.now")`: the state that it reads. The engine leaves out work whose result no policy reads.

Mark helper functions of a plugin with `@harness.jit`; otherwise the policies that call them run as plain Python.
`compiled=False` declares that a policy is meant to run as plain Python.
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
        """Marks a function that implements a hook: the hook of its name, or of `specname`."""

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
    """Which job is next?

    Each `harness.Order(name, score)` has a function `score(job, clock, **parameters) -> float`. The lowest score is
    first; ties are broken by submission, then by place in the log. The function is called when a job arrives or is
    suspended. With `varies=True` it is called for every waiting job at every instant, because the score changes with
    time. With `falls=True` in addition, the score may only fall, and only because of `clock.now`. The function is then
    called for few jobs, also with later times that may never occur.

    `job` is one record of `state.jobs`: `job.procs`, `job.estimate`, `job.left` (what remains of the estimate),
    `job.submit`, `job.user`, …; `clock.now` is the time in seconds. The true runtime is not available.

    With `learn=function`, `function(state, **parameters)` is called once at every instant, after completions, events
    and cancellations, and before the jobs of that instant are scored. It reads the state, and keeps data in `memory`.

    With `order="of"` the parameter `of`, whose default names an order, is the score that this other order gives to the
    job.

    A score that is not a number stops the run. Infinite scores are allowed: −∞ is before and ∞ behind every number, and
    equal ones are ordered by submission.
    """


@hookspec
def start_jobs() -> "list[Start]":  # type: ignore[empty-body]
    """Which jobs start now?

    Each `harness.Start(name, start)` has a function `start(plan, queue, state, **parameters)`, which names those of the
    first three that it uses. It is called once at every instant after everything that happens then has been applied.
    `queue` iterates over the waiting jobs in order. `plan.start(job)` starts a job if it fits and delays no
    reservation, and `plan.reserve(job)` reserves its earliest start; `plugins/README.md` lists all methods. Plans
    are in virtual time, `state.clock.virtual`. With `state`, a policy looks at `harness.waiting(state)`, asks
    `harness.fits(state, job)`, and calls `harness.start(state, job)`, which returns False if the selection declines.
    The queue does not move while it is being looked at: started jobs stay in it, with another `status`, until the
    function returns. With `preemptive=True` it may also `harness.suspend(state, job)`, or `harness.requeue` it so that
    it begins anew; with `rejects=True` it may `harness.reject` a job that waits.

    `molding=…` is a function for moldable jobs: it chooses the width with `harness.start(state, job, procs)`, between
    `harness.narrowest` and `harness.widest`.

    Starting a job that does not fit, or does not wait, stops the run.
    """


@hookspec
def select_resources() -> "list[Select]":  # type: ignore[empty-body]
    """On which nodes does it run?

    Each `harness.Prefer(name, merit)` has a function `merit(node, job, **parameters) -> float`: the processors of the
    nodes with the highest merit are taken first, of equal ones in their order. `node` and `job` are records. An
    argument `procs` is the number of processors that the node would give the job.

    Each `harness.Select(name, select)` takes nodes itself: it has a function `select(state, job, **parameters) ->
    bool`, called when `job` (an index) is started. It calls `harness.take(state, job, node, procs)` until the job has
    its processors, and returns True. It may return False to decline; its processors are then released. A selection that
    declines although enough processors are free declares `fits=…`, which plans call. `harness.room(state, job, node)`
    returns how many processors of a node the job may have, given its memory and partition. `harness.next_free(state,
    after)` iterates over the nodes with a free core, and `harness.unlike(state)` lists one node of each class of equal
    ones.

    Taking more than there is room for, or another number than the job needs, stops the run.
    """


@hookspec
def set_rate() -> "list[Rate]":  # type: ignore[empty-body]
    """How fast do nodes run?

    Each `harness.Rate(name, rate)` has a function `rate(state, **parameters) -> float`: the service rate of all nodes
    from now on, 1 at full speed. It is called first at every instant. It can request another call with
    `harness.call_again(state, time)`, or with `harness.call_at_work` for the time when the work has fallen to a level.
    `harness.work_left(state)` is the work in the system by its estimates, and `harness.power_at(state, node, rate)` the
    power of a node.

    A policy with `constant=True` is called only at the first instant. A rate that is not above 0 stops the run.
    """


@hookspec
def set_sleep() -> "list[Sleep]":  # type: ignore[empty-body]
    """Which idle nodes sleep, and which wake?

    Each `harness.Sleep(name, sleep)` has a function `sleep(state, **parameters)`, called last at every instant. It can
    request another call with `harness.call_again(state, time)`, and suppress calls until a time with
    `harness.call_not_before`. It calls `harness.put_to_sleep(state, node, depth)` for nodes that are awake and hold no
    job (`node.status`, `node.free`, `node.vacant`: idle since), with one of their `node.depths` sleep states, and
    `harness.wake(state, node)`. `harness.longest_vacant(state)` is the node that has been idle longest. Or it leaves
    the decisions to the engine with `harness.sleep_when_idle(state, idle, depth)`.

    A sleeping node can be allocated: it wakes, and the job begins when its last node is awake. Putting a node to sleep
    that cannot sleep stops the run. No policy is called when nodes have merely fallen asleep. To wake a node that is
    falling asleep, call `harness.wake` at once, not when it sleeps.
    """


@hookspec
def account_energy() -> "list[Energy]":  # type: ignore[empty-body]
    """How much power does a node draw?

    Each `harness.Energy(name, watts)` has a function `watts(node, clock, **parameters) -> float`, called whenever the
    busy cores of the node, its status or the rate change; the loop integrates it. `node.busy` of `node.cores` cores are
    in service. `node.idle` and `node.peak` are its power with none and with all of them busy at the present rate, and
    `harness.drawn(node, busy)` the power on its load curve. A node whose `node.status` is not `harness.AWAKE` draws
    `node.resting`, if the policy returns that.

    The power of a node is shared by its busy cores. Without busy cores it counts as idle energy, sleep energy, or
    energy of a transition.
    """


@hookspec
def predict_runtime() -> "list[Predict]":  # type: ignore[empty-body]
    """How long will a job take?

    Each `harness.Predict(name, predict, learn=…, correct=…)` has a function `predict(job, user, clock, **parameters) ->
    float`, called when a job is submitted, before it is ordered. It returns the expected runtime [s at reference
    speed], at most the requested time unless `capped=False`. All policies then plan with `job.estimate`, the current
    estimate, and `job.left`; `job.requested` remains the requested time. `user` is the policy's own record for the
    job's user, with the fields that it declared: `memory=harness.per_user(("last", "previous"))`.

    `learn(job, user, clock, **parameters)` is called when a job completes; `job.service` is then its runtime.
    `correct(job, user, clock, **parameters) -> float` is called when a running job exceeds `job.estimate`, and returns
    a longer estimate of its whole runtime. `job.predicted` is the first estimate, and `job.corrections` the number of
    corrections so far. Without it the estimate becomes the requested time. A correction is an event, at which all
    policies decide.

    With `clairvoyant=True`, `job.service` is the true runtime already when `predict` is called. With `constant=True`
    the estimate is the requested time, and the policy is never called. A prediction that is no time, or a correction
    that is no longer than the estimate, stops the run.
    """


@hookspec
def hold_jobs() -> "list[Hold]":  # type: ignore[empty-body]
    """May a job be considered now, and if not, from when on?

    Each `harness.Hold(name, hold)` has a function `hold(state, job, **parameters) -> float`, called for a submitted job
    (an index) that waits or is held. It returns a time:

    - the present time or an earlier one: the job may be considered.
    - a later time: the job is held until then. The hold is called again at that time, which is an event.
    - infinity: the job is held. The hold is called again when a job has ended, or left in another way.

    A held job is in the system but not in `harness.waiting`: no policy sees it there, no job waits behind it, and it
    has no reservation. When released, it joins the queue in its order. Several holds may be in use; a job is released
    when none holds it, and the first one that holds it is called again. A hold is also called for waiting jobs, before
    every decision and after every start, which may use up resources. `rechecked_on=()` declares that a released job is
    never held again, and `rechecked_on=("time",)` or `("starts",)` that only this can cause it.
    `released_on=("ends", "starts")` declares that the start of another job may release one that is held without a time.

    A result that is not a number stops the run. A held job that no remaining event can release never starts.
    """


@hookspec(firstresult=True)
def read_workload(source: str, lenient: bool) -> "Log | None":
    """Read a workload, or return None to leave it to other plugins.

    `source` is as the user wrote it: a path, a name, or a call such as `lublin(jobs=1000)`. Called from Python, once.
    """


@hookspec(firstresult=True)
def read_platform(source: str) -> "Platform | None":
    """Read a platform, or return None to leave it to other plugins.

    `source` is as the user wrote it after `--platform`; the name of a bundled platform is replaced by its path. Build a
    `harness.Platform` of `harness.NodeType`s. Called from Python, once.
    """


@hookspec
def score_schedule() -> "list[Measure]":  # type: ignore[empty-body]
    """Return extra measures of a schedule, each a `harness.Measure` with its unit, formula and direction.

    Called from Python after a run. All tables show these measures after the built-in ones.
    """
