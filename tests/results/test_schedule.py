"""The table of a run, its identity, and the files it is written to."""

import builtins
import csv
import errno
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.platform.machine import plain
from harness.present.tables import render
from harness.results import export
from harness.results.schedule import Schedule
from harness.workload.log import Workload
from harness.workload.prepare import prepare
from harness.workload.swf import read_swf

Run = Callable[..., Schedule]
Make = Callable[..., Workload]


def test_columns(some: Schedule) -> None:
    assert list(some.frame) == [
        *("job", "submit", "start", "end", "procs", "wait", "run", "energy", "status"),
        *(
            "response",
            "slowdown",
            "bounded_slowdown",
            "estimate",
            "user",
            "preemptions",
            "nodes",
            *("boot", "restarts", "lost"),
            "logged_wait",
            "logged_run",
            *("predicted", "corrections"),
        ),
    ]


def test_rows_are_in_log_order(some: Schedule) -> None:
    jobs = some.workload.jobs
    assert not jobs["submit"].is_monotonic_increasing
    for name in ("job", "submit", "procs", "estimate", "user", "logged_run"):
        assert some.frame[name].tolist() == jobs[name].tolist()


def test_statuses(some: Schedule) -> None:
    frame, jobs = some.frame, some.workload.jobs
    assert set(frame["status"]) == {"completed", "killed", "cancelled", "unaccepted"}
    assert ((frame["status"] == "unaccepted") == (jobs["procs"] > 12)).all()
    accepted = jobs["procs"] <= 12
    assert ((frame["status"] == "cancelled") == (accepted & np.isfinite(jobs["cancel"]))).all()
    assert ((frame["status"] == "killed") == (accepted & jobs["killed"])).all()


def test_jobs_that_never_ran_have_no_times(some: Schedule) -> None:
    never = some.frame[some.frame["start"].isna()]
    assert set(never["status"]) == {"cancelled", "unaccepted"}
    assert never[["wait", "run", "response", "slowdown", "bounded_slowdown"]].isna().all().all()
    assert some.ran.drop(columns="energy").notna().all().all()


def test_times_add_up(some: Schedule, run: Run, make: Make) -> None:
    ran = some.ran
    assert (ran["wait"] + ran["run"]).to_numpy() == pytest.approx(ran["response"].to_numpy())
    assert (ran["slowdown"] >= 1 - 1e-12).all()
    suspended = run(make(0), order="lcfs", start="preempt(at=any)").ran
    paused = suspended["response"] - suspended["wait"] - suspended["run"]
    assert (paused[suspended["preemptions"] == 0].abs() < 1e-6).all()
    assert (paused > -1e-6).all()
    assert (paused > 1e-6).any()


def test_digest_is_who_started_when(run: Run, make: Make) -> None:
    workload = make(0)
    digest = run(workload).digest
    assert digest == run(workload).digest == run(workload, seed=5).digest
    assert digest == run(replace(workload, name="other", digest="other")).digest
    assert digest != run(workload, start="none").digest
    assert digest != run(replace(workload, jobs=workload.jobs.assign(job=workload.jobs["job"] + 1))).digest


# Files


def test_csv_reads_back_exactly(some: Schedule, tmp_path: Path) -> None:
    some.export(tmp_path / "s.csv")
    with open(tmp_path / "s.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(some.frame)
    for name in some.frame:
        texts, values = [row[name] for row in rows], some.frame[name]
        if name == "status":
            assert texts == values.tolist()
        else:
            assert np.array_equal([float(text or "nan") for text in texts], values, equal_nan=True)


@pytest.mark.parametrize("rows", [1, 7, 10**6])
@pytest.mark.parametrize("name", ["s.csv", "s.json"])
def test_pieces_make_no_difference(
    some: Schedule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int
) -> None:
    whole = render(list(some.frame), some.frame.itertuples(index=False), name.removeprefix("s."))
    monkeypatch.setattr(export, "_ROWS", rows)
    some.export(tmp_path / name)
    assert (tmp_path / name).read_text() == f"{whole}\n"


@pytest.mark.parametrize(("name", "text"), [("t.csv", "a,b\n"), ("t.json", "[]\n")])
def test_no_rows(tmp_path: Path, name: str, text: str) -> None:
    export.timeline_writer(name)(pd.DataFrame({"a": [], "b": []}), tmp_path / name)
    assert (tmp_path / name).read_text() == text


def test_csv_is_plain(run: Run, make: Make, tmp_path: Path) -> None:
    schedule = run(make(0), plain(12), energy="none")
    schedule.export(tmp_path / "s.csv")
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[0].startswith("job,submit,start,end,procs,wait,run,energy,status")
    assert len(lines) == len(schedule.frame) + 1
    rows: list[Any] = list(schedule.frame.itertuples())
    for line, row in zip(lines[1:], rows, strict=True):
        job, submit, start, *_, energy, _ = line.split(",")[:9]
        assert (job, submit, energy) == (str(row.job), str(int(row.submit)), "")
        assert start == ("" if np.isnan(row.start) else str(int(row.start)))


def test_parquet_reads_back_exactly(some: Schedule, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    some.export(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "s.parquet"), some.frame, check_exact=True)


def test_parquet_without_pyarrow(some: Schedule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(HarnessError, match=r"sched-harness\[parquet\]"):
        some.export(tmp_path / "s.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["s.swf", "s.swf.gz", "S.SWF"])
def test_swf_reads_back(some: Schedule, tmp_path: Path, name: str) -> None:
    some.export(tmp_path / name)
    log = read_swf(tmp_path / name, cache=False)
    frame, jobs = some.frame, log.jobs
    assert jobs["job"].tolist() == frame["job"].tolist()
    ran = frame["status"].isin(("completed", "killed"))
    for column in ("submit", "wait", "run", "procs", "estimate", "user"):
        assert jobs.loc[ran, column].tolist() == frame.loc[ran, column].tolist()
    status = {"completed": 1, "killed": 0, "cancelled": 5, "unaccepted": 5}
    assert jobs["status"].tolist() == [status[word] for word in frame["status"]]
    assert (jobs.loc[frame["start"].isna(), ["run", "used_procs"]] == -1).all().all()
    never = frame["status"] == "unaccepted"
    assert (jobs.loc[never, "wait"] == -1).all()
    left = frame["status"] == "cancelled"
    patience = (some.workload.jobs["cancel"] - frame["submit"])[left]
    assert jobs.loc[left, "wait"].tolist() == patience.tolist()
    header = "\n".join(log.header)
    for word in ("sched-harness", "twelve", "MaxProcs: 12", "start easy", "random 1"):
        assert word in header


@pytest.mark.parametrize("parts", [{}, {"start": "none"}, {"order": "spf", "start": "greedy"}])
def test_a_written_log_replays_to_the_same_schedule(
    run: Run, make: Make, tmp_path: Path, parts: dict[str, str]
) -> None:
    for seed in range(3):
        schedule = run(make(seed), plain(12), energy="none", **parts)
        schedule.export(tmp_path / "s.swf")
        again = prepare(read_swf(tmp_path / "s.swf", cache=False), unknown="cancel")
        assert again.procs == 12
        assert run(again, plain(12), energy="none", **parts).digest == schedule.digest


def test_unknown_formats(some: Schedule, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"s\.xlsx.*\.csv, \.parquet, \.arrow, \.json, \.swf, \.swf\.gz"):
        some.export(tmp_path / "s.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["s.csv", "s.swf", "s.swf.gz", "s.parquet"])
def test_a_full_disk_leaves_nothing_behind(
    some: Schedule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    class Full(io.FileIO):
        def write(self, content: Any) -> int:
            super().write(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    def full(self: Path, content: bytes) -> int:
        with Full(self, "wb") as file:
            return file.write(content)

    def full_too(self: pd.DataFrame, path: Path, **options: object) -> None:
        full(path, b"half")

    (tmp_path / name).write_text("what was there")
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "open", lambda self, mode: Full(self, mode))
    monkeypatch.setattr(pd.DataFrame, "to_parquet", full_too)
    with pytest.raises(HarnessError, match=rf"{name}: cannot be written: No space left"):
        some.export(tmp_path / name)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "what was there"


def test_no_such_folder(some: Schedule, tmp_path: Path) -> None:
    for name in ("s.csv", "s.swf", "s.parquet"):
        with pytest.raises(HarnessError, match="cannot be written"):
            some.export(tmp_path / "nowhere" / name)
