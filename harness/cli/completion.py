"""What a shell completes: policies, workloads, platforms, fields, formats and measures, from what is installed.

Each function gets what is typed so far and returns what it may become. What fails completes nothing: the command
itself says what is wrong.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

Completion = Callable[[str], list[str]]


def completing(names: Callable[[], Iterable[str]]) -> Completion:
    """Return what completes to one of `names`, which are asked for when something is completed."""

    def complete(incomplete: str) -> list[str]:
        with suppress(Exception):
            return [name for name in names() if name.startswith(incomplete)]
        return []

    return complete


def policies(hook: str) -> Completion:
    """Return what completes to a policy of a hook."""

    def names() -> Iterable[str]:
        from harness.policy.registry import plugins

        return plugins().policies[hook]

    return completing(names)


@completing
def workloads() -> Iterable[str]:
    """Return the logs that there are, and the generators."""
    from harness.workload.catalogue import catalogue

    return ["lublin", "poisson", *catalogue()]


@completing
def platforms() -> Iterable[str]:
    """Return the bundled platforms."""
    from harness.platform.finding import bundled_platforms

    return bundled_platforms()


@completing
def fields() -> Iterable[str]:
    """Return the bundled fields."""
    from harness.experiment.field_reading import bundled_fields

    return bundled_fields()


@completing
def measures() -> Iterable[str]:
    """Return the measures."""
    from harness.results.measures import MEASURES

    return MEASURES


@completing
def formats() -> Iterable[str]:
    """Return the formats of tables."""
    from harness.present.tables import FORMATS

    return FORMATS
