"""Shell completion of policies, workloads, platforms, fields, formats and measures.

A completion takes the text so far and returns the names that begin with it. An error completes nothing: running the
command prints the message. Modules are imported when the user asks for a completion.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

Completion = Callable[[str], list[str]]


def complete_from(names: Callable[[], Iterable[str]]) -> Completion:
    """Return a completion to one of `names()`."""

    def complete(incomplete: str) -> list[str]:
        with suppress(Exception):
            return [name for name in names() if name.startswith(incomplete)]
        return []

    return complete


def _from(module: str, attribute: str, *more: str) -> Completion:
    """Return a completion to `more` names and those of an attribute, which may be a function."""

    def names() -> list[str]:
        found: Any = getattr(import_module(f"harness.{module}"), attribute)
        return [*more, *(found() if callable(found) else found)]

    return complete_from(names)


def policies(hook: str) -> Completion:
    """Return a completion to the policies of a hook."""
    return complete_from(lambda: import_module("harness.policy.registry").plugins().policies[hook])


workloads = _from("workload.catalogue", "catalogue", "lublin", "poisson")
platforms = _from("platform.finding", "bundled_platforms")
fields = _from("experiment.field_reading", "bundled_fields")
measures = _from("results.measures", "MEASURES")
formats = _from("present.tables", "FORMATS")
