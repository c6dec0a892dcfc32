"""The accounts that an execution is to know: what the daemons are told of them, and users who exist nowhere else."""

import hashlib
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.disk.stored import read_text
from harness.errors import HarnessError, shortened
from harness.present.words import counted
from harness.slurm import accounting, allowed
from harness.slurm.adaptation import Difference, Place, note
from harness.slurm.associations import association_lines, qos_rows, read_shares
from harness.slurm.configuration import SlurmConfiguration
from harness.slurm.confinement import PASSWD, Rights
from harness.slurm.fair_tree import Shares
from harness.slurm.quantities import INFINITE
from harness.slurm.requests import Request
from harness.slurm.slurm_names import checked_name

#: The programs that are needed besides those of any execution.
PROGRAMS = (*accounting.PROGRAMS, "unshare", "mount")

#: Numbers of users that Debian gives nobody: those of a workload get them.
_NUMBERS = range(30001, 59999)

#: What sacctmgr shows of a QOS, and takes under another name.
_TAKEN_AS = {
    "usagethres": "UsageThreshold", "grpsubmit": "GrpSubmitJobs", "maxsubmitpu": "MaxSubmitJobsPerUser",
    "maxsubmitpa": "MaxSubmitJobsPerAccount", "maxjobspu": "MaxJobsPerUser", "maxjobspa": "MaxJobsPerAccount",
    "maxtrespu": "MaxTRESPerUser", "maxtrespa": "MaxTRESPerAccount", "maxtres": "MaxTRESPerJob",
    "maxtresmins": "MaxTRESMinsPerJob", "mintres": "MinTRESPerJob", "minpriothres": "MinPrioThreshold",
    "maxjobsaccruepu": "MaxJobsAccruePerUser", "maxjobsaccruepa": "MaxJobsAccruePerAccount",
}  # fmt: skip
_NOT_SET = ("name", "id", "description")  # for there are others


@dataclass(frozen=True)
class Accounts:
    """What somebody's Slurm printed of its accounts."""

    path: Path
    text: str
    shares: Shares

    @property
    def differences(self) -> list[Difference]:
        """The keys and amounts that the database does not get."""
        used = Difference("RawUsage", str(self.path), "", "shares begin with nothing used")
        return [*self._written.dropped.values(), *([used] if self.shares.used else [])]

    @property
    def digest(self) -> str:
        """What tells it from others: SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def numbers(self, requests: list[Request], rights: Rights) -> dict[str, int]:
        """Return the number of each user but the one that submits; refuse jobs of others without the rights of root."""
        mine = "root" if rights.as_root else rights.user
        named = {user for _, user in self.shares.users} | {one.user for one in requests}
        users = sorted(named - {mine, "root", ""})
        for user in users:
            checked_name(user, "a user", self.path)
        if not rights.as_root:
            if theirs := {one.user for one in requests} - {mine}:
                raise HarnessError(
                    f"the jobs are of {counted(len(theirs), 'other user')} than {mine} ({shortened(min(theirs))}), and "
                    f"only root may submit as others: expected --as-root, called by root, or jobs of {mine} alone"
                )
            return {}
        taken = {entry.pw_uid for entry in pwd.getpwall()}
        free = (number for number in _NUMBERS if number not in taken)
        return {user: rights.number if user == rights.user else next(free) for user in users}

    def prepared(self, place: Place, cluster: str, users: Mapping[str, int] | None) -> dict[str, Any]:
        """Write what the daemons need to the folder; return what the program below the clock is told."""
        folder, user = place.folder, place.rights.user
        accounting.write_database(folder, place.database_port, user)
        dump = folder / "accounts"
        dump.write_text("".join(f"{line}\n" for line in self._written.lines), encoding="utf-8")
        if users:
            self._know(folder, {name: number for name, number in users.items() if name != user})
        return {
            "user": user, "cluster": (cluster or "cluster").lower(),
            "qos": list(self._written.qos.items()), "dump": str(dump) if self._written.lines else "",
            "group": min(users.values()) if users else None,
        }  # fmt: skip

    def _know(self, folder: Path, users: Mapping[str, int]) -> None:
        """Write the users of this machine with those of the jobs, who have a group together and are nobody's namesakes.

        What the users of jobs have to reach below the folder are the scripts that Slurm gives them.
        """
        group = min(users.values(), default=0)
        real = [line for line in read_text(PASSWD, "the users").splitlines() if line.partition(":")[0] not in users]
        made = [f"{name}:x:{number}:{group}::/:/bin/sh" for name, number in users.items()]
        (folder / "passwd").write_text("\n".join([*real, *made]) + "\n", encoding="utf-8")
        (folder / "passwd").chmod(0o644)
        for reached in (folder, folder / "spool"):
            reached.chmod(0o711)

    @cached_property
    def _written(self) -> "_Written":
        """The accounts and QOS for the database, written anew from known keys and checked values."""
        found = _Written()
        for where, kind, name, said in association_lines(self.text, self.path):
            values = [(key, value) for key, value in said.items() if value]
            kept, dropped = allowed.sifted(values, allowed.ASSOCIATIONS, where)
            note(found.dropped, f"{kind} in {self.path.name}", dropped)
            found.lines.append(f"{kind} - '{name}'" + "".join(f":{key}='{value}'" for key, value in kept))
            for names in (value for key, value in kept if key in ("QOS", "DefaultQOS")):
                found.qos |= {checked_name(one.lstrip("+-"), "a QOS", where): [] for one in names.split(",")}
        for number, row in qos_rows(self.text):
            where = f"{self.path}, line {number}"
            name = next(value for key, value in row.items() if key.lower() == "name")
            values = [
                (_TAKEN_AS.get(key.lower(), key), value)
                for key, value in row.items()
                if value and key.lower() not in _NOT_SET and value.lower() not in INFINITE
            ]
            kept, dropped = allowed.sifted(values, allowed.QOS, where)
            note(found.dropped, f"QOS in {self.path.name}", dropped)
            found.qos[name] = [f"{key}={value}" for key, value in kept]
        return found


@dataclass
class _Written:
    """The accounts and QOS for the database."""

    lines: list[str] = field(default_factory=list)  # of a file that sacctmgr loads
    qos: dict[str, list[str]] = field(default_factory=dict)  # what is set of each
    dropped: dict[str, Difference] = field(default_factory=dict)


def read_accounts(path: Path, given: SlurmConfiguration) -> Accounts:
    """Read accounts for an execution of a configuration that has a database of them."""
    if given.setting("AccountingStorageType").lower() != "accounting_storage/slurmdbd":
        raise HarnessError(
            f"{path}: accounts are given, but {given.path} has no database of them: expected "
            "AccountingStorageType=accounting_storage/slurmdbd there"
        )
    return Accounts(path, read_text(path, "what sacctmgr dump writes"), read_shares(path))
