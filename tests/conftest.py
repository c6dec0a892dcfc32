"""What all tests share."""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings
from shared.gates import Bench
from shared.quick_tests import leave_out
from shared.small_fields import turn

import harness
from harness.disk import child_process
from harness.policy import registry

# Whoever runs the tests in the background ignores Ctrl-C, and all that we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


# How long an example takes is no property of ours: the first one of a process compiles and imports. Where a change is
# judged, everybody's tests see the same examples; at home they look for new ones.
settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make test` and of a run in another order: no test may need another before it."""
    parser.addoption("--quick", action="store_true", help="leave out slow tests, most examples and most cases")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in an order drawn by lot")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests, in the same way in every worker, and leave out what `--quick` leaves out."""
    if config.getoption("--quick"):
        leave_out(config, items)
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: packed ones contain the time, and every worker must collect the same tests."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a process that has loaded no plugin but the bundled ones: runs record which there are."""
    monkeypatch.setattr(registry, "loaded", [])


@pytest.fixture(autouse=True, scope="module")
def nothing_loaded_for_a_module() -> Iterator[None]:
    """Make what the tests of a module share in such a process, too: collecting other modules may have loaded some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "loaded", [])
        yield


@pytest.fixture
def children_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that the harness starts run plain Python: they need not compile. This process stays as it is."""

    def start(command: list[str], *, env: dict[str, str], **how: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(command, env=env | {"NUMBA_DISABLE_JIT": "1"}, **how)

    names = {name: getattr(subprocess, name) for name in ("PIPE", "DEVNULL", "TimeoutExpired")}
    monkeypatch.setattr(child_process, "subprocess", SimpleNamespace(**names, Popen=start))


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
