"""How the broken policies in `zoo/` are kept: each is offered by its file, and known with what it is caught by."""

from collections.abc import Callable
from typing import Any

import harness
from harness.policy.kinds import KINDS

#: Policy → the check it fails, and what is said. Filled as the files are loaded.
CAUGHT: dict[str, tuple[str, str]] = {}


def cage(namespace: dict[str, Any]) -> Callable[..., Any]:
    """Let a plugin file, whose globals these are, offer broken policies; return what it marks them with."""
    offered: dict[str, list[Any]] = {hook: [] for hook in KINDS}
    for hook in offered:
        namespace[hook] = harness.hookimpl(lambda hook=hook: offered[hook], specname=hook)

    def broken(kind, check, sentence, **traits):
        """Offer the function below as a policy, which is to be caught by `check` with this sentence."""

        def offer(function, name=""):
            name = name or function.__name__
            CAUGHT[name] = check, sentence
            offered[kind.hook].append(kind(name, function, **traits))
            return function

        return offer

    return broken


def start_what_fits(state):
    """Do what is sound in start policies that are broken elsewhere."""
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


greedily = harness.jit(start_what_fits)
