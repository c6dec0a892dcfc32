"""A real Slurm with a database of accounts runs jobs of several users, where it is installed."""

import os
import shutil
import signal
from pathlib import Path

import pandas as pd
import pytest
from accounting import PACKAGES, PROGRAMS
from ending import end_it, left_behind

import harness
from harness.errors import HarnessError
from harness.slurm import accounting, slurm_execution
from harness.slurm.accounts_given import Accounts, read_accounts
from harness.slurm.configuration import read_slurm
from harness.slurm.confinement import Rights
from harness.slurm.requests import requests_of
from harness.slurm.slurm_execution import execute
from harness.slurm.slurm_scheduler import read_slurm_scheduler

CONFIGURATION = """ClusterName=Small
SelectType=select/linear
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightQOS=100000
PriorityCalcPeriod=1
NodeName=n[1-2] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

#: Of the last QOS everything is limited, widely.
ACCOUNTS = """Cluster - 'theirs':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'physics':Fairshare=1
Parent - 'physics'
User - 'ann':DefaultAccount='physics':Fairshare=1:QOS='normal,single,urgent'
User - 'bob':DefaultAccount='physics':Fairshare=1:QOS='normal,urgent'
Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageThres|UsageFactor|GrpTRES|GrpTRESMins|GrpTRESRunMins|GrpJobs|GrpSubmit|GrpWall|MaxTRES|MaxTRESPerNode|MaxTRESMins|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU|MaxTRESPA|MaxJobsPA|MaxSubmitPA|MinTRES
normal|0|00:00:00|||cluster|||1.000000|||||||||||||||||
single|0|00:00:00|||cluster|||1.000000|cpu=2|||||||||02:00:00|cpu=2|1|||||
urgent|10|00:00:30|normal||cluster|DenyOnLimit|0.100000|0.500000|cpu=90,mem=4G|cpu=9000|cpu=5000|50|60|1-00:00:00|cpu=80|cpu=70|cpu=4000|1-00:00:00|cpu=60|40|45|cpu=55|30|35|cpu=1
"""

#: When each comes, for how long, on how many nodes, of which QOS and whose.
JOBS = [
    (0, 300, 2, "normal", "ann"),  # ann has used more than bob, who has used nothing
    (10, 60, 2, "normal", "ann"),
    (20, 60, 2, "normal", "bob"),
    (30, 60, 2, "urgent", "ann"),  # before them all
    (1000, 120, 1, "single", "ann"),
    (1010, 120, 1, "single", "ann"),  # one of hers at a time
    (1020, 60, 1, "normal", "bob"),
]

as_root_with_slurm = pytest.mark.skipif(
    os.getuid() != 0
    or any(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None for name in PROGRAMS),
    reason=f"no root, or no real Slurm with accounts is installed: apt-get install {PACKAGES}",
)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A configuration, and accounts beside it."""
    (tmp_path / "slurm.conf").write_text(CONFIGURATION)
    (tmp_path / "accounts.dump").write_text(ACCOUNTS)
    return tmp_path


@pytest.fixture
def log(tmp_path: Path) -> "harness.Log":
    """The jobs, as sacct would print them."""
    morning = pd.Timestamp("2024-03-04T08:00:00")
    lines = ["JobIDRaw|Submit|Start|End|TimelimitRaw|ReqCPUS|ReqNodes|State|QOS|Account|User"]
    for number, (submit, seconds, nodes, qos, user) in enumerate(JOBS, start=1):
        times = [(morning + pd.Timedelta(seconds=time)).isoformat() for time in (submit, submit, submit + seconds)]
        lines.append("|".join([str(number), *times, "10", str(nodes), str(nodes), "COMPLETED", qos, "physics", user]))
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    return harness.read_workload(path)


def starts(times: dict[int, float]) -> None:
    """Starts are as shares, QOS and limits want it."""
    assert times[4] < times[3] < times[2]
    assert times[6] >= times[5] + 119
    assert times[7] < times[6]


@as_root_with_slurm
@pytest.mark.slow
def test_shares_qos_and_limits_are_in_force(
    given: Path, log: "harness.Log", temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_execution, "LATE", 60.0)
    configuration = read_slurm(given / "slurm.conf")
    accounts = read_accounts(given / "accounts.dump", configuration)
    done = execute(harness.prepare(log), configuration, log, accounts=accounts, speed=20, as_root=True)
    assert not done.refused
    begun = done.schedule.set_index("job")["start"]
    starts(begun.to_dict())
    assert left_behind(temporary) == []
    slurm = read_slurm_scheduler(f"{given / 'slurm.conf'} + {given / 'accounts.dump'}")
    starts(harness.simulate(log, None, slurm).frame.set_index("job")["start"].to_dict())
    assert done.provenance["accounts"] == accounts.digest


@as_root_with_slurm
@pytest.mark.slow
def test_who_kills_it_leaves_no_database_behind(given: Path, temporary: Path) -> None:
    names = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd")
    end_it(signal.SIGKILL, "slurm.conf + accounts.dump", given, temporary, *names, options=("--as-root",))


def test_users_get_numbers_that_nobody_has(given: Path, log: "harness.Log") -> None:
    accounts, requests = theirs(given, log)
    numbers = accounts.numbers(requests, Rights("nobody", 65534, 65534, as_root=True))
    assert sorted(numbers) == ["ann", "bob"]
    assert len(set(numbers.values())) == 2
    assert all(number > 30000 for number in numbers.values())


def test_only_root_submits_as_others(given: Path, log: "harness.Log") -> None:
    accounts, requests = theirs(given, log)
    ann = Rights("ann", 1000, 1000, as_root=False)
    with pytest.raises(
        HarnessError, match=r"of 1 other user than ann \(bob\), and only root may .* expected --as-root"
    ):
        accounts.numbers(requests, ann)
    assert accounts.numbers([one for one in requests if one.user == "ann"], ann) == {}


def test_the_user_of_the_daemons_keeps_its_number(given: Path, log: "harness.Log") -> None:
    accounts, requests = theirs(given, log)
    numbers = accounts.numbers(requests, Rights("ann", 65534, 65534, as_root=True))
    assert numbers["ann"] == 65534
    assert numbers["bob"] > 30000


def theirs(given: Path, log: "harness.Log") -> tuple[Accounts, list[object]]:
    """Return the accounts, and what jobs ask for."""
    slurm = read_slurm_scheduler(f"{given / 'slurm.conf'} + {given / 'accounts.dump'}")
    accounts = read_accounts(given / "accounts.dump", read_slurm(given / "slurm.conf"))
    return accounts, requests_of(harness.prepare(log), log, slurm.cluster)


def test_accounts_need_a_configuration_with_a_database(given: Path) -> None:
    conf = given / "slurm.conf"
    conf.write_text(CONFIGURATION.replace("accounting_storage/slurmdbd", "accounting_storage/none"))
    with pytest.raises(HarnessError, match=r"slurm\.conf has no database of them: expected AccountingStorageType="):
        read_accounts(given / "accounts.dump", read_slurm(conf))


def test_without_a_database_the_words_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_execution.shutil, "which", lambda name, path: None if name == "slurmdbd" else name)
    with pytest.raises(HarnessError, match=r"needs slurmdbd, .* faketime slurmdbd mariadb-server"):
        slurm_execution.programs(accounts=True)
    assert slurm_execution.programs()["slurmd"] == "slurmd"


def test_the_database_listens_on_a_socket_and_its_daemon_on_loopback(tmp_path: Path) -> None:
    accounting.write_database(tmp_path, 7005, "nobody")
    path = tmp_path / "slurmdbd.conf"
    settings = dict(line.split("=", 1) for line in path.read_text().splitlines())
    assert (settings["DbdAddr"], settings["DbdPort"]) == ("127.0.0.1", "7005")
    assert settings["CommunicationParameters"] == "NoInAddrAny"
    assert path.stat().st_mode & 0o077 == 0
    assert "--skip-networking" in accounting._SETTINGS
