"""Compile before it is needed: for images, clusters, and machines without a minute to spare."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.errors import HarnessError, did_you_mean
from harness.policy.registry import plugins as load_plugins
from harness.policy.spec import Choice


def warm_up(names: Iterable[str] = (), plugins: Iterable[str | Path] = ()) -> Iterator[tuple[str, str, bool, float]]:
    """Compile the event loop and these policies, all there are if none is named, and keep what was compiled.

    Yields what was made ready: its name, its hook, whether it is compiled, and how long that took [s]. What is kept
    already takes a few milliseconds.
    """
    policies = load_plugins(*map(str, plugins)).policies
    known = {name for found in policies.values() for name in found}
    wanted = set(names)
    for name in sorted(wanted - known):
        raise HarnessError(f"there is no policy {name!r}; {did_you_mean(name, known)}")
    from harness.engine.apart import compile_all
    from harness.engine.doors import kernel_of
    from harness.engine.loop import compiled_run

    began = time.perf_counter()
    compiled_run()
    yield "event loop", "", True, time.perf_counter() - began
    began = time.perf_counter()
    compile_all()
    yield "what is called when it is needed", "", True, time.perf_counter() - began
    for hook, found in policies.items():
        for name, policy in found.items():
            if not wanted or name in wanted:
                began = time.perf_counter()
                kernel = kernel_of(Choice.plain(policy), 0)
                yield name, hook, kernel.python is None, time.perf_counter() - began
