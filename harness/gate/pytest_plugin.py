"""A pytest plugin: a check as a fixture, and a field as tests. It imports heavy modules only when a fixture is used.

`def test_my_policy(harness_check): harness_check("gate.json")` fails, with a summary of the changes, if `harness check
gate.json` would. `pytest --harness-update` rewrites the baseline, as `--update` does, and `harness_check("gate.json",
field="gate.toml")` names the field for a new baseline. A test with the mark `@pytest.mark.harness_field("gate.toml")`
and the fixture `harness_schedule` runs once for every combination of the field, with its `harness.Schedule`. Paths are
relative to the working directory, as on the command line.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.experiment.run_matrix import RunMaker
    from harness.gate.verdict import Verdict
    from harness.results.schedule import Schedule


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --harness-update."""
    group = parser.getgroup("harness", "scheduling policies")
    group.addoption("--harness-update", action="store_true", help="write the baselines of harness_check anew")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers", "harness_field(field, plugins=()): run the test on the harness_schedule of every run of a field"
    )


@pytest.fixture
def harness_check(request: pytest.FixtureRequest) -> "Callable[..., Verdict]":
    """Return a function that runs `harness.check` with its options and fails the test unless the outcome is same or
    better.
    """
    updating = bool(request.config.getoption("--harness-update"))

    def check(baseline: str | Path, *, field: str | Path | None = None, **options: Any) -> "Verdict":
        __tracebackhide__ = True
        import harness

        if field is not None and not updating:
            if not Path(baseline).exists():
                pytest.fail(f"{baseline}: no such baseline; pytest --harness-update makes one", pytrace=False)
            field = None  # the baseline has its own
        try:
            verdict: Verdict = harness.check(baseline, field=field, update=updating, **options)
        except HarnessError as error:
            pytest.fail(str(error), pytrace=False)
        if verdict.status:
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    return check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for every combination of the field in the mark."""
    mark = metafunc.definition.get_closest_marker("harness_field")
    if mark is None or "harness_schedule" not in metafunc.fixturenames:
        return
    try:
        names, runs = zip(*_runs(*mark.args, **mark.kwargs), strict=True)
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)
    metafunc.parametrize("harness_schedule", runs, ids=names, indirect=True)


@pytest.fixture
def harness_schedule(request: pytest.FixtureRequest) -> "Schedule":
    """Simulate one run of the field in the test's mark harness_field."""
    if not hasattr(request, "param"):
        pytest.fail('harness_schedule: expected @pytest.mark.harness_field("FIELD") above the test', pytrace=False)
    runs, combination = request.param
    try:
        schedule: Schedule = runs.run(*combination).simulate()
        return schedule
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)


def _runs(
    field: str | Path, plugins: str | Path | Iterable[str | Path] = ()
) -> "Iterable[tuple[str, tuple[RunMaker, Any]]]":
    """Yield the name of each combination of a field, and the data for its run."""
    from harness.experiment.field_reading import read_field
    from harness.experiment.run_matrix import RunMaker
    from harness.policy.scheduler import Scheduler

    paths = (str(plugins),) if isinstance(plugins, str | Path) else tuple(map(str, plugins))
    runs = RunMaker(read_field(field, plugins=paths), paths)
    for number, variation, platform, seed, scheduler in runs.field.combinations():
        source = runs.field.workloads[number]
        words = [source.name or source.source, *([f"variation {variation}"] if variation else [])]
        policies = [value for part, value in vars(scheduler).items() if value != getattr(Scheduler(), part)]
        words += [f"on {platform}", " + ".join(policies) or "default", f"seed {seed}"]
        yield ", ".join(words), (runs, (number, variation, platform, seed, scheduler))
