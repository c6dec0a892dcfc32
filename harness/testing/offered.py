"""Which policies a plugin file, a folder, or an installed distribution offers."""

from importlib.metadata import entry_points
from pathlib import Path

from harness import bundled
from harness.errors import HarnessError, did_you_mean
from harness.plugins import ENTRY_POINTS, plugins
from harness.policy import KINDS, Policy


def offered(what: str) -> tuple[tuple[str, ...], list[Policy]]:
    """What `plugins` must name for `what` to be found, and the policies it offers."""
    path = Path(what)
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    points = entry_points(group=ENTRY_POINTS)
    paths: tuple[str, ...] = ()
    if files and path.resolve().is_relative_to(bundled.folder("plugins").resolve()):
        origins = {str(bundled.folder("plugins") / file.name) for file in files}
    elif files:
        paths, origins = (what,), {str(file) for file in files}
    else:
        origins = {f"the entry point {p.name!r}" for p in points if what in (p.name, p.dist and p.dist.name)}
    if not origins:
        known = {point.name for point in points}
        raise HarnessError(
            f"{what}: expected a plugin file, a folder of them, or the name of an installed plugin (a distribution is "
            f"installed first, as with pip install --editable); {did_you_mean(what, known)}"
        )
    loaded = plugins(*paths)
    found = []
    for hook in KINDS:
        for implementation in getattr(loaded.manager.hook, hook).get_hookimpls():
            if loaded.origins[id(implementation.plugin)] in origins:
                names = {policy.name for policy in implementation.function()}
                found += [policy for name, policy in loaded.policies[hook].items() if name in names]
    if not found:
        raise HarnessError(f"{what}: offers no policies: expected functions like order_queue, marked with hookimpl")
    return paths, found
