"""Shell completion of policies, workloads, platforms, fields, formats and measures.

Each function takes the text so far and returns its completions. An error completes nothing: running the command
prints the message.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

Completion = Callable[[str], list[str]]


def complete_from(names: Callable[[], Iterable[str]]) -> Completion:
    """Return a completion to one of `names()`. The function is called when the user asks for a completion."""

    def complete(incomplete: str) -> list[str]:
        with suppress(Exception):
            return [name for name in names() if name.startswith(incomplete)]
        return []

    return complete


def policies(hook: str) -> Completion:

    def names() -> Iterable[str]:
        from harness.policy.registry import plugins

        return plugins().policies[hook]

    return complete_from(names)


@complete_from
def workloads() -> Iterable[str]:
    from harness.workload.catalogue import catalogue

    return ["lublin", "poisson", *catalogue()]


@complete_from
def platforms() -> Iterable[str]:
    from harness.platform.finding import bundled_platforms

    return bundled_platforms()


@complete_from
def fields() -> Iterable[str]:
    from harness.experiment.field_reading import bundled_fields

    return bundled_fields()


@complete_from
def measures() -> Iterable[str]:
    from harness.results.measures import MEASURES

    return MEASURES


@complete_from
def formats() -> Iterable[str]:
    from harness.present.tables import FORMATS

    return FORMATS
