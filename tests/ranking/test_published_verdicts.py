"""What reports/verdicts.md publishes is what its command gives; here the quickest lines, and what its sentences say."""

import pytest

from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.words import readable

study = load("verdicts")

ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (folder("reports") / "verdicts.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and line[1:].strip()[0].isdigit()
]


def test_every_case_has_its_line() -> None:
    known = [[str(case.schedulers), str(case.workloads), case.noise, case.truth] for case in study.cases()]
    assert [row[:4] for row in ROWS] == known


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("truth", study.TRUTHS)
def test_lines_are_what_the_command_gives(truth: str) -> None:
    line = study.line(study.Case(6, 6, "skewed", truth), 200)
    published = next(row for row in ROWS if row[:4] == ["6", "6", "skewed", truth])
    assert published == [cell if isinstance(cell, str) else readable(cell, 3) for cell in line]


def test_what_its_sentences_say() -> None:
    alarms = [float(row[4]) for row in ROWS if row[3] == "equal"]
    assert max(alarms) == 6.0
    covered = [(row, float(row[8])) for row in ROWS if row[8] != "–"]
    assert min(share for row, share in covered if row[2] != "skewed") >= 94
    assert min(share for row, share in covered if row[0] != "2") >= 95
    assert 89.9 < min(share for _, share in covered) < 93
