"""The methods of the plan: which function each kind of plan calls, see `harness.policy_api.plan_views`."""

from typing import Any

from harness.engine.plan import candidates, count_plan, due_reservations, node_plan_methods
from harness.engine.plan.reserved_starts import next_promise
from harness.policy_api.plan_views import PLAN_KINDS, add_method, add_walk

_FUNCTIONS: dict[str, Any] = {**vars(count_plan), **vars(due_reservations), **vars(node_plan_methods)}
_FOR_ALL: dict[str, Any] = {"end_if_started": count_plan.end_if_started, "next_start": next_promise}

#: The operations that every kind of plan has of its own: functions of that name after the name of the kind.
OPERATIONS = ("refresh", "start", "reserve", "cancel", "cancel_all", "compress", "without_reservation", "start_due")

for _name in OPERATIONS:
    _kinds = {kind: _FUNCTIONS[f"{kind}_{_name}"] for kind in PLAN_KINDS}
    add_method(_name, _kinds, counted=_name == "without_reservation")
for _name, _function in _FOR_ALL.items():
    add_method(_name, dict.fromkeys(PLAN_KINDS, _function))
add_method("candidates", dict.fromkeys(PLAN_KINDS, candidates.begin_candidates), answer="candidates")

add_walk("queue", candidates.begin_queue, candidates.next_in_queue)
add_walk("candidates", None, candidates.next_candidate)
