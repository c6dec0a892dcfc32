"""What all tests share."""

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gates import Bench
from hypothesis import is_hypothesis_test, settings
from small_fields import turn

import harness
from harness.policy import registry

# Whoever runs the tests in the background ignores Ctrl-C, and all that we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


# How long an example takes is no property of ours: the first one of a process compiles and imports. Where a change is
# judged, everybody's tests see the same examples; at home they look for new ones.
settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("untimed")


#: `make test` runs one in so many examples of each property test, and at least so many of them …
ONE_IN, AT_LEAST = 10, 5
#: … and so many cases of a parametrized test, where the marker `quick_cases` does not give another number.
CASES = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make test` and of a run in another order: no test may need another before it."""
    parser.addoption("--quick", action="store_true", help="leave out slow tests, most examples and most cases")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in an order drawn by lot")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests, in the same way in every worker, and leave out what `--quick` leaves out."""
    if config.getoption("--quick"):
        kept = set(quick(items))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
        for test in {item.obj for item in items if is_hypothesis_test(getattr(item, "obj", None))}:  # type: ignore[attr-defined]
            run_fewer_examples(test)
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)


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


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: packed ones contain the time, and every worker must collect the same tests."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a process that has loaded no plugin but the bundled ones: runs record which there are."""
    monkeypatch.setattr(registry, "loaded", [])


@pytest.fixture
def data() -> Path:
    """The folder with the real logs, given by `HARNESS_DATA`."""
    return real_logs()


def real_logs() -> Path:
    """Return the folder with the real logs; skip the test if there is none."""
    place = os.environ.get("HARNESS_DATA", "").split(os.pathsep)[0]
    if not Path(place or "/nonexistent").is_dir():
        pytest.skip("the real logs are not here: set HARNESS_DATA to their folder")
    return Path(place)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `data` where the data is not, also what reads it by name and not by the fixture."""
    if item.get_closest_marker("data"):
        real_logs()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A field, a policy and no baseline yet."""
    return Bench(tmp_path)


@pytest.fixture
def made(bench: Bench) -> Bench:
    """A field, a policy, and a baseline of both."""
    bench.make()
    return bench


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variations are turned logs."""
    monkeypatch.setitem(vars(harness), "resample", turn)
