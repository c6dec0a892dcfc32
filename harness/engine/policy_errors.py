"""What a policy did wrong, as a sentence: by whom, when, and for which job."""

from collections.abc import Mapping
from typing import Any

from harness.engine import faults
from harness.engine.queue.holds import holds_in_use
from harness.engine.queue.waiting_jobs import waiting
from harness.engine.resources import nodes
from harness.policy.spec import Choice
from harness.policy_api import policy_diagnostics


def _part(view: Any, chosen: Mapping[str, Choice]) -> tuple[str, Choice]:
    """Return the hook and the policy that was being asked."""
    choice = chosen[faults.ASKED[int(view.clock.hook)]]
    if choice.policy.part == "hold":
        choice = holds_in_use(choice)[int(view.hold_state.asked_hold)]
    return choice.policy.hook, choice


def moment(view: Any) -> float:
    """Return what time it is, also while an order is asked about a time ahead."""
    ahead = view.notes.falling and view.clock.now == view.notes.ahead
    return float(view.notes.meanwhile if ahead else view.clock.now)


def where(view: Any, chosen: Mapping[str, Choice]) -> str:
    """Say which policy was being asked, and when, for errors that it raised itself."""
    hook, choice = _part(view, chosen)
    if hook in ("order_queue", "select_resources", "predict_runtime", "hold_jobs") and view.clock.culprit >= 0:
        job = view.jobs[view.clock.culprit].number
        return f"in the policy {str(choice)!r} ({hook}), for job {job}, at {number(moment(view))} s"
    first = [int(view.jobs[job].number) for job in waiting(view)[:1]]
    return f"in the policy {str(choice)!r} ({hook}) at {number(moment(view))} s" + "".join(
        f", first waiting job {job}" for job in first
    )


def mistaken(error: Exception, view: Any, chosen: Mapping[str, Choice]) -> faults.PolicyError | None:
    """Return what a policy did wrong as a sentence, unless the error is one of its own."""
    what = ""
    if isinstance(error, policy_diagnostics.WrongAnswer):
        what = f"{error.where}returned {error}, where {_part(view, chosen)[1].policy.answer} was expected"
    elif missing := policy_diagnostics.missing_field(error):
        what = missing[1]
    for (kind, words), told in faults.WORDS_OF_OTHERS.items():
        if isinstance(error, kind) and words in str(error):
            what = told
    return blame(view, chosen, what) if what else None


def explain(view: Any, chosen: Mapping[str, Choice]) -> faults.PolicyError:
    """Put the loop's notes into a sentence."""
    clock = view.clock
    fault, clock.hook = faults.noted(clock)
    facts: dict[str, Any] = {"value": float(clock.value), "node": int(clock.node)}
    facts |= {"job": f"with index {clock.culprit}", "procs": 0, "room": 0}
    if 0 <= clock.culprit < clock.next:
        job = view.jobs[clock.culprit]
        submitted = clock.culprit < clock.next
        room = nodes.room(view, int(clock.culprit), int(clock.node)) if submitted else 0
        facts |= {"job": int(job.number), "procs": int(job.procs), "room": int(room)}
    what = faults.sentence(fault, **facts)
    if fault in (faults.STUCK, faults.DECLINED) and view.allocation.declined:
        what += f"; the selection {str(chosen['select'])!r} declined {view.allocation.declined} times"
    if fault == faults.COUNTED:
        what += f"; the selection is {str(chosen['select'])!r}"
    return blame(view, chosen, what)


def blame(view: Any, chosen: Mapping[str, Choice], what: str) -> faults.PolicyError:
    """Say what the policy that was being asked did, and when."""
    hook, choice = _part(view, chosen)
    return faults.PolicyError(f"the policy {str(choice)!r} ({hook}), at {number(moment(view))} s, {what}")


def number(value: float) -> str:
    """Return a time without a decimal point if it has none."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
