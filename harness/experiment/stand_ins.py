"""Descriptions of plugins, and stand-in objects made of them, for a process that must not import the plugins."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from typing import Any

from harness.errors import HarnessError
from harness.policy.hooks import hookimpl
from harness.policy.kinds import KINDS, Policy, Prefer
from harness.policy.registry import PluginSource
from harness.policy.table import Table
from harness.results.measures import Measure

_MEASURES = "score_schedule"
_KINDS: dict[str, type[Policy]] = {kind.__name__: kind for kind in (*KINDS.values(), Prefer)}


class StandIn:
    """Replaces a plugin that another process has loaded: its policies and measures can be named but not called."""

    def __init__(self, source: PluginSource, described: dict[str, Any]) -> None:
        self.__name__, self.origin = source.name, source.origin
        self.digest = str(described["digest"])
        self.measures = [_measure(one, source) for one in described["measures"]]
        offered: dict[str, list[Any]] = {_MEASURES: self.measures} if self.measures else {}
        for one in described["policies"]:
            policy = _policy(one, source)
            offered.setdefault(policy.hook, []).append(policy)
        self.policies = {id(policy) for hook, listed in offered.items() if hook != _MEASURES for policy in listed}
        for hook, listed in offered.items():
            setattr(self, hook, hookimpl(_returning(listed)))

    def is_needed(self, used: Iterable[int]) -> bool:
        """Return whether a run needs the plugin: it has measures, or one of the `used` policies, given by their ids."""
        return bool(self.measures) or not self.policies.isdisjoint(used)

    @staticmethod
    def version_of(one: Policy | Measure) -> list[str]:
        """Return the digests of the functions of a policy or measure of a stand-in; empty for others."""
        version: list[str] = getattr(one.function, "described_version", [])
        return version


def describe(plugin: Policy | Measure, version: list[str]) -> dict[str, Any]:
    """Return the traits of a policy or a measure that JSON can represent."""
    traits = {field.name: getattr(plugin, field.name) for field in fields(plugin)}
    found: dict[str, Any] = {
        "kind": type(plugin).__name__,
        "version": version,
        "meaning": plugin.function.__doc__ or "",
    }
    found["traits"] = {name: value for name, value in traits.items() if _plain(value)}
    if isinstance(plugin, Policy):
        found |= {"parameters": plugin.parameters, "extras": plugin.extras, "readers": list(plugin.readers)}
    return found


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(name, str) and _plain(one) for name, one in value.items())
    return isinstance(value, str | bool | int | float)


def _policy(described: dict[str, Any], source: PluginSource) -> Policy:
    """Return a policy with the described traits. Its plugin has checked them, so they are not checked again."""
    kind = _KINDS[described["kind"]]
    policy = object.__new__(kind)
    parameters = {name: _number_or_table(value) for name, value in described["parameters"].items()}
    known: dict[str, Any] = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(kind)
    }
    known |= {name: value for name, value in described["traits"].items() if name in known}
    known |= {"function": _refusing(described, source), "parameters": parameters, "extras": tuple(described["extras"])}
    known["readers"] = dict.fromkeys(described["readers"], _refuse_to_read)
    known["rising"] = tuple(map(tuple, known["rising"]))
    for name, value in known.items():
        object.__setattr__(policy, name, value)
    return policy


def _measure(described: dict[str, Any], source: PluginSource) -> Measure:
    names = {field.name for field in fields(Measure)}
    traits = {name: value for name, value in described["traits"].items() if name in names}
    return Measure(**traits, function=_refusing(described, source))


def _number_or_table(value: Any) -> Any:
    return Table(value) if isinstance(value, list) else value


def _returning(listed: list[Any]) -> Callable[[], list[Any]]:
    return lambda: listed


def _refusing(described: dict[str, Any], source: PluginSource) -> Callable[..., Any]:
    """Return a function that replaces one of the plugin's and raises an error."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise HarnessError(f"{source.origin}: not loaded in this process (--isolate)")

    refuse.__doc__ = str(described["meaning"])
    refuse.described_version = list(described["version"])  # type: ignore[attr-defined]
    return refuse


def _refuse_to_read(path: str) -> list[float]:
    raise HarnessError(f"{path}: the plugin reads this file itself: expected the numbers, or no --isolate")
