"""From a log to the jobs that are replayed: every choice explicit, every step counted."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast, get_type_hints

import numpy as np

from harness.workload.log import Log, Workload
from harness.workload.preparation import Preparation, declared
from harness.workload.steps import STEPS, Workbench

P = ParamSpec("P")
T = TypeVar("T")


def _taking(
    options: Callable[P, T],
) -> Callable[[Callable[[Log, T], Workload]], Callable[Concatenate[Log, P], Workload]]:
    """Let a function be called with the arguments of `options` in place of what they make."""

    def taking(function: Callable[[Log, T], Workload]) -> Callable[Concatenate[Log, P], Workload]:
        @wraps(function)
        def called(log: Log, *args: P.args, **named: P.kwargs) -> Workload:
            return function(log, options(*args, **named))

        log, _ = inspect.signature(function).parameters.values()
        kinds = get_type_hints(options)
        own = [one.replace(annotation=kinds[one.name]) for one in inspect.signature(options).parameters.values()]
        called.__signature__ = inspect.Signature([log, *own], return_annotation=Workload)  # type: ignore[attr-defined]
        return cast(Callable[Concatenate[Log, P], Workload], called)

    return taking


@_taking(Preparation)
def prepare(log: Log, preparation: Preparation) -> Workload:
    """Return the jobs of `log`, ready to be replayed.

    Waits in the log say nothing about jobs of another width or at other times: where widths or the load were scaled,
    they are unknown. What was done is in `Workload.preparation`, after what reading had to do.
    """
    work = Workbench(log)
    submit = work.column("submit")
    preparation = preparation.in_seconds(log.header, log.name, float(np.min(submit[submit >= 0], initial=np.inf)))
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that become too large are refused at the end
        for step in STEPS:
            step(work, preparation)
    return work.finished(preparation.digest(log.digest))


def _documented() -> str:
    """Return the documentation of `prepare` with that of every option and every step."""
    options = [f"{name}: {option.help}" for name, _, option in declared()]
    steps = [f"{number}. {inspect.getdoc(step)}" for number, step in enumerate(STEPS, start=1)]
    return "\n".join([inspect.getdoc(prepare) or "", "", "Options:", *options, "", "Steps, in this order:", *steps])


prepare.__doc__ = _documented()
