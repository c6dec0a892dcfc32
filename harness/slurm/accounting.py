"""A database of accounts beside the controller, all private: MariaDB by its socket alone, and slurmdbd on loopback.

It is started below the accelerated clock, as the controller is, except for MariaDB, which has no business with time.
Nothing but the standard library is used here.
"""

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.slurm.cluster_process import Daemons

#: The programs that are needed besides, and the packages of Debian that they are in.
PROGRAMS = ("slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db")
PACKAGES = "slurmdbd mariadb-server"

_DATABASE = """AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser={user}
StorageLoc=slurm
LogFile={folder}/log/slurmdbd.own
PidFile={folder}/state/slurmdbd.pid
CommunicationParameters=NoInAddrAny
"""

#: What Slurm's database asks of MariaDB, and what spares time and room: nothing of it is to be kept.
_SETTINGS = (
    "--skip-networking", "--skip-log-bin", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M",
    "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0", "--performance-schema=off",
)  # fmt: skip


def write_database(folder: Path, port: int, user: str) -> None:
    """Write slurmdbd's configuration: it is known to MariaDB by whom it runs as, so that there is no password."""
    place = folder / "slurmdbd.conf"
    place.touch(mode=0o600)
    place.write_text(_DATABASE.format(folder=folder, port=port, user=user), encoding="utf-8")


def start_database(daemons: "Daemons") -> None:
    """Start MariaDB and slurmdbd; munge runs already. The cluster and its QOS are known afterwards, by name."""
    plan = daemons.plan
    folder, programs, wanted = Path(plan["folder"]), plan["programs"], plan["accounts"]
    os.environ["MYSQL_UNIX_PORT"] = socket = f"{folder}/log/database.sock"
    own = (
        "--no-defaults",
        f"--datadir={folder}/state/database",
        f"--tmpdir={folder}/state",
        f"--user={wanted['user']}",
    )
    known = ("--auth-root-authentication-method=socket", f"--auth-root-socket-user={wanted['user']}", "--skip-test-db")
    clock = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("LD_PRELOAD", "FAKETIME"))}
    try:
        daemons.tried("mariadb-install-db", *own, *known, **daemons.rights)
        where = (f"--socket={socket}", f"--pid-file={folder}/state/database.pid")
        daemons.start("mariadbd", [programs["mariadbd"], *own, *_SETTINGS, *where])
    finally:
        os.environ.update(clock)
    daemons.wait(Path(socket).exists, "MariaDB did not open its socket", "mariadbd")
    daemons.start("slurmdbd", [programs["slurmdbd"], "-D"])
    asked = [programs["sacctmgr"], "-n", "show", "cluster"]
    daemons.wait(
        lambda: subprocess.run(asked, capture_output=True).returncode == 0, "slurmdbd does not answer", "slurmdbd"
    )
    daemons.tried("sacctmgr", "-i", "add", "cluster", wanted["cluster"])
    for name, _ in wanted["qos"]:
        if name != "normal":  # which there always is
            daemons.tried("sacctmgr", "-i", "add", "qos", name)


def fill_database(daemons: "Daemons") -> None:
    """Let the database know QOS, accounts and users, with their shares and limits.

    The controller runs, as it alone says what is counted (gres, licences), and has to begin anew.
    """
    wanted = daemons.plan["accounts"]
    for name, settings in wanted["qos"]:
        if settings:
            daemons.tried("sacctmgr", "-i", "modify", "qos", name, "set", *settings)
    if wanted["user"] != "root":  # whom the database knows: a dump is taken from those alone
        admin = ("account=root", "AdminLevel=Administrator", "Fairshare=0")
        daemons.tried("sacctmgr", "-i", "add", "user", wanted["user"], *admin)
    if wanted["dump"]:
        daemons.tried("sacctmgr", "-i", "load", f"file={wanted['dump']}", f"cluster={wanted['cluster']}")
