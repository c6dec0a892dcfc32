"""Find the policies of a plugin file, a folder, or an installed distribution."""

from importlib.metadata import entry_points
from pathlib import Path

from harness.disk import bundled
from harness.errors import HarnessError, did_you_mean
from harness.policy.gallery import examples
from harness.policy.kinds import KINDS, Policy
from harness.policy.registry import ENTRY_POINTS, plugins


def offered_policies(what: str) -> tuple[tuple[str, ...], list[Policy]]:
    """Return the paths that `plugins` needs to load `what`, and the policies that it offers."""
    points = entry_points(group=ENTRY_POINTS)
    path = Path(what)
    if not path.exists() and what in examples() and not any(what in (p.name, p.dist and p.dist.name) for p in points):
        path = examples()[what]
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    bundle = bundled.folder("plugins").resolve()
    paths: tuple[str, ...] = ()
    if files and bundle in (path.resolve(), path.resolve().parent):
        origins = {str(bundled.folder("plugins") / file.name) for file in files}
    elif files:
        paths, origins = (str(path),), {str(file) for file in files}
    else:
        origins = {f"the entry point {p.name!r}" for p in points if what in (p.name, p.dist and p.dist.name)}
    if not origins:
        raise HarnessError(
            f"{what}: expected a plugin file, a folder of them, or the name of an installed plugin (a distribution is "
            f"installed first, as with pip install --editable); {did_you_mean(what, {point.name for point in points})}"
        )
    loaded = plugins(*paths)
    found = [
        loaded.policies[hook][policy.name]
        for hook, kind in KINDS.items()
        for policy, origin in loaded.offered(hook, kind)
        if origin in origins
    ]
    if not found:
        raise HarnessError(f"{what}: offers no policies: expected functions like order_queue, marked with hookimpl")
    return paths, found
