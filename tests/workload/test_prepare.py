"""Preparation does what it says, counts what it touches, and nothing else."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preparing import log_of, touched

from harness.errors import HarnessError
from harness.workload.frame import log_from_frame
from harness.workload.log import Log
from harness.workload.prepare import prepare

INF = float("inf")


def test_a_job_as_it_is_replayed() -> None:
    log = log_of(submit=[10], run=[50], procs=[4], used_procs=[3], estimate=[60], wait=[5], memory=[2.5], user=[7],
                 group=[8], executable=[9], queue=[11], partition=[12], status=[1], cpu=[13], used_memory=[14],
                 job=[15], preceding=[16], think=[17])  # fmt: skip
    job = prepare(log).jobs.iloc[0].to_dict()
    assert job == {
        "job": 15, "submit": 10, "procs": 4, "work": 50, "estimate": 60, "memory": 2.5, "user": 7, "group": 8,
        "queue": 11, "partition": 12, "cancel": INF, "killed": False,
        "logged_wait": 5, "logged_run": 50, "logged_status": 1, "x_preceding": 16, "x_think": 17,
    }  # fmt: skip


def test_the_readings_are_always_listed() -> None:
    workload = prepare(log_of(estimate=[100, 200]))
    assert touched(workload) == {"width": 0, "estimates": 0, "overrun": 0}
    assert len(workload) == 2


def test_reading_steps_come_first() -> None:
    log = log_of(run=[1])
    read = Log(log.name, log.jobs, reading=prepare(log).preparation[:1])
    assert [step.name for step in prepare(read).preparation][:2] == ["width", "width"]


def test_width() -> None:
    log = log_of(procs=[4, -1, 0, -1, 3], used_procs=[2, 5, 6, -1, -1])
    assert prepare(log).jobs["procs"].tolist() == [4, 5, 6, 3]
    assert touched(prepare(log)) == {"width": 2, "no width": 1, "estimates": 4, "overrun": 0}
    assert prepare(log, procs_from="used").jobs["procs"].tolist() == [2, 5, 6, 3]
    assert touched(prepare(log, procs_from="used"))["width"] == 1


def test_unknown_runtimes_are_dropped() -> None:
    workload = prepare(log_of(run=[10, 0, -1, 20]))
    assert workload.jobs["job"].tolist() == [1, 4]
    assert touched(workload)["runtime"] == 2


def test_or_leave_the_queue() -> None:
    log = log_of(
        submit=[0, 10, 20, 30, 40],
        run=[10, 0, -1, -1, 0],
        wait=[1, 7, 8, -1, 9],
        status=[5, 5, 5, 5, 0],
        estimate=[20, 60, -1, 60, 60],
    )
    workload = prepare(log, unknown="cancel", load=2)
    assert workload.jobs["job"].tolist() == [1, 2, 3]
    assert workload.jobs["cancel"].tolist() == [INF, 5 + 7, 10 + 8]
    assert workload.jobs["work"].tolist() == [10, 0, 0]
    assert workload.jobs["estimate"].tolist() == [20, 60, 1]
    assert (touched(workload)["cancelled"], touched(workload)["runtime"]) == (2, 2)


def test_estimates() -> None:
    log = log_of(run=[100, 100, 100], estimate=[300, -1, 0])
    assert prepare(log).jobs["estimate"].tolist() == [300, 100, 100]
    assert touched(prepare(log))["estimates"] == 2
    assert prepare(log, estimates="actual").jobs["estimate"].tolist() == [100, 100, 100]
    for spelling in ("factor(2.5)", "factor( 2.50 )"):
        assert prepare(log, estimates=spelling).jobs["estimate"].tolist() == [250, 250, 250]
        assert prepare(log, estimates=spelling).digest == prepare(log, estimates="factor(2.5)").digest


def test_overrun() -> None:
    log = log_of(run=[100, 100], estimate=[60, 100])
    raised, clipped = prepare(log), prepare(log, overrun="clip")
    assert raised.jobs[["work", "estimate", "killed"]].to_numpy().tolist() == [
        [100, 100, False],
        [100, 100, False],
    ]
    assert clipped.jobs[["work", "estimate", "killed"]].to_numpy().tolist() == [
        [60, 60, True],
        [100, 100, False],
    ]
    assert touched(raised)["overrun"] == touched(clipped)["overrun"] == 1
    assert clipped.jobs["logged_run"].tolist() == [100, 100]


def test_slices() -> None:
    log = log_of(submit=[-1, 100, 130, 110, 120, 120])
    workload = prepare(log)
    assert touched(workload)["submit"] == 1
    assert touched(workload)["order"] == 1
    assert prepare(log, jobs=3).jobs["job"].tolist() == [2, 4, 5]
    assert touched(prepare(log, jobs=3))["jobs"] == 2
    assert touched(prepare(log, jobs=99))["jobs"] == 0
    assert prepare(log, start=10, stop=30).jobs["job"].tolist() == [4, 5, 6]
    assert prepare(log, start=10, stop=30, jobs=1).jobs["job"].tolist() == [4]
    assert prepare(log, stop=10).jobs["job"].tolist() == [2]


def test_a_slice_counts_jobs_before_any_are_dropped() -> None:
    assert prepare(log_of(run=[0, 0, 5, 5]), jobs=3).jobs["job"].tolist() == [3]


@pytest.mark.parametrize(
    ("log", "options", "step"),
    [
        (log_of(submit=[-1, -1]), {}, "submit"),
        (log_of(submit=[5, 6]), {"start": 10}, "interval"),
        (log_of(procs=[-1, -1]), {}, "no width"),
        (log_of(run=[0, -1]), {}, "runtime"),
    ],
)
def test_no_jobs_left_names_the_step(log: Log, options: dict[str, Any], step: str) -> None:
    with pytest.raises(HarnessError, match=f"made: no jobs are left: step '{step}' .* dropped the last 2 of 2"):
        prepare(log, **options)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"procs_from": "request"}, "did you mean 'requested'"),
        ({"estimates": "requestd"}, "did you mean 'requested'"),
        ({"estimates": "factor(0.5)"}, "at least 1"),
        ({"estimates": "factor(x)"}, "expected factor"),
        ({"estimates": "factor"}, "expected factor"),
        ({"overrun": "kill"}, "overrun='kill'"),
        ({"unknown": "dorp"}, "did you mean 'drop'"),
        ({"jobs": 0}, "jobs=0"),
        ({"load": 0}, "load=0"),
        ({"load": float("nan")}, "load=nan"),
        ({"start": 5, "stop": 5}, "start before stop"),
        ({"width": 0}, "width=0"),
        ({"width": float("inf")}, "width=inf"),
        ({"load": "2"}, "load='2': expected a number above 0"),
        ({"jobs": True}, "jobs=True: expected a whole number above 0"),
        ({"start": "noon"}, "start='noon' \\(--from\\): expected seconds after the first submit, or a date"),
        ({"filter": 3}, "filter=3: expected a text"),
        ({"filter": "usr == 3"}, "no column 'usr'; did you mean 'user'"),
    ],
)
def test_impossible_options(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(HarnessError, match=complaint):
        prepare(log_of(run=[1]), **options)


def test_half_processors_are_refused() -> None:
    with pytest.raises(HarnessError, match=r"column 'procs' of job 2 is 2\.5; expected a whole number"):
        prepare(log_of(procs=[1, 2.5]))


def test_a_filter_speaks_of_the_jobs_as_they_have_been_made() -> None:
    log = log_of(procs=[4, -1, 8], used_procs=[1, 2, 1], run=[10, 20, 90], estimate=[50, -1, 60], user=[1, 2, 3])
    kept = prepare(log, filter="procs < 8 and estimate >= 20")
    assert kept.jobs["job"].tolist() == [1, 2]
    assert touched(kept)["filter"] == 1
    assert "procs < 8 and estimate >= 20" in kept.preparation[-1].detail
    assert prepare(log, filter="estimate == 90").jobs["job"].tolist() == [3]  # raised to the runtime
    assert touched(prepare(log, filter="user > 0"))["filter"] == 0


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"width": 1e300}, r"the width of job 1 is 1e\+300, as read or as scaled; expected less than 9e\+15"),
        ({"load": 1e-300}, r"submit time of job 2 is 1e\+300"),
        ({"load": 5e-324}, "submit time of job 2 is inf"),
        ({"estimates": "factor(99999999999999)"}, r"estimate of job 1 is 1e\+16"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in divide")
def test_scaled_numbers_stay_exact(option: dict[str, Any], words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        prepare(log_of(submit=[0, 1]), **option)


@pytest.mark.parametrize(("column", "word"), [("submit", "submit time"), ("run", "runtime"), ("procs", "width")])
def test_numbers_are_told_from_the_next(column: str, word: str) -> None:
    assert len(prepare(log_of(**{column: [1, 2**53 - 1]}))) == 2
    with pytest.raises(HarnessError, match=f"{word} of job 2 is 9.01e"):
        prepare(log_of(**{column: [1, 2**53]}))


def test_widths_are_scaled_by_halves_up_and_at_least_one() -> None:
    log = log_of(procs=[1, 2, 5, 7], wait=[3, 3, 3, 3])
    workload = prepare(log, width=0.5)
    assert workload.jobs["procs"].tolist() == [1, 1, 3, 4]
    assert touched(workload)["width scaled"] == 3
    assert prepare(log, width=1.5).jobs["procs"].tolist() == [2, 3, 8, 11]


def test_the_bounds_of_widths_are_scaled_with_them() -> None:
    log = log_of(procs=[1, 5, 8, 8], procs_min=[1, 3, 8, -1], procs_max=[4, 9, 8, 8])
    jobs = prepare(log, width=0.5).jobs
    assert jobs["procs"].tolist() == [1, 3, 4, 4]
    assert jobs["procs_min"].tolist() == [1, 2, 4, -1]
    assert jobs["procs_max"].tolist() == [2, 5, 4, 4]


@pytest.mark.parametrize("options", [{"width": 2}, {"load": 2}])
def test_the_logs_waits_are_not_those_of_another_stream(options: dict[str, Any]) -> None:
    assert prepare(log_of(wait=[3, 4])).jobs["logged_wait"].tolist() == [3, 4]
    assert prepare(log_of(wait=[3, 4]), **options).jobs["logged_wait"].tolist() == [-1, -1]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30), st.floats(0.1, 10))
def test_load_keeps_order_and_ratios(submits: list[int], load: float) -> None:
    log = log_of(submit=submits)
    plain, scaled = prepare(log).jobs["submit"].to_numpy(), prepare(log, load=load).jobs["submit"].to_numpy()
    first = min(submits)
    assert scaled.min() == first
    assert (scaled - first) * load == pytest.approx(plain - first, abs=1e-6)
    assert (np.diff(scaled)[np.diff(plain) >= 0] >= 0).all()


def test_frames() -> None:
    frame = pd.DataFrame({"submit": [0, 1], "run": [5, 2.5], "procs": [1, 2], "estimate": [9, 9]})
    log = log_from_frame(frame, "mine", header=("; MaxProcs: 4",))
    assert (log.name, len(log.jobs.columns)) == ("mine", 18)
    assert log.jobs["job"].tolist() == [1, 2]
    assert prepare(log).procs == 4
    for wrong, complaint in [
        (frame.rename(columns={"estimate": "estimat"}), "did you mean 'estimate'"),
        (frame.drop(columns="run"), "column 'run' is missing"),
        (frame[:0], "has no jobs"),
        (frame.assign(run=["a", "b"]), "column 'run', row 0: 'a' is not a finite number"),
        (frame.assign(run=[1, None]), "column 'run', row 1: nan is not a finite number"),
    ]:
        with pytest.raises(HarnessError, match=complaint):
            log_from_frame(wrong)
