"""Rates for which the power of a node is not known."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from harness.engine.time_comparison import later
from harness.policy.spec import Choice


class UnknownPowerWarning(UserWarning):
    """Reports, once, a rate for which some node has no performance state: its power there is not known."""


def warn_of_unknown_power(state: Any, chosen: Mapping[str, Choice]) -> None:
    """Warn if a rate lay outside the performance states of a node. A node without any is known at full speed alone."""
    if chosen["energy"].policy.name == "none":
        return
    nodes, paces = state.nodes, state.paces
    least, most = float(state.sums.least_rate), float(state.sums.most_rate)
    known = nodes.pace_count > 0
    slowest = max(paces.rate[nodes.first_pace[known]], default=0.0)
    fastest = min(paces.rate[(nodes.first_pace + nodes.pace_count - 1)[known]], default=np.inf)
    policy = str(chosen["rate"])
    if later(slowest, least):
        _warn_once(policy, least, f"below {slowest:.6g}, the slowest performance state of a node", "in that state")
    if later(most, fastest):
        _warn_once(policy, most, f"above {fastest:.6g}, the fastest performance state of a node", "in that state")
    if not known.all() and (later(1.0, least) or later(most, 1.0)):
        rate = least if later(1.0, least) else most
        _warn_once(policy, rate, "and a node has no performance state for it", "at full speed")


@cache
def _warn_once(policy: str, rate: float, why: str, counted: str) -> None:
    warnings.warn(
        f"the policy {policy!r} (set_rate) set the rate {rate:.6g}, {why}: its power there is not known and is counted "
        f"as {counted}",
        UnknownPowerWarning,
        stacklevel=2,
    )
