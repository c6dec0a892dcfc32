"""The published study of planted faults is what its command writes, and the checks miss next to nothing."""

import ast
from dataclasses import replace

import pytest
import rooms
from equivalent import EQUIVALENT
from mutants import mutants
from mutations import FAULTS, HEADING, REPORT, ROOT, published, report, study
from planted_faults import NotPlantedError, file_of, planted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_every_fault_can_still_be_planted(fault):
    text = (ROOT / file_of(fault, ROOT)).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(planted(fault, text))) != ast.dump(ast.parse(text))


def test_there_are_thirty_faults():
    assert len({fault.what for fault in FAULTS}) == len(FAULTS) == 30


def test_a_fault_survives_formatting_comments_and_other_functions():
    fault = replace(FAULTS[0], function="f", old="a + b", new="a - b")
    text = "def g(a, b):\n    return a + b\n\ndef f(a, b):\n    return (a   # first\n        +b)\n"
    assert planted(fault, text) == "def g(a, b):\n    return a + b\n\ndef f(a, b):\n    return a - b"


@pytest.mark.parametrize("text", ["def f(a, b):\n    return a * b\n", "def f(a, b):\n    return a + b, a + b\n"])
def test_a_fault_without_its_one_place_is_refused(text):
    with pytest.raises(NotPlantedError, match="occurs"):
        planted(replace(FAULTS[0], function="f", old="a + b", new="a - b"), text)


@pytest.mark.study
def test_all_30_faults_are_caught_as_published():
    known = published()
    for row in study():
        assert row.check or row.differ, row.what
        assert (row.check, row.differ) == (known[row.what].check, known[row.what].differ), row.what


def test_the_page_has_a_row_for_every_fault_and_all_are_caught():
    rows = [published()[fault.what] for fault in FAULTS]
    assert all(row.check or row.differ for row in rows)
    assert REPORT.read_text(encoding="utf-8").partition(HEADING)[0] == report(rows)


def test_every_fault_that_changes_nothing_can_still_be_planted_and_has_its_reason() -> None:
    for (file, old, new), reason in EQUIVALENT.items():
        assert (file, old, new) in {fault.key for fault in mutants(file, (ROOT / file).read_text(encoding="utf-8"))}
        assert reason.endswith(".")


@pytest.mark.study
def test_tests_see_95_of_100_faults() -> None:
    found = [rooms.study(room) for room in rooms.ROOMS]
    seen, missed = sum(one.seen for one in found), sum(len(one.missed) for one in found)
    assert seen >= 0.95 * (seen + missed)


def test_the_page_tells_of_every_room_and_of_95_of_100_faults() -> None:
    page = REPORT.read_text(encoding="utf-8").partition(HEADING)[2]
    assert "    python tests/testing/rooms.py\n" in page
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    counts = {row[0]: [int(cell) for cell in row[1:]] for row in rows[2 : len(rooms.ROOMS) + 3]}
    assert list(counts) == [*rooms.ROOMS, "together"]
    planted, seen, harmless, missed = counts["together"]
    assert planted == seen + harmless + missed
    assert seen >= 0.95 * (seen + missed)
