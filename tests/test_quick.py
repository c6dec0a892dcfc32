"""`pytest --quick` leaves out slow tests, most cases and most examples; without it, all of them are run."""

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

COUNTS = {"usual": 0, "by hand": 0, "few": 0}
SEEN = set()

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.parametrize("case", range(40))
def test_cases(case): pass

@pytest.mark.quick_cases(30)
@pytest.mark.parametrize("case", range(40))
def test_many_cases(case): pass

@given(st.floats())
def test_usual(number): COUNTS["usual"] += 1

@settings(max_examples=300)
@given(st.floats())
@example(7.25)
def test_by_hand(number):
    COUNTS["by hand"] += 1
    SEEN.add(number)

@settings(max_examples=3)
@given(st.floats())
def test_few(number): COUNTS["few"] += 1

def test_counts():
    print("counted", *COUNTS.values(), 7.25 in SEEN)
"""
CONFTEST = """
from shared.quick_tests import leave_out

def pytest_addoption(parser): parser.addoption("--quick", action="store_true")

def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"): leave_out(config, items)
"""


@pytest.mark.parametrize(
    ("options", "passed", "counted"),
    [
        # 5 and 30 cases, three property tests, the counts; the listed example is run besides the drawn ones
        (["--quick"], 5 + 30 + 4, "counted 10 31 3 True"),
        ([], 1 + 40 + 40 + 4, "counted 100 301 3 True"),
    ],
)
def test_what_is_left_out(pytester: pytest.Pytester, options: list[str], passed: int, counted: str) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    quick_cases")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-s", "-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=passed, deselected=85 - passed)
    result.stdout.fnmatch_lines([f"*{counted}*"])


def test_the_same_cases_are_drawn_every_time(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    quick_cases")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    listed = [
        pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider", "--quick").outlines[:-2]
        for _ in range(2)
    ]
    assert listed[0] == listed[1]
    assert len([line for line in listed[0] if "test_cases[" in line]) == 5
