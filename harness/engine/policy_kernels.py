"""The kernels with which the loop calls the policies of each hook: one template per hook.

`harness.policy_api.compiled_policies` makes kernels of the templates. A kernel passes views of the state to the
author's function, and writes its answer into the state.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from harness.engine import (
    run_state,
    verbs,  # noqa: F401 - functions for policies
)
from harness.engine.decorators import CHECKED, expect_done
from harness.engine.events import clocks_and_signals  # noqa: F401 - functions for policies
from harness.engine.faults import HOLDING, RATING, SLEEPING, STARTING, PolicyError
from harness.engine.plan import (  # noqa: F401 - functions for policies
    boot_time,
    compression,
    count_profile,
    head_reservation,
    node_plan,
    node_plan_backfill,
    plan_methods,
    reserved_starts,
)
from harness.engine.power.draw import draw  # noqa: F401 - functions for policies
from harness.engine.queue import queue_iteration, waiting_jobs  # noqa: F401 - functions for policies
from harness.engine.queue.usage_sums import all_up_to_date, up_to_date
from harness.engine.records.public import CORRECTING, LEARNING, WONDERING
from harness.engine.resources import node_classes, nodes  # noqa: F401 - functions for policies
from harness.engine.resources.node_ranking import list_offers, take_best
from harness.engine.resources.nodes import room
from harness.policy.permissions import WRITABLE, Misuse
from harness.policy.spec import Choice
from harness.policy_api import compiled_policies
from harness.policy_api.compiled_policies import Kernel, KernelTemplate
from harness.policy_api.plan_views import PLAN_KINDS, VIEWS
from harness.policy_api.readonly_views import Viewer, shown, shown_reserving

_ASKED = """
def kernel(state, own):
    function(shown(state){extra})
    expect_done(state, HOOK)
"""
_STARTS = """
def kernel(state, own):
    function({arguments}{extra})
    expect_done(state, STARTING)
"""
_ASK = """
def kernel(state, own):
    number = int(own[0])
    with objmode():
        ask(number)
"""


_WORDS = {"expect_done": expect_done, "WONDERING": WONDERING, "LEARNING": LEARNING, "CORRECTING": CORRECTING}
_WORDS |= {"list_offers": list_offers, "room": room, "take_best": take_best}
_WORDS |= {"STARTING": STARTING, "RATING": RATING, "SLEEPING": SLEEPING, "HOLDING": HOLDING}


def _template(source: str, signature: Any, trampoline: str, *, reserving: bool = False, **more: Any) -> KernelTemplate:
    seeing = {"shown": shown_reserving if reserving else shown, "all_up_to_date": all_up_to_date}
    compiled = {**seeing, "up_to_date": up_to_date, **_WORDS, **VIEWS}
    writable = WRITABLE["start_jobs"] if reserving else ()

    def interpreted(policies: compiled_policies.Policies) -> dict[str, Any]:
        seeing = {"shown": Viewer(writable, policies), "all_up_to_date": inspect.unwrap(all_up_to_date)}
        return {**seeing, "up_to_date": up_to_date, **_WORDS, **VIEWS}

    return KernelTemplate(source, signature, trampoline, compiled, interpreted, CHECKED, Misuse, **more)


def _start_template(plan: str) -> KernelTemplate:
    """Return how the loop calls start policies in a run with such a plan."""
    views = {"plan": f"{plan}_plan(shown(state))", "queue": "queue(shown(state))", "state": "shown(state)"}
    return _template(_STARTS, run_state.START, _ASK, reserving=True, arguments=views)


#: How the loop calls start policies, by the kind of the plan.
STARTS = {plan: _start_template(plan) for plan in PLAN_KINDS}
TEMPLATES = {
    "start_jobs": STARTS["count"],
    "order_queue": _template(
        """
def kernel(state, who, scores, own):
{learning}    jobs = shown(state).jobs
    for k in range(len(who)):
        state.clock.culprit = who[k]
        scores[k] = number(function(jobs[who[k]], shown(state).clock{extra}))
""",
        run_state.ORDER,
        """
def kernel(state, who, scores, own):
    number = int(own[0])
    with objmode():
        ask(number, who, scores)
""",
    ),
    "select_resources": _template(
        """
def kernel(state, job, own):
    return truth(function(shown(state), job{extra}))
""",
        run_state.SELECT,
        """
def kernel(state, job, own):
    number = int(own[0])
    with objmode(answer="boolean"):
        answer = ask(number, job)
    return answer
""",
        with_fits="""
def kernel(state, job, own):
    if state.clock.asking == WONDERING:
        return truth(fits(shown(state), job, shown(state.then){extra}))
    return truth(function(shown(state), job{extra}))
""",
        by_merit="""
def kernel(state, job, own):
    need = state.jobs[job].procs
    while need > 0:
        count = list_offers(state, job)
        for k in range(count):
            node = state.candidates[k]
            procs = min(need, room(state, job, node))
            state.merits[k] = number(function(shown(state).nodes[node], shown(state).jobs[job]{extra}))
        left = take_best(state, job, count, need, SIZED)
        if left == need:
            return False
        need = left
    return True
""",
        job="job",
    ),
    "set_rate": _template(
        """
def kernel(state, own):
    answer = number(function(shown(state){extra}))
    expect_done(state, RATING)
    return answer
""",
        run_state.RATE,
        """
def kernel(state, own):
    number = int(own[0])
    with objmode(answer="float64"):
        answer = ask(number)
    return answer
""",
    ),
    "set_sleep": _template(_ASKED.replace("HOOK", "SLEEPING"), run_state.SLEEP, _ASK),
    "account_energy": _template(
        """
def kernel(state, piece, own):
    nodes = state.nodes
    slices = state.slices
    node = slices[piece].node if piece >= 0 else 0
    while node < len(nodes):
        watts = number(function(shown(nodes)[node], shown(state.clock){extra}))
        nodes[node].watts = watts
        if not (watts >= 0.0 and watts < np.inf):
            return node
        if piece >= 0:
            piece = slices[piece].next
            if piece < 0:
                return -1
            node = slices[piece].node
        else:
            node += 1
    return -1
""",
        run_state.WATTS,
        """
def kernel(state, piece, own):
    number = int(own[0])
    with objmode(answer="int64"):
        answer = int(ask(number, piece))
    return answer
""",
    ),
    "predict_runtime": _template(
        """
def kernel(state, index, why, own):
    job = shown(state).jobs[index]
    clock = shown(state).clock
    user = {user}
    if why == LEARNING:
        {learn}
        return 0.0
    if why == CORRECTING:
        return corrected({correct})
    return number(function(job, user, clock{extra}))
""",
        run_state.PREDICT,
        """
def kernel(state, index, why, own):
    number = int(own[0])
    with objmode(answer="float64"):
        answer = ask(number, index, why)
    return answer
""",
        otherwise={"learn": "pass", "correct": "job.requested"},
    ),
    "hold_jobs": _template(
        """
def kernel(state, job, own):
    answer = instant(function(shown(state), job{extra}))
    expect_done(state, HOLDING)
    return answer
""",
        run_state.HOLD,
        """
def kernel(state, job, own):
    number = int(own[0])
    with objmode(answer="float64"):
        answer = ask(number, job)
    return answer
""",
        job="job",
    ),
}


def kernel_of(
    choice: Choice,
    seed: int,
    *,
    plain: bool = False,
    sizes: Mapping[str, int] | None = None,
    columns: compiled_policies.Columns = compiled_policies.no_columns,
    plan_kind: str = "count",
) -> Kernel:
    """Make the kernel of a chosen policy: compiled if possible, else a trampoline into Python.

    `sizes`: the number of records of its memory by key, see `harness.policy.per_key_memory.sizes`.
    `columns`: the further columns of the workload. `plan_kind`: the kind of plan that start policies get.
    """
    hook = choice.policy.hook
    template = STARTS[plan_kind] if hook == "start_jobs" else TEMPLATES[hook]
    try:
        return compiled_policies.kernel_of(choice, seed, template, plain=plain, sizes=sizes, columns=columns)
    except Misuse as misuse:  # numba saw where it would happen
        raise PolicyError(f"the policy {str(choice)!r} ({hook}) {misuse}") from None
