"""As which users the programs of an execution run, and which executions need root."""

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from ending import FEW, left_behind, started, wait_for
from real_accounts import as_root_with_slurm
from real_slurm import needs_slurm
from typer.testing import CliRunner

import harness
from harness.cli import app
from harness.errors import HarnessError
from harness.slurm import confinement, slurm_execution
from harness.slurm.accounts_given import read_accounts
from harness.slurm.configuration import read_slurm
from harness.slurm.confinement import Rights, rights
from harness.slurm.slurm_execution import execute

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")

#: They wait for the end, and do nothing else.
WAITING = {"faketime", "unshare", "sh"}


def user_of(number):
    """The user of a process, and its groups besides its own."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{number}/status").read_text().splitlines() if ":" in line)
    assert len(set(lines["Uid"].split())) == 1
    return int(lines["Uid"].split()[0]), lines["Groups"].split()


@needs_slurm
@as_root
@pytest.mark.slow
def test_no_daemon_and_no_job_of_root_runs_as_root(tmp_path, configuration, temporary):
    process = started(configuration.name, tmp_path)
    there = wait_for(process, temporary, "munged", "slurmctld", "slurmd", "inside", "sleep")
    for number, name in there.items():
        user, groups = user_of(number)
        if name not in WAITING:
            assert (user, groups) == (65534, []), name
            assert "CapEff:\t0000000000000000" in Path(f"/proc/{number}/status").read_text()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert left_behind(temporary) == []


@as_root_with_slurm
@pytest.mark.slow
def test_jobs_of_several_users_leave_root_only_what_starts_them(given, log, temporary):
    process = started("slurm.conf + accounts.dump", given, options=("--as-root",), workload="jobs.txt")
    names = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "inside", "sleep")
    there = wait_for(process, temporary, *names)
    for number, name in there.items():
        user, _ = user_of(number)
        if name == "sleep":
            assert user > 30000
        elif name in ("munged", "mariadbd", "slurmdbd", "slurmctld"):
            assert user == 65534, name
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert left_behind(temporary) == []


@as_root_with_slurm
@pytest.mark.slow
def test_accounts_with_jobs_of_one_user_need_no_root(given, log, temporary, monkeypatch):
    """Here the unprivileged user is the one whose jobs they are; the database is its own, too."""
    monkeypatch.setattr(slurm_execution, "LATE", 60.0)
    dump = given / "accounts.dump"
    dump.write_text(dump.read_text().replace("'ann'", "'nobody'"))
    Path(log.source).write_text(
        Path(log.source).read_text().replace("|ann\n", "|nobody\n").replace("|bob\n", "|nobody\n")
    )
    jobs = harness.read_workload(log.source)
    configuration = read_slurm(given / "slurm.conf")
    workload = harness.prepare(jobs, jobs=2)
    done = execute(workload, configuration, jobs, accounts=read_accounts(dump, configuration), speed=20)
    assert done.schedule["status"].tolist() == ["completed", "completed"]
    assert done.provenance["user"] == "nobody"
    assert set(done.provenance["as_root"]) == {"harness, faketime, unshare, sh"}
    assert left_behind(temporary) == []


@needs_slurm
@as_root
@pytest.mark.slow
def test_an_ordinary_user_executes_a_workload(tmp_path, configuration, temporary):
    """The interpreter may be where only root may read: then it is shown to the user in a mount namespace."""
    (tmp_path / "few.swf").write_text(FEW.replace("6000", "60"))
    place = temporary / "work"
    place.mkdir()
    for path in ("few.swf", "slurm.conf"):
        (place / path).write_text((tmp_path / path).read_text())
    python, shown = sys.base_prefix, temporary / "python"
    shown.mkdir()
    for path in (place, shown):
        os.chown(path, 65534, 65534)
    closed = [str(path) for path in Path(python).parents if not path.stat().st_mode & stat.S_IXOTH]
    opened = [f"mount --bind {python} {shown}"] if closed else []
    opened += [f"mount -t tmpfs -o mode=755 none {path}" for path in closed[-1:]]
    opened += [f"mkdir -p {python}", f"mount --bind {shown} {python}"] if closed else []
    called = [sys.executable, "-m", "harness", "execute", "few.swf", "--slurm", "slurm.conf", "--speed", "10"]
    as_nobody = shlex.join(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", *called])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", " && ".join([*opened, as_nobody])],
        cwd=place,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd(), "HARNESS_CACHE": str(place / "cache"), "HOME": "/nonexistent"},
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"started +3 +jobs", done.stdout)
    assert "run as nobody\n" in done.stdout  # and nothing as root
    about = json.loads((place / "few-slurm.json").read_text())
    assert (about["user"], about["as_root"]) == ("nobody", {})
    assert {path.name for path in temporary.iterdir()} == {"work", "python"}


def test_as_root_is_for_accounts_and_for_root(few, configuration, monkeypatch):
    given = read_slurm(configuration)
    with pytest.raises(HarnessError, match="--as-root: only accounts have jobs of several users: expected"):
        execute(few, given, as_root=True)
    monkeypatch.setattr(confinement.os, "getuid", lambda: 1000)
    with pytest.raises(HarnessError, match=r"--as-root: the user here has the number 1000: expected root"):
        rights(as_root=True)


@needs_slurm
def test_the_command_refuses_jobs_of_several_users_without_as_root(given, temporary, log):
    conf = f"{given / 'slurm.conf'} + {given / 'accounts.dump'}"
    found = CliRunner().invoke(app, ["execute", log.source, "--slurm", conf, "--out", str(given / "out.csv")])
    assert isinstance(found.exception, HarnessError)
    assert re.search(r"the jobs are of \d other users than \w+ \(ann\).* expected --as-root", str(found.exception))
    assert left_behind(temporary) == []


@as_root
def test_a_name_of_the_environment_is_no_user(monkeypatch):
    """The daemons' user is known by its number: `su` and `setpriv` leave the names of the environment as they were."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "ann")
    monkeypatch.setattr(confinement.os, "getuid", lambda: 65534)
    assert rights() == Rights("nobody", 65534, 65534, as_root=False)
    monkeypatch.setattr(confinement.os, "getuid", lambda: 4294967)
    with pytest.raises(HarnessError, match="Slurm needs a user with a name, and /etc/passwd has none for"):
        rights()


@as_root
def test_a_temporary_folder_that_the_daemons_cannot_reach_is_refused(tmp_path):
    closed = tmp_path / "closed"
    (closed / "folder").mkdir(parents=True)
    closed.chmod(0o700)
    with pytest.raises(HarnessError, match=r"may not pass through .*: expected TMPDIR to be a folder like /tmp"):
        rights().hand_over(closed / "folder")


def test_the_folder_of_an_execution_is_handed_over_last(tmp_path, monkeypatch):
    """Until then, no other process of the user can replace what is in it by links."""
    (tmp_path / "state" / "below").mkdir(parents=True)
    (tmp_path / "state" / "below" / "file").touch()
    handed = []
    monkeypatch.setattr(Path, "resolve", lambda path: Path("/tmp/x"))
    monkeypatch.setattr(confinement.os, "chown", lambda path, *_, **how: handed.append((path, how)))
    Rights("nobody", os.getuid() + 1, 65534, as_root=False).hand_over(tmp_path)
    paths = [path for path, _ in handed]
    assert paths[-1] == tmp_path
    assert set(paths) == {tmp_path, *tmp_path.rglob("*")}
    assert all(how == {"follow_symlinks": False} for _, how in handed)


def test_other_users_may_pass_through_the_folder_of_several_users(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "resolve", lambda path: Path("/tmp/x"))
    monkeypatch.setattr(confinement.os, "chown", lambda *_, **how: None)
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    Rights("nobody", os.getuid() + 1, 65534, as_root=True).hand_over(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o711


def test_a_result_states_what_is_still_root_and_why():
    told = Rights("nobody", os.getuid() + 1, 65534, as_root=True).still_root
    assert told["slurmd, slurmstepd"] == "they start each job as its user"
    assert "the program that submits the jobs" in told
    assert len(Rights("nobody", os.getuid() + 1, 65534, as_root=False).still_root) == 1
    assert Rights("me", os.getuid(), 1000, as_root=False).still_root == {}
