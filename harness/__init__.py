"""Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.

For users: `simulate`, `Scheduler`, `read_workload`, `read_platform`, …
For plugin authors: `hookimpl`, the policy kinds (`Order`, `Start`, `Select`, `Rate`, `Sleep`, `Energy`), and what
their functions may call (`waiting`, `fits`, `start`, `room`, `take`, …).

Names are loaded when they are first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Where each public name lives.
_HOMES = {
    "harness.errors": ("HarnessError",),
    "harness.hooks": ("hookimpl",),
    "harness.policy": (
        "Choice",
        "Energy",
        "Order",
        "Policy",
        "Rate",
        "Scheduler",
        "Select",
        "Sleep",
        "Start",
        "parse",
    ),
    "harness.plugins": ("Plugins", "register", "unregister"),
    "harness.kernels": ("PlainPython",),
    "harness.engine.faults": ("PolicyError",),
    "harness.engine.nodes": ("fits", "next_free", "room", "take"),
    "harness.engine.queue": ("departed", "running", "waiting"),
    "harness.engine.service": (
        "QUEUE_ORDER",
        "call_again",
        "rank_all",
        "ranked",
        "start",
        "suspend",
        "uniform",
        "when",
    ),
    "harness.engine.profile": (
        "burden",
        "earlier_fit",
        "earliest_fit",
        "forget_past",
        "plan_from_running",
        "release",
        "reservation",
        "reserve",
    ),
    "harness.engine.state": ("CANCELLED", "COMPLETED", "INFINITY", "RUNNING", "SUSPENDED", "WAITING", "jit"),
    "harness.platform.platform": ("NodeType", "Platform", "plain"),
    "harness.workload.log": ("Log", "Step", "Workload"),
    "harness.workload.frame": ("log_from_frame",),
    "harness.workload.swf": ("read_swf", "write_swf"),
    "harness.workload.synthetic": ("lublin", "poisson"),
    "harness.workload.prepare": ("prepare",),
    "harness.platform.small_table": ("read_small_table",),
    "harness.workload.catalogue": ("find_trace",),
    "harness.run": ("call", "extra_measures", "find_platform", "read_platform", "read_workload", "simulate"),
    "harness.results.schedule": ("Schedule",),
    "harness.template": ("new_distribution",),
    "harness.results.metrics": ("Measure",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from harness.errors import HarnessError as HarnessError
    from harness.hooks import hookimpl as hookimpl
    from harness.policy import Order as Order
    from harness.policy import Scheduler as Scheduler
    from harness.results.schedule import Schedule as Schedule
    from harness.run import simulate as simulate


def __getattr__(name: str) -> Any:
    if name == "hooks":  # what a plugin author reads: help(harness.hooks)
        return import_module("harness.hooks")
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
