"""Compile before a first run: for container images, clusters and machines that must start fast."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from numba import config

from harness.errors import HarnessError, did_you_mean
from harness.policy.declared_traits import INSTEAD
from harness.policy.kinds import Policy, Start
from harness.policy.registry import plugins as load_plugins
from harness.policy.spec import Choice


def warm_up(names: Iterable[str] = (), plugins: Iterable[str | Path] = ()) -> Iterator[tuple[str, str, bool, float]]:
    """Compile the event loop and the named policies, by default all, and store the machine code in the cache.

    For start policies this includes their variants for advance reservations, moldable jobs and sleeping nodes. Without
    names it also includes the loops that only some runs need: with holds, shares, other event semantics, moldable jobs
    and queues with their own policies. Yields the name, the hook, whether it is compiled, and the duration [s]. Code in
    the cache loads in a few milliseconds.
    """
    policies = load_plugins(*map(str, plugins)).policies
    known = {name for found in policies.values() for name in found}
    wanted = set(names)
    for name in sorted(wanted - known):
        raise HarnessError(f"there is no policy {name!r}; {did_you_mean(name, known)}")
    from harness.engine.loop import compiled_loop
    from harness.engine.policy_kernels import kernel_of
    from harness.numba_support.separate_compilation import compile_all

    parts: dict[str, Callable[[], Any]] = {"event loop": compiled_loop, "functions compiled on demand": compile_all}
    for part, compiled in (parts if wanted else parts | _for_special_runs()).items():
        began = time.perf_counter()
        compiled()
        yield part, "", not config.DISABLE_JIT, time.perf_counter() - began
    for hook, found in policies.items():
        for name, policy in found.items():
            if wanted and name not in wanted:
                continue
            for words, variant in _variants(policy).items():
                began = time.perf_counter()
                kernel = kernel_of(Choice.plain(variant), 0)
                yield f"{name}{words}", hook, kernel.python is None, time.perf_counter() - began


def _for_special_runs() -> dict[str, Callable[[], Any]]:
    from harness.engine.events.event_source import HOLDS, TIMED
    from harness.engine.loop import compiled_loop
    from harness.engine.plan.width import compiled_mold
    from harness.engine.queue.queues_with_policies import compiled_by_queue
    from harness.engine.queue.usage_sums import compiled_tally

    return {
        "event loop with holds": lambda: compiled_loop(TIMED | HOLDS),
        "event loop with predictions, decisions per event or passes": lambda: compiled_loop(TIMED),
        "shares of users, groups and queues": compiled_tally,
        "moldable jobs": compiled_mold,
        "queues of their own": compiled_by_queue,
    }


def _variants(policy: Policy) -> dict[str, Policy]:
    """Return the policy, and the variants of a start policy for some runs, by the words that follow the name."""
    found = {"": policy}
    if isinstance(policy, Start):
        words = {"molding": ", moldable jobs"}
        found |= {words[trait]: policy.instead(trait) for trait in INSTEAD if getattr(policy, trait)}
    return found
