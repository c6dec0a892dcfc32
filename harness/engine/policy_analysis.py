"""What policies look at, by what they say and by the names in their functions: what the engine may spare itself.

Jobs that are alike to all of them may be held and let go by kin (`kin.py`), nodes that are stand in one stock, scores
that only fall are looked at when they matter (`falling.py`), and nodes fall asleep unseen (`sleep.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from harness.engine.event_semantics import EACH
from harness.engine.records import hold_records as hold_records
from harness.engine.records.public import CLOCK, NODE
from harness.engine.resources.node_classes import take_stock
from harness.errors import HarnessError
from harness.policy.declared_traits import INSTEAD
from harness.policy.kinds import Policy, Prefer, Start, functions_of
from harness.policy.spec import Choice

#: What starts guarantee who start the first of the queue if it fits, before they look at anybody else.
FIRST_STARTS = "first starts if it fits"

#: What a function names that looks at who waits.
OF_THE_QUEUE = frozenset({"waiting", "queued", "queued_procs", "ranked", "work_left", "demand", "arrived", "held"})

#: All that a function may name that draws by the load of a node: what tells kinds of nodes apart, and `rate`, at whose
#: change everybody is asked again.
OF_THE_LOAD = frozenset({"busy", "cores", "idle", "peak", "curve", "memory", "partition", "status", "resting", "rate"})
OF_THE_LOAD |= {"harness", "AWAKE", "FALLING", "ASLEEP", "WAKING", "DOWN", "drawn", "load_share", "min", "max", "abs"}


def lasts(order: Choice) -> bool:
    """Return whether the order gives a waiting job one score for as long as it waits, however often it is asked."""
    told = any(set(one.policy.extras) - {"columns"} for one in order.chain)
    return not (told or order.says("varies") or order.says("learn"))


#: What a policy names that sees the queue in order, or a score.
OF_THE_ORDER = frozenset(
    {"waiting", "ranked", "prefix", "unpromised", "due", "compress", "next_promise", "next_beside"}
)
OF_A_SCORE = frozenset({"score", "getattr"})

#: What an order names that is not the job's own from when it came: all of the clock but `now`, and what plans change.
OF_NO_TIME = (frozenset(CLOCK.names or ()) - {"now"}) | {"reserved", "score", "status", "getattr"}


def falls(chosen: Mapping[str, Choice], view: Any) -> bool:
    """Return whether it need not be known, but for who is next, in what order jobs wait: their scores only fall.

    That only clock.now matters is looked up, and of an order that wraps another one not believed.
    """
    order, start = chosen["order"], chosen["start"].policy
    told = set(order.policy.extras) - {"columns"} or order.inner or order.says("learn")
    told = told or named_in(order.policy.function) & OF_NO_TIME
    if not order.says("falls") or told or view.clock.constrained or view.notes.moldable:
        return False
    usual = not (view.notes.reading & EACH or view.notes.period > 0.0 or view.notes.main >= 0.0)
    policies = [one.policy for part, choice in chosen.items() if part != "order" for one in choice.chain]
    # Which of them takes a start policy's place is settled: what might have is not asked.
    asked = [one for policy in policies for name, one in functions_of(policy).items() if name not in INSTEAD]
    seeing = OF_THE_ORDER | OF_A_SCORE
    unseen = all(one.compiled for one in policies) and not any(named_in(one) & seeing for one in asked)
    return usual and unseen and not (start.preemptive or start.extras)


#: What a policy names that plans by numbers of processors.
OF_COUNTS = frozenset({"plan_from_running", "forget_past"})


@cache
def plans_by_counts(policy: Policy) -> bool:
    """Return whether a policy plans by numbers of processors, wherever it is asked."""
    function = getattr(policy, "bound", None) or policy.function
    return bool(isinstance(policy, Start) and named_in(function) & OF_COUNTS)


def refuse_counting(starts: Iterable[Choice]) -> None:
    """Refuse plans by numbers of processors where these do not tell whether a job can be placed."""
    for start in starts:
        if plans_by_counts(start.policy):
            raise HarnessError(
                f"the start policy {str(start)!r} plans by numbers of processors alone, and here memory, partitions or "
                "what else jobs ask for binds: expected one that plans there too, as 'easy' and 'conservative' do "
                "(harness.Start(…, bound=…))"
            )


def draws_by_load(energy: Choice) -> bool:
    """Return whether nodes of one kind that are awake with as many busy cores draw the same, however often it asks."""
    function = energy.policy.function
    written = isinstance(getattr(function, "py_func", function), FunctionType)
    return written and not energy.policy.extras and named_in(function) <= OF_THE_LOAD


#: The fields of a node in which nodes of one stock may differ; see `stocks.py`.
OF_ONE_NODE = frozenset(NODE.names or ()) - OF_THE_LOAD - {"free", "speed", "depths", "depth", "wanted", "type"}
OF_ONE_NODE |= {"busy"}

#: What a policy names that asks for stocks of nodes alike.
OF_STOCKS = frozenset({"unlike", "count_alike"})


@cache
def judges_by_stock(select: Policy) -> bool:
    """Return whether a selection that goes by merits gives the same one to all nodes of a stock."""
    told_apart = any(name in ("memory", "dice") or name.startswith("per_") for name in select.extras)
    named = named_in(select.function) if isinstance(select, Prefer) and select.compiled else OF_ONE_NODE
    return not (told_apart or named & OF_ONE_NODE)


def keep_stocks(view: Any, chosen: Mapping[str, Choice]) -> Any:
    """Return the view with stocks of nodes alike, if a policy of the run asks for them, or may be asked by them."""
    select = chosen["select"].policy
    if isinstance(select, Prefer):
        count = len(view.nodes)
        view = view._replace(unlike=np.zeros(count, np.int64), merits=np.zeros(count))
        view.allocation.ranks_classes = judges_by_stock(select) and not view.clock.constrained
    asking = any(asks_for_stocks(one.policy) for choice in chosen.values() for one in choice.chain)
    return take_stock(view) if view.allocation.ranks_classes or asking else view


#: What a policy names that sees in what state a node is, if it sees nodes …
OF_A_NODE_NOW = frozenset({"status", "resting", "until", "watts", "settled", "asleep", "wanted"})
OF_A_NODE_NOW |= {"energy", "idle_energy", "sleep_energy", "transition_energy"}

#: … and what shows it, or that there was an instant, in any case.
OF_ANY_INSTANT = frozenset({"transition", "getattr"}) | OF_STOCKS


@cache
def sees_nodes_now(policy: Policy) -> bool:
    """Return whether a policy could tell that a node has fallen asleep; the one of energies is told of each change."""
    named = frozenset().union(*(named_in(function) for function in functions_of(policy).values()))
    sees = isinstance(policy, Prefer) or "nodes" in named
    mixed = ORDER in named and named & OF_SINGLE_NODES
    return bool(named & OF_ANY_INSTANT or (sees and named & OF_A_NODE_NOW) or mixed)


def falls_unseen(chosen: Mapping[str, Choice]) -> bool:
    """Return whether no policy could tell when a node that falls asleep has done so: it need not be an instant."""
    others = [one.policy for part, choice in chosen.items() if part != "energy" for one in choice.chain]
    return draws_by_load(chosen["energy"]) and not any(not one.compiled or sees_nodes_now(one) for one in others)


#: What lets nodes sleep once they are idle, and what a policy must not do besides if nobody is to see when they do.
ORDER, OF_SINGLE_NODES = "sleep_when_idle", frozenset({"put_to_sleep", "wake", "longest_vacant"})


@cache
def orders_naps(policy: Policy) -> bool:
    """Return whether a sleep policy leaves it to the engine to put idle nodes to sleep."""
    return ORDER in named_in(policy.function)


@cache
def asks_for_stocks(policy: Policy) -> bool:
    """Return whether a policy asks which nodes are alike."""
    return any(named_in(function) & OF_STOCKS for function in functions_of(policy).values())


#: Modules in which there is nothing to look for.
OTHERS = frozenset({"harness", "numpy", "numba", "math"})


@lru_cache(1024)
def named_in(function: Callable[..., Any]) -> set[str]:
    """Return every name in a function and in those of its module, and of others, that it calls; and single words."""
    found: set[str] = set()
    left: list[tuple[Any, Any]] = [(function, {})]
    seen: list[Any] = []
    while left:
        code, known = left.pop()
        code = getattr(code, "py_func", code)
        known = getattr(code, "__globals__", known)
        left += [(cell.cell_contents, {}) for cell in getattr(code, "__closure__", None) or ()]
        code = getattr(code, "__code__", code)
        if not isinstance(code, CodeType) or code in seen:
            continue
        seen.append(code)
        found |= {*code.co_names, *(part for part in code.co_consts if isinstance(part, str) and part.isidentifier())}
        left += [(known[name], {}) for name in code.co_names if name in known]
        modules = [known[name] for name in code.co_names if isinstance(known.get(name), ModuleType)]
        theirs = [module for module in modules if module.__name__.partition(".")[0] not in OTHERS]
        left += [(vars(module)[name], {}) for module in theirs for name in code.co_names if name in vars(module)]
        left += [(part, known) for part in code.co_consts]  # functions within functions
    return found


def answers_alike(hold: Choice) -> bool:
    """Return whether the hold, with these parameters, holds jobs alike and lets them go together."""
    policy = hold.policy
    singly = any(hold.values[name] != policy.parameters[name] for name in policy.singly)
    return bool(policy.alike) and not singly and "starts" not in policy.freed_by


def may_stay_by_kin(view: Any, chosen: Mapping[str, Choice], holds: list[Choice]) -> bool:
    """Return whether jobs may be held by kin: who starts first is known, and nobody looks at who waits meanwhile."""
    order, start, notes = chosen["order"], chosen["start"].policy, view.notes
    bound = view.clock.constrained or notes.moldable or chosen["select"].policy.fits
    usual = not (notes.reading & EACH or notes.period > 0.0 or notes.main >= 0.0 or notes.horizon < np.inf)
    first = FIRST_STARTS in start.guarantees and not start.extras and not start.preemptive and not start.rejects
    ordered = lasts(order) or (bool(order.policy.alike) and not order.inner and not order.says("learn"))
    unseen = chosen["rate"].policy.constant and not named_in(chosen["select"].policy.function) & OF_THE_QUEUE
    alike = all(answers_alike(hold) for hold in holds) and not chosen["start"].queues
    return alike and first and ordered and unseen and usual and not bound and notes.depth >= len(view.jobs)


def kins_of(jobs: Any, order: Choice, holds: list[Choice]) -> dict[str, Any]:
    """Return the kins of the jobs, and of which each is: jobs that no hold and no order can tell apart."""
    count = len(jobs)
    kin = np.arange(count)
    alike = [hold.policy.alike for hold in holds]
    if alike and all(alike):
        kin = np.zeros(count, np.int64)
        for name in sorted({*order.policy.alike, *(name for names in alike for name in names)}):
            _, number = np.unique(jobs[name], return_inverse=True)
            _, kin = np.unique(kin * (number.max(initial=0) + 1) + number, return_inverse=True)
    of_kin = np.zeros(count, hold_records.OF_KIN)
    of_kin["kin"] = kin
    kins = np.zeros(count, hold_records.KIN)
    return {"kins": kins.view(np.recarray), "of_kin": of_kin.view(np.recarray)}
