"""What a real Slurm with accounts prints is read as it was meant, and its limits hold as they do in a replay."""

import getpass
import os
import shutil
from pathlib import Path

import pytest
from accounting import PACKAGES, PROGRAMS, Accounting, accounting

import harness
from harness.slurm.associations import read_shares
from harness.slurm.execution_folder import processes_by_folder
from harness.slurm.limits import Limits
from harness.slurm.requests import requests_of
from harness.slurm.slurm_scheduler import read_slurm_scheduler
from harness.workload.log import LoggedStatus

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None for name in PROGRAMS),
        reason=f"no real Slurm with accounts is installed: apt-get install {PACKAGES}",
    ),
]

FIELDS = (
    "JobIDRaw,Submit,Eligible,Start,End,Elapsed,TimelimitRaw,ReqCPUS,AllocCPUS,ReqMem,Partition,Constraints,ReqTRES,State,"
    "NodeList,SubmitLine,QOS,Account,User"
)

#: What is asked for in words of sbatch, and how long the job sleeps [s].
JOBS = {
    "wide": ("-n2 -t5 --mem-per-cpu=150 --qos=normal", 6),
    "first": ("-n1 -t10 --qos=high", 6),
    "second": ("-n1 -t10 --qos=high", 1),  # one of a user's at a time
    "behind": ("-n1 -t2 -C ib --gres=gpu:1 -L solver:1 --qos=normal", 2),  # passes the second
    "alone": ("-N1 -t1 --exclusive --qos=normal", 1),
    "never": ("-n1 -t1 --qos=high", 1),  # given up
}

ACCOUNTS = [
    "add qos high set Priority=100 MaxJobsPU=1 MaxTRESPU=cpu=2,gres/gpu=1 MaxWall=2:00:00 GrpTRES=cpu=3,mem=4G",
    "add account physics set Fairshare=30 GrpJobs=30 GrpTRES=cpu=8,node=20 MaxWall=600 MaxTRESPerJob=cpu=6",
    "add account optics parent=physics set Fairshare=7 MaxJobs=20 MaxSubmitJobs=90",
    "add user {user} account=optics Fairshare=5 QOS=normal,high MaxJobs=19",
]


def submit(slurm: Accounting) -> dict[str, int]:
    """Submit the jobs; return their numbers."""
    numbers = {}
    for name, (words, seconds) in JOBS.items():
        script = slurm.folder / f"{name}.sh"
        script.write_text(f"#!/bin/sh\nexec sleep {seconds}\n")
        quiet = ("--parsable", "--output=/dev/null", "--error=/dev/null", "--account=optics", f"--job-name={name}")
        numbers[name] = int(slurm.call("sbatch", *quiet, *words.split(), str(script)))
    slurm.call("scancel", str(numbers["never"]))
    slurm.wait(lambda: not slurm.call("squeue", "-h").strip(), "jobs do not end")
    return numbers


def test_what_sacct_and_sacctmgr_print_is_read(tmp_path: Path) -> None:
    with accounting(tmp_path) as slurm:
        for words in ACCOUNTS:
            slurm.call("sacctmgr", "-i", *words.format(user=getpass.getuser()).split())
        numbers = submit(slurm)

        def ended() -> bool:
            return slurm.call("sacct", "-nXP", "-a", "--format=End").split().count("Unknown") == 0

        slurm.wait(ended, "the database does not know when jobs ended")
        dump, accounts, conf = (tmp_path / name for name in ("jobs.txt", "accounts.dump", "slurm.conf"))
        dump.write_text(slurm.call("sacct", "-P", "-a", f"--format={FIELDS}"))
        slurm.call("sacctmgr", "dump", "small", f"file={accounts}")
        accounts.write_text(accounts.read_text() + slurm.call("sacctmgr", "-P", "show", "qos"))
    assert not processes_by_folder().get(str(slurm.folder), [])
    assert not slurm.folder.exists()
    check_accounts(accounts)
    check_jobs(dump, numbers, conf, accounts)


def check_accounts(path: Path) -> None:
    """Shares and limits are those that were set."""
    shares = read_shares(path)
    assert shares.qos == {"normal": 0.0, "high": 100.0}
    assert (shares.accounts["physics"], shares.accounts["optics"], shares.parent["optics"]) == (30.0, 7.0, "physics")
    assert shares.users["optics", getpass.getuser()] == 5.0
    assert shares.limits.qos["high"] == Limits(
        together={"cpu": 3.0, "mem": 4096.0},
        of_user={"jobs": 1.0, "cpu": 2.0, "gres/gpu": 1.0},
        of_job={"minutes": 120.0},
    )
    assert shares.limits.accounts["physics"] == Limits(
        together={"jobs": 30.0, "cpu": 8.0, "node": 20.0}, of_job={"minutes": 600.0, "cpu": 6.0}
    )
    assert shares.limits.accounts["optics"] == Limits(of_user={"jobs": 20.0, "submitted": 90.0})
    assert shares.limits.users["optics", getpass.getuser()] == Limits(of_user={"jobs": 19.0})
    assert not shares.limits.unmodelled


def check_jobs(dump: Path, numbers: dict[str, int], conf: Path, accounts: Path) -> None:
    """The log says what jobs asked for, when they ran and whose they are; a replay passes those that Slurm did."""
    log = harness.read_workload(dump)
    frame = log.jobs.set_index("job")
    assert set(frame.index) == set(numbers.values())
    for name, (_, seconds) in JOBS.items():
        job = frame.loc[numbers[name]]
        assert seconds <= job["run"] <= seconds + 5 if name != "never" else job["run"] <= 0
    assert frame.loc[numbers["never"], "status"] == LoggedStatus.CANCELLED
    assert frame.loc[numbers["wide"], ["procs", "estimate", "memory"]].tolist() == [2, 300, 150 * 1024]
    assert frame.loc[numbers["behind"], ["needs_gpu", "needs_solver"]].tolist() == [1, 1]
    slurm = read_slurm_scheduler(f"{conf} + {accounts}")
    workload = harness.prepare(log)
    asked = {one.job: one for one in requests_of(workload, log, slurm.cluster)}
    behind, alone, second = (asked[numbers[name]] for name in ("behind", "alone", "second"))
    assert (behind.features, behind.gres, behind.licences) == ((frozenset({"ib"}),), {"gpu": 1}, {"solver": 1})
    assert alone.exclusive
    assert (second.qos, second.account, second.user) == ("high", "optics", getpass.getuser())
    start = dict(zip(frame.index, frame["submit"] + frame["wait"], strict=True))
    replayed = harness.simulate(log, None, slurm).frame.set_index("job")["start"]
    for begun in (start, replayed):  # by Slurm, and by ours
        first_ended = begun[numbers["first"]] + frame.loc[numbers["first"], "run"]
        assert begun[numbers["second"]] >= first_ended - 1  # its user may run one of the QOS at a time
        assert begun[numbers["behind"]] < begun[numbers["second"]]  # whom that does not hold up
