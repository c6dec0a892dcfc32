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
from harness.policy import Choice, Policy
from harness.run import extra_measures
from harness.version import engine_version, fingerprint

_HARNESS = Path(__file__).resolve().parent.parent

#: What turns a schedule into measures; what it says of one schedule may change from version to version.
_MEASURING = ("results/metrics.py", "results/schedule.py")


def made_with(chosen: Mapping[str, Choice], plugins: Iterable[str] = ()) -> dict[str, Any]:
    """The versions of everything that makes a schedule and its measures: engine, policies, measures."""
    return {
        "engine": engine_version(),
        "measures": [source_version(*_MEASURING), *map(_measure, extra_measures(plugins))],
        "policies": {part: [choice.values, _version(choice.policy)] for part, choice in chosen.items()},
    }


def identity(workload: str, variation: int, platform: str, seed: int, versions: Mapping[str, Any]) -> str:
    """The identity of a run, from the digests of its workload and platform."""
    # A variation follows from the workload, its number and how variations are made: it need not be made to be named.
    drawn = [variation, way_of_resampling()] if variation else None
    parts = [workload, drawn, platform, seed, versions, source_version("results/adequacy.py")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def way_of_resampling() -> str:
    """A short digest of how variations are drawn."""
    module = inspect.getmodule(harness.resample)
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()[:12]  # type: ignore[arg-type]


@cache
def source_version(*files: str) -> str:
    """A short digest of some of the harness's own source files."""
    digest = hashlib.sha256()
    for name in files:
        digest.update((_HARNESS / name).read_bytes())
    return digest.hexdigest()[:12]


@cache
def _version(policy: Policy) -> list[str]:
    """A policy's function, and what it declares about it: whether it preempts, say."""
    declared = {field.name: getattr(policy, field.name) for field in fields(policy) if field.name != "function"}
    return [policy.hook, fingerprint(policy.function), repr(declared)]


def _measure(measure: Any) -> list[str]:
    return [measure.name, fingerprint(measure.function)]
