"""What a policy's function may call, and from which hooks: the one list that checks, tables and tests go by."""

import inspect
from collections.abc import Iterator

import harness
from harness.policy.kinds import KINDS

_STATE = ("start_jobs", "select_resources", "set_rate", "set_sleep", "hold_jobs")  # whose functions get the state
_NODES = (*_STATE, "account_energy")
_ANY = ("order_queue", *_NODES, "predict_runtime")
_START = ("start_jobs",)

#: Function of `harness` → the hooks whose policies may call it.
VERBS: dict[str, tuple[str, ...]] = {
    # who and what there is
    "waiting": _STATE,
    "running": _STATE,
    "departed": _STATE,
    "ranked": _START,
    "prefix": _START,
    # to begin, to stop
    "fits": _STATE,
    "start": _START,
    "narrowest": _STATE,
    "widest": _STATE,
    "left_on": _STATE,
    "mold": _START,
    "suspend": _START,
    "requeue": _START,
    "reject": _START,
    # where
    "room": _STATE,
    "suits": _STATE,
    "procs_per_node": _STATE,
    "next_free": _STATE,
    "unlike": _STATE,
    "count_alike": _STATE,
    "nodes_of": _STATE,
    "take": ("select_resources",),
    # plans
    "later": _STATE,
    "arrival_does_not_fit": _STATE,
    "reservation": _STATE,
    "longest_boot": _STATE,
    "boot_time": _START,
    "next_waiting": _START,
    "next_overtaker": _START,
    "plan_from_running": _START,
    "forget_past": _START,
    "earliest_fit": _START,
    "unpromised": _START,
    "reserve": _START,
    "release": _START,
    # work and power
    "work_left": _STATE,
    "power_at": _STATE,
    "load_share": _NODES,
    "drawn": _NODES,
    # sleep
    "sleep_when_idle": ("set_sleep",),
    "longest_vacant": ("set_sleep",),
    "put_to_sleep": ("set_sleep",),
    "wake": ("set_sleep",),
    # time and chance
    "when": _STATE,
    "hour": _ANY,
    "weekday": _ANY,
    "call_again": ("start_jobs", "set_rate", "set_sleep"),
    "call_not_before": ("set_rate", "set_sleep"),
    "call_at_work": ("set_rate",),
    "uniform": _ANY,
}


def described() -> Iterator[tuple[str, str, str]]:
    """Yield each function with its arguments, what it does in a line, and the hooks whose policies may call it."""
    for name, hooks in VERBS.items():
        function = getattr(harness, name)
        signature = inspect.signature(function)
        plain = signature.replace(
            parameters=[one.replace(annotation=one.empty) for one in signature.parameters.values()],
            return_annotation=signature.empty,
        )
        first = inspect.cleandoc(function.__doc__ or "").split("\n")[0]
        yield f"{name}{plain}", first, ", ".join(KINDS[hook].plural for hook in hooks)
