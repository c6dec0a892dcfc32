"""The identity of a run: one hash of all that determines its result. Runs of equal identity are simulated once."""

import hashlib
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import harness
from harness.experiment.stand_ins import StandIn
from harness.numba_support.fingerprint import engine_version, fingerprint, is_own
from harness.policy import registry
from harness.policy.kinds import Policy, functions_of
from harness.policy.scheduler import SLURM
from harness.policy.spec import Choice
from harness.policy.timing import DecisionTiming
from harness.results.measures import extra_measures
from harness.slurm.slurm_scheduler import SlurmScheduler
from harness.workload.signals import Signal

_HARNESS = Path(__file__).resolve().parent.parent

#: The sources that compute measures: a version may compute other measures from the same schedule.
_MEASURING = ("results/measures/*.py", "results/adequacy*.py", "results/job_outcomes.py", "results/schedule.py")


def versions_of(chosen: Mapping[str, Choice], plugins: Iterable[str] = ()) -> dict[str, Any]:
    """Return the versions of everything that makes a schedule and its measures: engine, policies, measures."""
    own = chosen["start"].queues if "start" in chosen else ()
    others = plugins_of(chosen)
    return {
        "engine": engine_version(),
        "measures": [source_version(*_MEASURING), *map(digest_of_measure, extra_measures(plugins))],
        "policies": {
            part: [thing for one in choice.chain for thing in (one.values, digests_of_policy(one.policy))]
            for part, choice in chosen.items()
        },
        # Any loaded plugin can change any part of the process, so another set of plugins means other results.
        **({"plugins": others} if others else {}),
        # The order of the queues matters, and the names of their policies do not contain it.
        **({"queues": list(map(str, own))} if own else {}),
        **({SLURM: [chosen.digest, source_version("slurm/*.py")]} if isinstance(chosen, SlurmScheduler) else {}),
    }


def plugins_of(chosen: Mapping[str, Choice]) -> list[list[str]]:
    """Return the name and the source digest of each plugin in the process of a run, without the bundled ones.

    These are all plugins that this process has ever loaded. If stand-ins replace them, each run has a process of its
    own, which loads the plugins of its policies and those with measures.
    """
    used = {id(choice.policy) for part in chosen.values() for choice in part.chain}
    there = [
        (name, plugin) for name, plugin in registry.loaded if not isinstance(plugin, StandIn) or plugin.is_needed(used)
    ]
    return [list(pair) for pair in sorted({(name, plugin_digest(plugin)) for name, plugin in there})]


@cache
def plugin_digest(plugin: Any) -> str:
    """Return a short digest of a plugin's source: its file, and the author's own modules that it imports."""
    if isinstance(plugin, StandIn):
        return plugin.digest
    if isinstance(plugin, Policy):
        return hashlib.sha256(repr(digests_of_policy(plugin)).encode()).hexdigest()[:12]
    module = plugin if isinstance(plugin, ModuleType) else sys.modules[type(plugin).__module__]
    digest = hashlib.sha256()
    for path in sorted(_own_files(module)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _own_files(module: ModuleType) -> set[Path]:
    """Return the files of a module, and of the same author's modules that its globals come from."""
    package, found, left = module.__name__.partition(".")[0], set(), [module]
    while left:
        one = left.pop()
        path = Path(getattr(one, "__file__", None) or "/nonexistent")
        if path in found or not path.is_file():
            continue
        found.add(path)
        for thing in list(vars(one).values()):
            other: Any = thing if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
            other = sys.modules.get(other) if isinstance(other, str) else other
            if isinstance(other, ModuleType) and (is_own(other) or other.__name__.partition(".")[0] == package):
                left.append(other)
    return found


def identity(
    workload: str,
    variation: int,
    platform: str,
    seed: int,
    versions: Mapping[str, Any],
    timing: DecisionTiming | None = None,
    signal: Signal | None = None,
) -> str:
    """Return the identity of a run, from the digests of its workload and platform."""
    # The workload, the number and the method of resampling determine a variation; its jobs need not be drawn here.
    drawn = [variation, resampling_digest()] if variation else None
    parts = [workload, drawn, platform, seed, versions]
    if timing and not timing.is_default:
        parts.append(timing.as_dict())
    if signal is not None:
        parts.append(["signal", signal.digest])
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def resampling_digest() -> str:
    """Return a short digest of the source that draws variations."""
    module = inspect.getmodule(harness.resample)
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()[:12]  # type: ignore[arg-type]


@cache
def source_version(*patterns: str) -> str:
    """Return a short digest of some of the harness's own source files."""
    digest = hashlib.sha256()
    for path in (path for pattern in patterns for path in sorted(_HARNESS.glob(pattern))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def digests_of_policy(policy: Policy) -> list[str]:
    """Return the digests of a policy's functions, and its declared traits, such as whether it preempts."""
    if described := StandIn.version_of(policy):
        return described
    functions = functions_of(policy)
    made = [fingerprint(policy.fresh)] if policy.fresh else []
    told = [field.name for field in fields(policy) if field.name not in (*functions, "fresh", "readers")]
    declared = {name: getattr(policy, name) for name in told}
    return [policy.hook, *map(fingerprint, functions.values()), *made, repr(declared)]


def digest_of_measure(measure: Any) -> list[str]:
    """Return the name of a measure and the digest of its function."""
    return StandIn.version_of(measure) or [measure.name, fingerprint(measure.function)]
