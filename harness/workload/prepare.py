"""The preparation of a log for a replay, with a record of every step."""

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
    """Return a decorator: the function then takes the arguments of `options` instead of its result."""

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

    Where widths or the load are scaled, the logged waits no longer apply and become unknown. `Workload.preparation`
    records all steps of reading and preparation.
    """
    work = Workbench(log)
    submit = work.column("submit")
    preparation = preparation.in_seconds(log.header, log.name, float(np.min(submit[submit >= 0], initial=np.inf)))
    with np.errstate(over="ignore", invalid="ignore"):  # the end refuses numbers that are too large
        for step in STEPS:
            step(work, preparation)
    return work.finished(preparation.digest(log.digest))


def _documented() -> str:
    """Return the documentation of `prepare`, with those of its options and steps."""
    options = [f"{name}: {option.help}" for name, _, option in declared()]
    steps = [f"{number}. {inspect.getdoc(step)}" for number, step in enumerate(STEPS, start=1)]
    return "\n".join([inspect.getdoc(prepare) or "", "", "Options:", *options, "", "Steps, in this order:", *steps])


prepare.__doc__ = _documented()
