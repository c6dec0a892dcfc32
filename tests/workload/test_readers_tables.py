"""Tables with named columns, and the logs of hpcwld."""

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.theory import read_job_stream
from harness.workload.delimited import read_delimited
from harness.workload.frame import log_from_frame, read_table
from harness.workload.hpcwld import is_hpcwld, read_hpcwld
from harness.workload.log import SWF_COLUMNS
from harness.workload.log_reading import read_workload
from harness.workload.prepare import prepare
from harness.workload.swf import write_swf
from harness.workload.synthetic import lublin

GOOD = "submit,run,procs\n0,5,1\n1,6.5,2\n"


def file(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Tables with the harness's own names


@settings(max_examples=30)
@given(
    columns=st.lists(st.sampled_from([c for c in SWF_COLUMNS if c not in ("submit", "run", "procs")]), unique=True),
    rows=st.integers(1, 5),
    separator=st.sampled_from(",;\t"),
    quoted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_file_is_the_frame_it_was_made_of(tmp_path_factory, columns, rows, separator, quoted, seed) -> None:
    dice = np.random.default_rng(seed)
    frame = pd.DataFrame({name: dice.integers(-1, 10**9, rows) for name in ("submit", "run", "procs", *columns)})
    frame["run"] = dice.random(rows)  # decimals, too
    folder = tmp_path_factory.mktemp("tables")
    frame.to_csv(folder / "mine.csv", index=False, sep=separator, quoting=int(quoted))
    frame.to_csv(folder / "mine.csv.gz", index=False, sep=separator)
    frame.to_parquet(folder / "mine.parquet", index=False)
    expected = log_from_frame(frame)
    for ending in ("csv", "csv.gz", "parquet"):
        log = read_workload(folder / f"mine.{ending}")
        pd.testing.assert_frame_equal(log.jobs, expected.jobs, check_exact=True)
        assert (log.name, log.digest, log.reading) == ("mine", expected.digest, ())


def test_blank_lines_and_windows_are_no_trouble(tmp_path: Path) -> None:
    path = file(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n") + "\r\n\r\n")
    assert read_table(path).jobs["run"].tolist() == [5, 6.5]


ASKING = "submit,run,procs,nodes\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mine.csv: is empty; expected a line with the names of the columns"),
        ("submit,run,procs\n", "mine.csv: has no jobs"),
        ("submit,run,proc\n1,2,3\n", "mine.csv: a log has no column 'proc': did you mean 'procs'"),
        ("submit,run,cores\n1,2,3\n", "a log has no column 'cores': did you mean 'procs'?; needed: submit, run, procs"),
        ("submit,run,procs,ID\n1,2,3,4\n", "a log has no column 'ID': did you mean 'job'?"),
        ("submit,run,procs,Walltime\n1,2,3,4\n", "a log has no column 'Walltime': did you mean 'estimate'?"),
        (
            "submit,run,procs,user\n1,2,3,ann\n",
            "'ann' is not a finite number; expected a number for each user; unknown",
        ),
        ("submit,run\n1,2\n", "mine.csv: column 'procs' is missing; needed: submit, run, procs"),
        ("submit,run,run,procs\n1,2,3,4\n", "mine.csv: the column 'run' occurs twice"),
        (GOOD + "2,long,3\n", "mine.csv: column 'run', line 4: 'long' is not a finite number; unknown is -1"),
        (GOOD + "\n2,,3\n", "mine.csv: column 'run', line 5: '' is not a finite number"),
        (GOOD + "2,inf,3\n", "mine.csv: column 'run', line 4: 'inf' is not a finite number"),
        (ASKING + "2,3,4,1.5\n", "column 'nodes', line 2: '1.5' is not a whole number of at least 0; unknown is -1"),
        (ASKING.replace("nodes", "needs_gpu") + "2,3,4,0.5\n", "'0.5' is not a whole number of at least 0"),
        (ASKING.replace("nodes", "needs_gpu") + "2,3,4,-2\n", "'-2' is not a whole number of at least 0"),
        (ASKING.replace("nodes", "procs_max") + "2,3,4,7.2\n", "'7.2' is not a whole number of at least 0"),
        (ASKING.replace("nodes", "node_memory") + "2,3,4,-7.5\n", "'-7.5' is not a number of at least 0"),
        (ASKING.replace("nodes", "exclusive") + "2,3,4,2\n", "'2' is not 0 or 1; unknown is -1"),
        (ASKING.replace("nodes", "x_after") + "2,3,4,7\n", "'7' is not 0, 1 or 2, for its end, success or start"),
        (ASKING.replace("nodes", "x_after_8") + "2,3,4,0.5\n", "'0.5' is not 0, 1 or 2, for its end"),
        (ASKING.replace("nodes", "constraint") + "2,3,4,a&\n", "column 'constraint': 'a&'; expected features like a&b"),
        (GOOD + "2,-5,3\n", "mine.csv: column 'run', line 4: '-5' is below 0; unknown is -1"),
        (GOOD + "2,3,-0.5\n", "mine.csv: column 'procs', line 4: '-0.5' is below 0; unknown is -1"),
        (GOOD + "2,3\n", "mine.csv: line 4: expected 3 cells, found 2"),
        (GOOD + "2,3,4,5\n", "mine.csv: line 4: expected 3 cells, found 4"),
        (GOOD + "2021-03-01,3,4\n", "mine.csv: column 'submit', line 4: '2021-03-01' is not a finite number"),
    ],
)
def test_bad_tables_say_what_and_where(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(HarnessError) as raised:
        read_workload(file(tmp_path, text))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lenient_skips_and_counts(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, GOOD + "2,3\n2,long,3\n7,7,7\n"), lenient=True)
    assert log.jobs["submit"].tolist() == [0, 1, 7]
    assert [step.jobs for step in log.reading] == [1, 1]
    assert ["line 4" in log.reading[0].detail, "line 5" in log.reading[1].detail] == [True, True]
    with pytest.raises(HarnessError, match="line 2"):
        read_workload(file(tmp_path, "submit,run,procs\n2,long,3\n"), lenient=True)  # nothing would be left


def test_frames_with_dates_or_nothing_known_are_refused() -> None:
    frame = pd.DataFrame({"submit": [0, 1], "run": [5, 6], "procs": [1, 2]})
    for wrong in (
        frame.assign(submit=pd.to_datetime(["2021-03-01", "2021-03-02"])),
        frame.assign(run=pd.Series([1, None], dtype="Int64")),
    ):
        with pytest.raises(HarnessError, match="is not a finite number"):
            log_from_frame(wrong)
    assert log_from_frame(frame.astype("Int64")).digest == log_from_frame(frame).digest
    assert log_from_frame(frame.astype(str)).digest == log_from_frame(frame).digest


@pytest.mark.parametrize(
    "about", [b"[]", b'{"columns": [{"name": null}]}', b'{"index_columns": ["submit"], "columns": []}']
)
def test_metadata_of_pandas_in_a_parquet_file_are_ignored(tmp_path: Path, about: bytes) -> None:
    """They may have another form, and may make a column an index, which is then missing."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"submit": [0, 10], "run": [5, 6], "procs": [1, 2]})
    parquet.write_table(table.replace_schema_metadata({"pandas": about}), tmp_path / "mine.parquet")
    assert read_workload(str(tmp_path / "mine.parquet")).jobs["submit"].tolist() == [0, 10]


def test_something_else_that_calls_itself_parquet(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"mine\.parquet: cannot be read as Parquet") as raised:
        read_workload(file(tmp_path, GOOD, "mine.parquet"))
    assert "\n" not in str(raised.value)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"submit": [0], "run": [5], "procs": [1]}).to_parquet(tmp_path / "mine.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(HarnessError, match=r"mine\.parquet: reading Parquet needs pyarrow: pip install"):
        read_workload(tmp_path / "mine.parquet")


# hpcwld

GAPS = "interarrival,service,cores_requested,cores_used,delays\n10,7,80,80,0\n0,9,10,16,1\n-5,6,0,0,0\n4,3,0,8,2\n"


def test_customers_become_jobs(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, GAPS))
    assert log.jobs["run"].tolist() == [7, 9, 3]
    assert log.jobs["wait"].tolist() == [0, 1, 2]
    assert log.jobs["procs"].tolist() == [80, 10, 0]
    assert log.jobs["used_procs"].tolist() == [80, 16, 8]
    assert prepare(log).jobs["procs"].tolist() == [80, 10, 8]
    first, second, last = log.jobs["submit"]
    assert (first, second) == (0, 10)
    assert 10.002 <= last <= 10.018  # two gaps of 1 to 9 ms
    assert {step.name: step.jobs for step in log.reading} == {"repaired interarrivals": 2, "dropped customers": 1}
    assert read_hpcwld(tmp_path / "mine.csv").digest == log.digest  # the same milliseconds every time


@settings(max_examples=30)
@given(gaps=st.lists(st.integers(-100, 100), min_size=1, max_size=30))
def test_customers_come_in_order_and_no_earlier_than_they_did(tmp_path_factory, gaps: list[int]) -> None:
    path = tmp_path_factory.mktemp("gaps") / "mine.csv"
    pd.DataFrame({"interarrival": gaps, "service": 1, "cores_used": 1}).to_csv(path)  # with R's column of row names
    submit = read_hpcwld(path).jobs["submit"].to_numpy()
    assert (np.diff(submit) > 0).all()
    exact = np.concatenate(([0], np.cumsum(np.maximum(gaps[:-1], 0))))
    assert ((submit >= exact) & (submit < exact + 0.01 * len(gaps))).all()


def test_the_theory_reads_the_same_customers(tmp_path: Path) -> None:
    path = file(tmp_path, GAPS)
    jobs, log = read_job_stream(str(path), "cores_used"), read_workload(path)
    assert jobs.arrival.tolist() == log.jobs["submit"].tolist()
    assert jobs.service.tolist() == log.jobs["run"].tolist()
    assert jobs.width.tolist() == log.jobs["used_procs"].tolist()
    assert jobs.reading == (*log.reading[:1], jobs.reading[1])
    assert len(read_job_stream(str(path), "cores_requested")) == 2  # the widths asked for decide who is dropped


def test_customers_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    assert read_workload(file(tmp_path, GAPS)).jobs["job"].tolist() == [1, 2, 4]


def test_the_time_between_arrivals_passes_after_or_before_its_job(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, GAPS))
    after, before = (prepare(log, gap=gap).jobs["submit"].to_numpy() for gap in ("after", "before"))
    assert (before - after).tolist() == pytest.approx(log.jobs["x_gap"].tolist())
    assert before[0] == 10
    for options in ({"gap": "before"}, {"seconds_at": 0.5}, {"start": 1.0}, {"jobs": 1}):
        of_a_run = prepare(log, zeros="keep", **options).jobs  # one declaration, one reading
        of_theory = read_job_stream(str(tmp_path / "mine.csv"), zeros="keep", **options)
        assert of_theory.service.tolist() == of_a_run["work"].tolist()
        assert of_theory.arrival.tolist() == (of_a_run["submit"] - of_a_run["submit"].min()).tolist()
    with pytest.raises(HarnessError, match="its jobs have submit times; expected a log of interarrival times"):
        prepare(lublin(jobs=3), gap="before")


@pytest.mark.parametrize("zeros", [{}, {"zeros": "drop"}, {"zeros": "keep"}])
@pytest.mark.parametrize("suffix", ["csv", "swf"])
def test_jobs_that_took_no_time_are_prepared_alike_in_every_format(
    tmp_path: Path, suffix: str, zeros: dict[str, Any]
) -> None:
    path = str(file(tmp_path, "interarrival,service,cores_used\n5,0,2\n5,3,1\n"))
    if suffix == "swf":
        write_swf(read_workload(path), tmp_path / "same.swf")
        path = str(tmp_path / "same.swf")
    assert len(read_job_stream(path, **zeros)) == (2 if zeros.get("zeros") == "keep" else 1)
    assert len(prepare(read_workload(path), **zeros)) == (2 if zeros.get("zeros") == "keep" else 1)


def test_a_job_that_took_no_time_requests_a_second(tmp_path: Path) -> None:
    path = str(file(tmp_path, "interarrival,service,cores_used\n5,0,2\n5,3,1\n"))
    jobs = prepare(read_workload(path), zeros="keep").jobs
    assert jobs[["work", "estimate"]].to_numpy().tolist() == [[0, 1], [3, 3]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("interarrival,service\n1,2\n", "mine.csv: has no widths; expected a column cores_requested or cores_used"),
        ("interarrival,service,cores_used\n", "mine.csv: has no jobs"),
        ("interarrival,service,cores_used\n1,2,0\n", "has no jobs"),
        ("interarrival,service,cores_used\n1,2,3\nNA,2,3\n", "line 3: 'NA' is not a finite number"),
        ("interarrival,service,cores_used\n1,2,3\n1,2\n", "mine.csv: line 3: expected 3 cells, found 2"),
    ],
)
def test_bad_customers_say_what_and_where(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(HarnessError) as raised:
        read_workload(file(tmp_path, text))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "repaired", "dropped"), [("HPC_KRC", 8281, 4, 0), ("HPC_KRC2", 9389, 490, 87)]
)
def test_the_logs_of_the_papers(data: Path, name: str, rows: int, repaired: int, dropped: int) -> None:
    path = data / "hpcwld" / f"{name}.csv"
    assert is_hpcwld(str(path))
    log = read_workload(path)
    steps = {step.name: step.jobs for step in log.reading}
    assert (steps["repaired interarrivals"], steps.get("dropped customers", 0)) == (repaired, dropped)
    assert len(log.jobs) == rows - dropped
    assert (log.jobs["used_procs"] > 0).all()
    assert np.diff(log.jobs["submit"]).min() > 0


@given(st.lists(st.sampled_from(["n1", "n[1-3,7]", "m[1-2],n[6,8]", "", "a,b,c"]), min_size=1, max_size=5))
def test_cells_in_quotes_may_hold_what_separates_them(tmp_path_factory, nodes):
    """As the standard library writes them; quotes are not part of what is read."""
    path = tmp_path_factory.mktemp("quoted") / "jobs.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["job", "nodes", "wait"], *([k, cell, 2 * k] for k, cell in enumerate(nodes))])
    table, steps = read_delimited(path.read_bytes(), path)
    assert table["nodes"].tolist() == nodes
    assert table["wait"].tolist() == [str(2 * k) for k in range(len(nodes))]
    assert steps == ()


def test_a_quoted_cell_too_many_is_told_as_before(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text('job,nodes,wait\n1,"a,b",3\n2,"c,d",4,5\n')
    with pytest.raises(HarnessError, match="line 3: expected 3 cells, found 4"):
        read_delimited(path.read_bytes(), path)
