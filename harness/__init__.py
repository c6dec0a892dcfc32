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
    "harness.engine.verbs": (
        "QUEUE_ORDER",
        "call_again",
        "call_at_work",
        "call_not_before",
        "prefix",
        "put_to_sleep",
        "ranked",
        "start",
        "suspend",
        "uniform",
        "wake",
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
    "harness.engine.state": (
        "ASLEEP",
        "AWAKE",
        "CANCELLED",
        "COMPLETED",
        "DOWN",
        "FALLING",
        "INFINITY",
        "KILLED",
        "RUNNING",
        "SUSPENDED",
        "WAITING",
        "WAKING",
        "jit",
    ),
    "harness.engine.power": ("drawn", "load_share", "power_at", "work_left"),
    "harness.platform.description": ("read_description",),
    "harness.platform.finding": ("find_platform",),
    "harness.platform.platform": ("NodeType", "PerformanceState", "Platform", "SleepState", "plain"),
    "harness.platform.spec": ("read_spec",),
    "harness.platform.tables": ("read_platform_table",),
    "harness.workload.log": ("Log", "Step", "Workload"),
    "harness.workload.events": ("Events", "read_events"),
    "harness.workload.frame": ("is_table", "log_from_frame", "read_table"),
    "harness.workload.hpcwld": ("is_hpcwld", "read_hpcwld"),
    "harness.workload.sacct": ("is_sacct", "read_sacct"),
    "harness.workload.batsim": ("read_batsim",),
    "harness.workload.swf": ("read_swf", "write_swf"),
    "harness.workload.synthetic": ("lublin", "poisson"),
    "harness.workload.prepare": ("prepare",),
    "harness.workload.resampling": ("resample",),
    "harness.workload.catalogue": ("find_trace",),
    "harness.run": ("call", "extra_measures", "read_platform", "read_workload", "simulate"),
    "harness.results.schedule": ("Schedule",),
    "harness.template": ("new_distribution",),
    "harness.results.metrics": ("Measure",),
    "harness.tournament.check": ("check",),
    "harness.tournament.results": ("Results",),
    "harness.report.page": ("run_page", "tournament_page"),
    "harness.tournament.verdict": ("Verdict",),
    "harness.tournament.leaderboard": ("leaderboard",),
    "harness.tournament.ranking": ("Ranking", "rank"),
    "harness.results.adequacy": ("Adequacy", "UndefinedError", "adequacy"),
    "harness.results.repeatability": ("Repeatability", "repeatability"),
    "harness.likeness": ("Likeness", "identify"),
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
    if name in ("hooks", "tournament"):  # what a plugin author reads: help(harness.hooks); a package that is called
        return import_module(f"harness.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
