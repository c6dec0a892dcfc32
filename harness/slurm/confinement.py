"""How the program below the clock is started: no process of an execution outlives it, and none has needless rights."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError

PASSWD = Path("/etc/passwd")

#: As which user the daemons run that root starts and that need no rights of root.
UNPRIVILEGED = "nobody"

#: `unshare` in a PID namespace: the kernel kills every process in it when its first one ends, or `unshare` itself.
_NAMESPACE = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c")

#: An ordinary user may make one within a user namespace, where it keeps its own number.
_WAYS: tuple[tuple[str, ...], ...] = ((), ("--user", "--map-current-user"))

#: What stays root's where jobs of several users are submitted, and why.
_AS_ROOT = (
    ("slurmd, slurmstepd", "they start each job as its user"),
    ("the program that submits the jobs", "only root may submit jobs of other users"),
)

#: What stays root's in any execution that root starts.
_WAITING = ("harness, faketime, unshare, sh", "root started them, and they wait for its end")


@dataclass(frozen=True)
class Rights:
    """As which user an execution runs."""

    user: str
    number: int
    group: int
    as_root: bool  # whether jobs of several users are submitted, for which slurmd needs root

    @property
    def dropped(self) -> bool:
        """Whether root starts it, and the daemons have another user."""
        return os.getuid() != self.number

    @property
    def still_root(self) -> dict[str, str]:
        """Return what runs as root all the same, and why."""
        return dict(((_WAITING,) + _AS_ROOT * self.as_root) if self.dropped else ())

    @property
    def planned(self) -> dict[str, dict[str, int] | None]:
        """Return as which user the program below the clock goes on, or else as which user it starts daemons."""
        user = {"user": self.number, "group": self.group} if self.dropped else None
        return {"drop": None if self.as_root else user, "rights": user if self.as_root else None}

    def hand_over(self, folder: Path) -> None:
        """Give the folder to the user of the daemons; where slurmd is root's, only what other daemons write."""
        if not self.dropped:
            return
        if closed := [str(path) for path in folder.resolve().parents if not path.stat().st_mode & 0o001]:
            raise HarnessError(
                f"{folder}: the user {self.user}, as which the daemons run, may not pass through {closed[-1]}: "
                "expected TMPDIR to be a folder like /tmp"
            )
        theirs = ("state", "log", "munge", "devices", "slurm.conf", "slurmdbd.conf", "gres.conf", "topology.conf")
        tops = [path for name in theirs if (path := folder / name).exists()] if self.as_root else [folder]
        for top in tops:
            for path in (*top.rglob("*"), top):  # until the end, no other process of the user reaches what is below
                os.chown(path, self.number, self.group, follow_symlinks=False)
        if self.as_root:
            folder.chmod(0o711)


def rights(*, as_root: bool = False) -> Rights:
    """Return as which user an execution runs: as the caller, or as an unprivileged user if that is root."""
    own = os.getuid()
    if as_root and own:
        raise HarnessError(f"--as-root: the user here has the number {own}: expected root, or no --as-root")
    try:
        entry = pwd.getpwuid(own) if own else pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        missing = f"the number {own}" if own else repr(UNPRIVILEGED)
        raise HarnessError(f"Slurm needs a user with a name, and {PASSWD} has none for {missing}") from None
    return Rights(entry.pw_name, entry.pw_uid, entry.pw_gid, as_root)


def confined(folder: Path) -> list[str]:
    """Return the words before a command that start it in a PID namespace; none where the system allows no such thing.

    Where the folder has a `passwd`, only processes of the execution see it, as the machine's own.
    """
    passwd = folder / "passwd"
    bind = f'mount --bind "$0" {PASSWD} && ' if passwd.exists() else ""
    for way in _WAYS:
        # The shell waits for the command, and for the processes that lose their parents.
        words = ["unshare", *way, *_NAMESPACE, f'{bind}"$@"; exit $?', str(passwd)]
        try:
            if subprocess.run([*words, "/bin/true"], capture_output=True).returncode == 0:
                return words
        except OSError:
            break
    if bind:
        raise HarnessError(
            "users of other names need a private view of /etc/passwd, and `unshare --mount --pid` may not make one "
            "here: expected a root that may mount (CAP_SYS_ADMIN)"
        )
    return []
