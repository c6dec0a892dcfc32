"""Numbers beyond what an integer or a float can hold are refused. None becomes another number."""

from pathlib import Path

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.present.numerals import integer
from harness.results.adequacy_scale import root_mean_square
from harness.results.guarantee_check import verify
from harness.workload.content import whole_numbers
from harness.workload.describe import describe
from harness.workload.log import SWF_COLUMNS

LINE = ["1", "10", "5", "100", "4", "-1", "-1", "4", "200", "-1", "1", "7", "8", "9", "2", "3", "-1", "-1"]
#: Columns whose numbers a replay keeps as integers.
WHOLE = ("job", "procs", "user", "group", "queue", "partition", "status")


@pytest.mark.parametrize("value", ["1e30", "1e300", "-1e30", "1e17", "1.5e308", "9223372036854775807"])
@pytest.mark.parametrize("column", SWF_COLUMNS)
def test_a_large_number_in_any_column(tmp_path: Path, column: str, value: str) -> None:
    """Warnings are errors in the tests: a cast of a number that is too large would be one."""
    cells = [value if name == column else cell for name, cell in zip(SWF_COLUMNS, LINE, strict=True)]
    (tmp_path / "log.swf").write_text(f"; MaxProcs: 8\n{' '.join(cells)}\n{' '.join(LINE)}\n")
    log = harness.read_swf(tmp_path / "log.swf", cache=False)
    describe(log, None)
    try:
        workload = harness.prepare(log)
    except HarnessError as error:
        assert "expected" in str(error) or "no jobs are left" in str(error)  # noqa: PT017
        return
    kept = workload.jobs.iloc[0]
    if column in WHOLE and len(workload) == 2 and not (column == "procs" and float(value) < 0):  # unknown
        assert float(kept[column if column != "status" else "logged_status"]) == float(value)


@pytest.mark.parametrize("option", ["width", "load", "seconds_at"])
@pytest.mark.parametrize("factor", [1e308, 1e-308, 1e300])
def test_a_large_factor(option: str, factor: float) -> None:
    log = harness.lublin(jobs=9, procs=8, seed=1)
    try:
        workload = harness.prepare(log, **{option: factor})
    except HarnessError as error:
        assert "as read or as scaled" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(workload.jobs[["submit", "procs", "work"]].to_numpy()).all()


@pytest.mark.parametrize("value", [1e30, -1e17, 2.0**53, 1.5, np.nan, np.inf, -np.inf])
def test_a_float_becomes_an_integer_only_where_that_is_exact(value: float) -> None:
    with pytest.raises(HarnessError, match=r"column 'user' of job 7 is .*; expected a whole number below 9e\+15"):
        whole_numbers(np.array([3.0, value]), "column 'user' of job", [5, 7])
    assert whole_numbers(np.array([3.0, -(2.0**53) + 1]), "a number").tolist() == [3, -(2**53) + 1]


@pytest.mark.parametrize(
    "value", [1.5, 1e300, 2**63, "2.0", "1e3", "12abc", "1_0", "", "٣", True, None, [], float("nan")]
)
def test_what_is_no_whole_number_of_an_input_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a whole number of 64 bits"):
        integer(value)


@pytest.mark.parametrize(("value", "number"), [(7, 7), (7.0, 7), ("7", 7), ("-7", -7), (-(2**63), -(2**63))])
def test_whole_numbers_of_an_input(value: object, number: int) -> None:
    assert integer(value) == number


@pytest.mark.parametrize("job", ["", "nan", "inf", "1e300", "-1e300"])
def test_a_schedule_with_an_impossible_job_number_is_verified_without_a_warning(tmp_path: Path, job: str) -> None:
    rows = [f"{job},0,0,5,1,0,5", "2,1,1,6,1,0,5"]
    (tmp_path / "s.csv").write_text("job,submit,start,end,procs,wait,run\n" + "\n".join(rows) + "\n")
    try:
        verify(harness.read_workload(tmp_path / "s.csv"), "conservative", procs=4)
    except HarnessError as error:
        assert "job" in str(error)  # noqa: PT017


def test_the_square_of_a_very_late_time_is_infinite_without_a_warning() -> None:
    assert root_mean_square(np.array([1e308, 0.0])) == np.inf


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"nb_res": 4, "jobs": 7, "profiles": {}}', "a value is of another type than expected"),
        ('{"nb_res": "a", "jobs": [], "profiles": {}}', "; 'a' is not a whole number of 64 bits"),
        ('{"nb_res": 4, "jobs": [{"id": 1}], "profiles": {}}', "'profile' is missing"),
        ('{"jobs": [{"type": "rigid"}]}', "'arguments' is missing"),
        ('{"jobs": [5]}', "a value is of another type than expected"),
    ],
)
def test_no_message_names_an_error_of_python(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "w.json").write_text(text)
    read = harness.read_elastisim if "nb_res" not in text else harness.read_batsim
    with pytest.raises(HarnessError) as told:
        read(tmp_path / "w.json")
    assert complaint in str(told.value)
    assert "Error" not in str(told.value)
