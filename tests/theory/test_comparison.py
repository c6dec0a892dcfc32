"""The simulator agrees with every closed form, and the published table is what it gives."""

import json

import pytest
from typer.testing import CliRunner

from harness.cli.study_command import load
from harness.cli.theory_command import app
from harness.disk.bundled import folder
from harness.errors import HarnessError

theory = load("theory")
Comparison, Subject, compare_all, comparisons = (
    theory.Comparison,
    theory.Subject,
    theory.compare_all,
    theory.comparisons,
)

AGREES, DIFFERS = Comparison("a", "s", 1.0, 1.1, 0.9, 1.3), Comparison("b", "s", 1.0, 1.1, 1.05, 1.15)


@pytest.fixture(scope="session")
def compared():
    """Every comparison at full length, made once."""
    return {comparison.name: comparison for comparison in compare_all()}


@pytest.mark.parametrize("name", comparisons())
def test_simulator_agrees_with_theory(compared, name):
    comparison = compared[name]
    assert comparison.agrees, comparison
    assert comparison.low <= comparison.simulated <= comparison.high


def test_intervals_are_narrow_enough_to_tell(compared):
    """An interval that holds everything shows nothing: only the rarest wait is known no better than to a quarter."""
    wide = {c.name for c in compared.values() if c.expected and c.high - c.low > 0.25 * c.expected}
    assert wide == {"M/M/16 at 50 %"}


def test_published_table_is_what_the_simulator_gives(compared):
    page = (folder("reports") / "theory.md").read_text(encoding="utf-8")
    assert theory.comparison_table(compared.values(), "markdown") in page


def test_comparison_alone_gives_the_same_numbers(compared):
    name = "M/M/4 at 80 %"
    assert comparisons()[name](Subject()) == compared[name]


def test_nonsense_scale_is_refused():
    with pytest.raises(HarnessError, match="scale is 0; it must be"):
        compare_all(scale=0)


@pytest.mark.parametrize(("answer", "status"), [([AGREES], 0), ([AGREES, DIFFERS], 1)])
def test_command_tells_by_its_exit_status(monkeypatch, answer, status):
    monkeypatch.setattr(theory, "compare_all", lambda: answer)
    result = CliRunner().invoke(app, ["compare", "--format", "json"])
    assert result.exit_code == status
    assert [row["agrees"] for row in json.loads(result.output)] == [c.agrees for c in answer]


def test_command_refuses_an_unknown_format_before_it_simulates():
    with pytest.raises(HarnessError, match="did you mean 'markdown'"):
        CliRunner().invoke(app, ["compare", "--format", "markdow"], catch_exceptions=False)
