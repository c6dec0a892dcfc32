"""What decides a run's result, as one hash: equal identities need not be simulated twice."""

import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import harness
from harness.compile.fingerprint import engine_version, fingerprint
from harness.policy.kinds import Policy, functions_of
from harness.policy.scheduler import SLURM
from harness.policy.spec import Choice
from harness.policy.timing import Timing
from harness.results.measures import extra_measures
from harness.slurm.slurm_scheduler import SlurmScheduler
from harness.workload.signals import Signal

_HARNESS = Path(__file__).resolve().parent.parent

#: What turns a schedule into measures; what it says of one schedule may change from version to version.
_MEASURING = ("results/measures/*.py", "results/adequacy*.py", "results/endings.py", "results/schedule.py")


def made_with(chosen: Mapping[str, Choice], plugins: Iterable[str] = ()) -> dict[str, Any]:
    """Return the versions of everything that makes a schedule and its measures: engine, policies, measures."""
    own = chosen["start"].queues if "start" in chosen else ()
    return {
        "engine": engine_version(),
        "measures": [source_version(*_MEASURING), *map(_measure, extra_measures(plugins))],
        "policies": {
            part: [thing for one in choice.chain for thing in (one.values, _version(one.policy))]
            for part, choice in chosen.items()
        },
        # Who of them is asked first: their policies alone, by name, do not say.
        **({"queues": list(map(str, own))} if own else {}),
        **({SLURM: [chosen.digest, source_version("slurm/*.py")]} if isinstance(chosen, SlurmScheduler) else {}),
    }


def identity(
    workload: str,
    variation: int,
    platform: str,
    seed: int,
    versions: Mapping[str, Any],
    timing: Timing | None = None,
    signal: Signal | None = None,
) -> str:
    """Return the identity of a run, from the digests of its workload and platform."""
    # A variation follows from the workload, its number and how variations are made: it need not be made to be named.
    drawn = [variation, way_of_resampling()] if variation else None
    parts = [workload, drawn, platform, seed, versions]
    if timing and not timing.usual:
        parts.append([timing.instants, timing.words])
    if signal is not None:
        parts.append(["signal", signal.digest])
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def way_of_resampling() -> str:
    """Return a short digest of how variations are drawn."""
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
def _version(policy: Policy) -> list[str]:
    """Return the digests of a policy's functions, and what the policy declares: whether it preempts, say."""
    functions = functions_of(policy)
    made = [fingerprint(policy.fresh)] if policy.fresh else []
    told = [field.name for field in fields(policy) if field.name not in (*functions, "fresh", "readers")]
    declared = {name: getattr(policy, name) for name in told}
    return [policy.hook, *map(fingerprint, functions.values()), *made, repr(declared)]


def _measure(measure: Any) -> list[str]:
    return [measure.name, fingerprint(measure.function)]
