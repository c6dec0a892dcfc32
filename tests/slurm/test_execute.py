"""A real Slurm runs a few jobs, where it is installed: what it does is a schedule, and nothing of it stays behind."""

import json
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ending import end_it, left_behind
from real_slurm import needs_slurm

from harness.errors import HarnessError
from harness.slurm import slurm_execution
from harness.slurm.configuration import read_slurm
from harness.slurm.private_dir import free_ports
from harness.slurm.slurm_execution import execute


@needs_slurm
@pytest.mark.slow
def test_fifteen_jobs(few, configuration, temporary):
    told = []
    # However late on a busy machine: what is looked at holds at any speed.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurm_execution, "LATE", 60.0)
        done = execute(few, read_slurm(configuration), speed=20, progress=lambda *progress: told.append(progress))
    schedule = done.schedule
    assert list(schedule["status"]) == ["completed"] * 15
    assert (schedule["start"] >= schedule["submit"]).all()
    assert (schedule["run"] >= few.jobs["work"] - 1).all()
    events = sorted([(t, -p) for t, p in zip(schedule["end"], schedule["procs"], strict=True)]
                    + [(t, p) for t, p in zip(schedule["start"], schedule["procs"], strict=True)])  # fmt: skip
    assert np.cumsum([procs for _, procs in events]).max() <= 4
    assert schedule["wait"].max() > 10
    assert told[-1] == (15, 15)
    assert done.version.startswith("slurm")
    assert json.loads(json.dumps(done.provenance))["speed"] == 20
    assert left_behind(temporary) == []


@needs_slurm
@pytest.mark.slow
def test_who_gives_up_waiting_is_cancelled(few, configuration, temporary):
    """The second while it waits, the third, which has begun by then, not; nobody is behind the second any more."""
    jobs = few.jobs.head(4).assign(
        submit=[0.0, 5.0, 200.0, 210.0], work=[300.0, 60.0, 60.0, 30.0], estimate=600.0, procs=[3, 4, 1, 1],
        cancel=[np.inf, 100.0, 260.0, np.inf],
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurm_execution, "LATE", 60.0)
        done = execute(replace(few, jobs=jobs), read_slurm(configuration), speed=20).schedule
    assert done["status"].tolist() == ["completed", "cancelled", "completed", "completed"]
    assert np.isnan(done["start"][1])
    assert 100.0 <= done["end"][1] <= 200.0
    assert done["start"][3] >= done["end"][2]
    assert left_behind(temporary) == []


@needs_slurm
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_ends_it_leaves_nothing_behind(tmp_path, configuration, how, temporary):
    end_it(how, configuration.name, tmp_path, temporary, "munged", "slurmctld", "slurmd")


def test_ports_are_a_row_that_nobody_is_given_for_a_call():
    given_out = Path("/proc/sys/net/ipv4/ip_local_port_range")
    controller, nodes = free_ports(20)
    assert nodes == tuple(range(controller + 1, controller + 21))
    if given_out.exists():
        assert nodes[-1] < int(given_out.read_text().split()[0])
    with pytest.raises(HarnessError, match="no 60001 free ports in a row"):
        free_ports(60000)


def test_without_slurm_the_words_to_install_it(few, configuration, monkeypatch):
    monkeypatch.setattr(slurm_execution.shutil, "which", lambda name, path: None)
    with pytest.raises(HarnessError, match="apt-get install slurmctld slurmd slurm-client munge faketime"):
        execute(few, read_slurm(configuration))


def test_what_slurm_writes_down_becomes_a_schedule(few):
    """Times of the workload; who never began has no start; fractions of a second that Slurm cuts off do no harm."""
    line = (
        "JobId={0} UserId=root(0) Name={0} JobState={1} Partition=batch TimeLimit=10 StartTime=2026-01-01T00:0{2} "
        "EndTime=2026-01-01T00:0{3} NodeList={4} ProcCnt=2 SubmitTime=2026-01-01T00:00:00 "
        "EligibleTime=2026-01-01T00:00:00 ExitCode=0:0 \n"
    )
    ended = line.format(1, "COMPLETED", "0:04", "1:04", "n[1-2]") + line.format(2, "TIMEOUT", "1:05", "2:00", "n3")
    ended += line.format(3, "CANCELLED", "3:00", "3:00", "(null)")
    told = slurm_execution._Told([], {4: "no such partition"}, [], first=1767225605.0)  # five seconds later
    schedule = slurm_execution._schedule(few, ended, told)
    assert list(schedule["status"][:5]) == ["completed", "killed", "cancelled", "refused", "pending"]
    assert list(schedule["start"][:2]) == [0.0, 60.0]
    assert list(schedule["end"][:2]) == [59.0, 115.0]
    assert schedule["start"][2:].isna().all()
    assert (schedule["submit"] == few.jobs["submit"]).all()
