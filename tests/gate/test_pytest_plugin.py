"""The pytest plugin, in suites of somebody else's."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from shared.gates import FIRST_COME, LAST_COME, Bench
from shared.heavy_imports import HEAVY

pytest_plugins = "pytester"

#: Where the package is installed the entry point has loaded it; twice is refused.
LOADED = [] if "harness" in entry_points(group="pytest11").names else ["-p", "harness.gate.pytest_plugin"]

CHECKED = """
def test_my_policy(harness_check):
    verdict = harness_check("gate.json", field="gate.toml", plugins=["mine.py"])
    assert verdict.counts == {"same": 8} or verdict.written == 8
"""

SWEPT = """
import pytest

@pytest.mark.harness_field("gate.toml", plugins="mine.py")
def test_nobody_starves(harness_schedule):
    assert harness_schedule.measures()["max_wait"] < 1e9
    assert "easy" in harness_schedule.scheduler["start"], "no backfilling"
"""

#: How pytest shows where something was raised; a verdict is no such thing.
OUR_LINES = "E   *"

UNUSED = """
import pytest

@pytest.mark.harness_field("gate.toml", plugins="mine.py")
def test_something_else():
    pass
"""


def suite(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(text)
    return pytester.runpytest_subprocess(*LOADED, "--strict-markers", *arguments)


@pytest.mark.slow
def test_a_check_as_a_fixture(pytester: pytest.Pytester) -> None:
    bench = Bench(pytester.path)
    result = suite(pytester, CHECKED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*gate.json: no such baseline; pytest --harness-update makes one"])
    result.stdout.no_fnmatch_line(OUR_LINES)
    suite(pytester, CHECKED, "--harness-update").assert_outcomes(passed=1)

    bench.decide(LAST_COME)
    result = suite(pytester, CHECKED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["gate.json: 8 runs: 4 worse, 4 the same", "*The first to differ is job*"])
    result.stdout.no_fnmatch_line(OUR_LINES)
    suite(pytester, CHECKED, "--harness-update").assert_outcomes(failed=1)
    suite(pytester, CHECKED, "--harness-update").assert_outcomes(passed=1)

    bench.decide(FIRST_COME)
    bench.baseline.write_text("no JSON")
    result = suite(pytester, CHECKED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["gate.json: cannot be read as a baseline*"])
    result.stdout.no_fnmatch_line(OUR_LINES)


def test_a_field_as_tests(pytester: pytest.Pytester) -> None:
    Bench(pytester.path)
    result = suite(pytester, SWEPT, "-v")
    result.assert_outcomes(passed=4, failed=4)
    result.stdout.fnmatch_lines(["*test_nobody_starves?lublin(*), on log, mine, seed 0? PASSED*"])
    result.stdout.fnmatch_lines(["*no backfilling*"])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("gate.toml", "nowhere.toml"), "*nowhere.toml: no such field*"),
        (('"gate.toml", plugins="mine.py"', '"gate.toml"'), "*there is no order policy 'mine'*"),
        (('@pytest.mark.harness_field("gate.toml", plugins="mine.py")\n', ""), "*expected @pytest.mark.harness_field*"),
    ],
)
def test_a_field_that_cannot_be_is_a_sentence(pytester: pytest.Pytester, change: tuple[str, str], words: str) -> None:
    Bench(pytester.path)
    result = suite(pytester, SWEPT.replace(*change))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([words])


def test_a_mark_above_a_test_that_takes_no_schedule_changes_nothing(pytester: pytest.Pytester) -> None:
    suite(pytester, UNUSED).assert_outcomes(passed=1)


def test_it_costs_nothing_until_it_is_used() -> None:
    code = f"import harness.gate.pytest_plugin, sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []
