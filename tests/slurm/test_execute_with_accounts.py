"""A real Slurm with a database of accounts runs jobs of several users, where it is installed."""

import signal
from pathlib import Path

import pytest
from ending import end_it, left_behind
from real_accounts import CONFIGURATION, as_root_with_slurm

import harness
from harness.errors import HarnessError
from harness.slurm import accounting, slurm_execution
from harness.slurm.accounts_given import Accounts, read_accounts
from harness.slurm.configuration import read_slurm
from harness.slurm.confinement import Rights
from harness.slurm.requests import requests_of
from harness.slurm.slurm_execution import execute
from harness.slurm.slurm_scheduler import read_slurm_scheduler


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
