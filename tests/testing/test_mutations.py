"""The published study of planted faults is what its command writes, and the checks miss next to nothing."""

import pytest
from mutations import FAULTS, REPORT, ROOT, report, study


def test_every_fault_can_still_be_planted():
    assert len(FAULTS) == 30
    for fault in FAULTS:
        assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1, fault.what


@pytest.mark.study
def test_at_least_28_of_30_faults_are_caught_as_published():
    rows = study()
    assert sum(bool(check or differ) for _, _, check, differ in rows) >= 28
    assert report(rows) == REPORT.read_text(encoding="utf-8")
