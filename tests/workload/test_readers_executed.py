"""Schedules from anywhere: read as the log that the machine would have written."""

from pathlib import Path

import numpy as np
import pytest

from harness import HarnessError, Scheduler, adequacy, lublin, prepare, read_workload, simulate

OAR = """job,oar_job,submit,start,stop,cores,walltime,state
0,1601,1462923291,1462923292,1462923381,1,149,Terminated
1,1602,1462923295,1462923300,1462923568,2,399,Error
"""
BATSIM = """job_id,workload_name,submission_time,requested_number_of_resources,requested_time,starting_time,finish_time
7,w0,0.5,1,149.0,1.0,89.51
8,w0,4.5,2,399.0,4.5,270.5
"""


@pytest.fixture(scope="module")
def schedule():
    workload = prepare(lublin(jobs=200, procs=64, seed=1))
    return simulate(workload, 64, Scheduler(energy="none"))


def file(folder: Path, text: str) -> Path:
    path = folder / "ran.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "swf"])
def test_what_we_write_is_read_again(schedule, tmp_path: Path, ending: str) -> None:
    schedule.export(tmp_path / f"ran.{ending}")
    log = read_workload(tmp_path / f"ran.{ending}")
    frame = schedule.frame
    np.testing.assert_allclose(log.jobs["submit"], frame["submit"])
    np.testing.assert_allclose(log.jobs["wait"], frame["wait"], atol=1e-6)
    np.testing.assert_allclose(log.jobs["run"], frame["run"], atol=1e-6)
    np.testing.assert_array_equal(log.jobs["procs"], frame["procs"])
    assert pytest.approx(0, abs=1e-6) == adequacy(schedule, log).P


def test_oar_says_when_jobs_ran(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, OAR))
    wanted = {"job": [0, 1], "submit": [0, 4], "wait": [1, 5], "run": [89, 268], "procs": [1, 2]}
    wanted |= {"estimate": [149, 399], "status": [1, 0]}
    assert {name: log.jobs[name].tolist() for name in wanted} == wanted
    assert log.header == ("; UnixStartTime: 1462923291",)
    assert [(step.name, step.detail) for step in log.reading] == [("ignored columns", "oar_job")]


def test_batsim_says_when_jobs_ran(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, BATSIM))
    assert log.jobs["submit"].tolist() == [0.5, 4.5]  # no date: times are kept
    assert log.jobs["wait"].tolist() == [0.5, 0]
    assert log.jobs["run"].tolist() == pytest.approx([88.51, 266])


def test_who_never_began_left_the_queue(tmp_path: Path) -> None:
    log = read_workload(file(tmp_path, "job,submit,start,end,procs\n1,5,,25,2\n2,6,,,4\n3,7,8,9,1\n"))
    assert log.jobs["wait"].tolist() == [20, -1, 1]
    assert log.jobs["run"].tolist() == [-1, -1, 1]
    assert log.jobs["status"].tolist() == [5, 5, -1]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("1,5,4,9,2", r"line 2: submitted 5, began 4, ended 9; expected this order"),
        ("1,5,6,4,2", r"line 2: submitted 5, began 6, ended 4; expected this order"),
        ("1,5,soon,4,2", r"column 'start', line 2: 'soon' is not a finite number"),
        ("1,5,6", r"line 2: expected 5 cells, found 3"),
    ],
)
def test_disorder_is_refused(tmp_path: Path, row: str, complaint: str) -> None:
    with pytest.raises(HarnessError, match=complaint):
        read_workload(file(tmp_path, f"job,submit,start,end,procs\n{row}\n"))
