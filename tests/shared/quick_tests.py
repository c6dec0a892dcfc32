"""What `pytest --quick` leaves out, which is what `make test` calls."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

#: Of the examples of a property test, one in ten is run, and at least five are.
ONE_IN, AT_LEAST = 10, 5
#: The number of cases that are run of a parametrized test. The marker `quick_cases` gives another number.
CASES = 5


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests and most cases of parametrized tests; run fewer examples of property tests."""
    kept = set(quick(items))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]
    for test in {item.obj for item in items if is_hypothesis_test(getattr(item, "obj", None))}:  # type: ignore[attr-defined]
        run_fewer_examples(test)


def quick(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests that are not slow; of a parametrized test, some cases that are drawn by its name."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, cases in functions.items():
        wanted = next((marker.args[0] for marker in cases[0].iter_markers("quick_cases")), CASES)
        yield from random.Random(name).sample(cases, wanted) if len(cases) > wanted else cases


def run_fewer_examples(test: Any) -> None:
    """Scale the number of examples of a property test, also where the test sets it by hand."""
    usual = test._hypothesis_internal_use_settings  # hypothesis has no public way to change it
    fewer = min(usual.max_examples, max(AT_LEAST, usual.max_examples // ONE_IN))
    test._hypothesis_internal_use_settings = settings(usual, max_examples=fewer)
