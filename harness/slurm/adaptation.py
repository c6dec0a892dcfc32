"""What must differ here from the configuration of somebody's machine, so that it runs on this one, all by itself.

Everything else is used as it is given. Nothing that the scheduler decides by is changed, except what needs a database
of accounts.
"""

import getpass
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.disk.stored import read_text
from harness.errors import HarnessError, shortened
from harness.slurm.configuration import Pairs, SlurmConfiguration

#: Every node needs a port; and no name of nodes has more brackets.
_MOST, _DEEPEST = 65535, 8

_HOST = "the host"
_LOOPBACK = "nothing listens but on loopback"
_DAEMON = "where daemons keep their files, and as whom they run"
_SITE = "programs and plugins of the site"
_ACCOUNTS = "accounting: associations, QOS, their limits and fair share are not in force"
_CONFINED = "how jobs are started and confined: here they sleep"

#: What there is no use for here, by why: keys, in which `*` stands for any letters, and `?` for one.
_LEFT_OUT = {
    _HOST: "ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr SlurmctldHost SlurmctldParameters",
    _DAEMON: "SlurmdLogFile SlurmSchedLogFile SlurmSchedLogLevel SlurmctldSyslogDebug "
    "SlurmdSyslogDebug PluginDir JobCredentialPrivateKey JobCredentialPublicCertificate AuthAltTypes "
    "AuthAltParameters CryptoType TmpFS JobContainerType",
    _SITE: "*Program *Prolog *Epilog Prolog* Epilog? EpilogSlurmctld HealthCheck* PrEpPlugins PrEpParameters "
    "MailProg MailDomain JobSubmitPlugins CliFilterPlugins PlugStackConfig BurstBufferType UsePAM "
    "X11Parameters SlurmctldPrimary*",
    _ACCOUNTS: "AccountingStorage* AccountingStore* JobCompHost JobCompPass JobCompPort JobCompUser JobCompParams",
    _CONFINED: "JobAcctGather* AcctGather* LaunchParameters LaunchType MpiParams SwitchParameters TaskPluginParam "
    "NodeFeaturesPlugins CoreSpecPlugin ExtSensors* PowerPlugin PowerParameters PrivateData",
}

#: What of it there is a use for where accounts are given.
_OF_ACCOUNTS = ("accountingstorageenforce", "accountingstoragetres")


@dataclass(frozen=True)
class Place:
    """Where an execution lives: a folder of its own, and ports on loopback that nobody uses."""

    folder: Path
    controller_port: int
    node_ports: tuple[int, ...]
    database_port: int = 0  # of slurmdbd, where accounts are given


@dataclass(frozen=True)
class Difference:
    """Something that is not as the given configuration says, and why."""

    key: str
    given: str
    here: str  # empty: left out
    why: str


def adapted(given: SlurmConfiguration, place: Place, nodes: list[list[str]]) -> tuple[str, list[Difference]]:
    """Return the configuration to use here as the text of a file, and how it differs from the given one.

    `nodes` are the names of the nodes of each `NodeName` line.
    """
    replaced = _replaced(given, place)
    differences = []
    lines = []
    for key, value in given.settings.items():
        if key.lower() in {other.lower() for other in replaced}:
            continue
        kept = place.database_port and key.lower() in _OF_ACCOUNTS
        if not kept and (why := _why_left_out(key, value)):
            differences.append(Difference(key, value, "", why))
        else:
            lines.append(f"{key}={_quoted(value)}")
    for key, (value, why) in replaced.items():
        lines.append(f"{key}={_quoted(value)}")
        before = given.setting(key)
        if before != value:
            differences.append(Difference(key, before, value, why))
    ports = iter(place.node_ports)
    described = iter(nodes)
    for pairs in given.tables:
        if pairs[0][0].lower() == "nodename" and pairs[0][1].lower() != "default":
            pairs = _node_line(pairs, [next(ports) for _ in next(described)])
        lines.append(" ".join(f"{key}={_quoted(value)}" for key, value in pairs))
    return "\n".join(lines) + "\n", differences


def prepare_folder(given: SlurmConfiguration, place: Place) -> None:
    """Make the folders and files beside the configuration: a key for munge, and what describes GPUs and topology."""
    for name in ("state", "spool", "log", "munge", "jobs", "devices"):
        (place.folder / name).mkdir(mode=0o700)
    key = place.folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    for name in ("gres.conf", "topology.conf"):
        beside = given.path.parent / name
        if os.path.lexists(beside):
            text = read_text(beside, "what describes the nodes of a slurm.conf")
            (place.folder / name).write_text(_with_devices(text, place.folder / "devices"), encoding="utf-8")


def user_of_slurm() -> str:
    """Return as whom the daemons run: as whoever calls."""
    return getpass.getuser() if os.getuid() else "root"


def node_names(given: SlurmConfiguration) -> list[list[str]]:
    """Return the names of the nodes of each `NodeName` line, in their order."""
    return [expanded(line["nodename"]) for line in given.lines("NodeName") if line["nodename"].lower() != "default"]


def expanded(names: str) -> list[str]:
    """Return the names that `n[1-3,7],m` stands for."""
    found: list[str] = []
    for item in re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*", names):
        if item.count("[") > _DEEPEST:
            raise HarnessError(f"the nodes {shortened(item)}: expected names and numbers, as in n[1-4,7]")
        before, bracket, rest = item.partition("[")
        if not bracket:
            found.append(item)
            continue
        inner, _, after = rest.partition("]")
        for number in _numbers(inner, names):
            found += expanded(f"{before}{number}{after}")
            if len(found) > _MOST:
                raise HarnessError(f"the nodes {shortened(names)}: more than {_MOST}, as many as there are ports")
    return found


def _numbers(ranges: str, names: str) -> Iterator[str]:
    for item in ranges.split(","):
        low, _, high = item.partition("-")
        if not low.isdecimal() or not (high or low).isdecimal() or len(high or low) > 7:
            raise HarnessError(f"the nodes {shortened(names)}: expected names and numbers, as in n[1-4,7]")
        for number in range(int(low), int(high or low) + 1):
            yield f"{number:0{len(low)}d}"


def _replaced(given: SlurmConfiguration, place: Place) -> dict[str, tuple[str, str]]:
    """Return what is set otherwise here, and why."""
    folder, user = place.folder, user_of_slurm()
    parameters = {word for word in given.setting("SlurmdParameters").split(",") if word}
    ways = {word for word in given.setting("CommunicationParameters").split(",") if word}
    storage = {"AccountingStorageType": ("accounting_storage/none", _ACCOUNTS)}
    if place.database_port:
        own = {"Type": "accounting_storage/slurmdbd", "Host": "127.0.0.1", "Port": str(place.database_port)}
        own["Pass"] = f"{folder}/munge/socket"
        storage = {f"AccountingStorage{key}": (value, "a database of its own") for key, value in own.items()}
    return storage | {
        "ClusterName": (given.setting("ClusterName", "cluster"), "needed"),
        "SlurmctldHost": (f"{socket.gethostname().partition('.')[0]}(127.0.0.1)", _HOST),
        "SlurmctldPort": (str(place.controller_port), _HOST),
        "CommunicationParameters": (",".join(sorted(ways | {"NoCtldInAddrAny", "NoInAddrAny"})), _LOOPBACK),
        "AuthType": ("auth/munge", "a munge of its own"),
        "AuthInfo": (f"socket={folder}/munge/socket", "a munge of its own"),
        "CredType": ("cred/munge", "a munge of its own"),
        "SlurmUser": (user, _DAEMON),
        "SlurmdUser": (user, _DAEMON),
        "StateSaveLocation": (f"{folder}/state", _DAEMON),
        "SlurmdSpoolDir": (f"{folder}/spool/%n", _DAEMON),
        "SlurmctldLogFile": (f"{folder}/log/controller", _DAEMON),
        "SlurmctldPidFile": (f"{folder}/controller.pid", _DAEMON),
        "SlurmdPidFile": (f"{folder}/%n.pid", _DAEMON),
        "SlurmdParameters": (",".join(sorted(parameters | {"config_overrides"})), "nodes are what the file says"),
        "ReturnToService": ("2", "nodes serve as soon as they answer"),
        "ProctrackType": ("proctrack/pgid", _CONFINED),
        "TaskPlugin": ("task/none", _CONFINED),
        "SwitchType": ("switch/none", _CONFINED),
        "MpiDefault": ("none", _CONFINED),
        "JobAcctGatherType": ("jobacct_gather/none", _CONFINED),
        "JobCompType": ("jobcomp/filetxt", "what happened is read from there"),
        "JobCompLoc": (f"{folder}/log/jobcomp", "what happened is read from there"),
        "MailProg": (shutil.which("true") or "/bin/true", _SITE),
    }


def _why_left_out(key: str, value: str) -> str:
    """Return why a setting is left out, empty if it is kept; what is at an absolute path may be a program to run."""
    for why, keys in _LEFT_OUT.items():
        for known in keys.lower().split():
            pattern = re.escape(known).replace(r"\*", ".*").replace(r"\?", ".")
            if re.fullmatch(pattern, key.lower()):
                return why
    return _SITE if value.lstrip().startswith("/") else ""


def _node_line(pairs: Pairs, ports: list[int]) -> Pairs:
    """Return the line of some nodes that live on this host, each with a port of its own."""
    theirs = ("nodehostname", "nodeaddr", "port", "state")
    kept = tuple((key, value) for key, value in pairs if key.lower() not in theirs)
    listed = f"[{ports[0]}-{ports[-1]}]" if len(ports) > 1 else str(ports[0])
    host = socket.gethostname().partition(".")[0]
    return (*kept, ("NodeHostname", host), ("NodeAddr", "127.0.0.1"), ("Port", listed), ("State", "UNKNOWN"))


def _with_devices(text: str, folder: Path) -> str:
    """Let the devices of GPUs be files that exist: Slurm looks whether they do."""

    def made(match: re.Match[str]) -> str:
        names = [name.rpartition("/")[2] for name in expanded(match[1])]
        for name in names:
            (folder / name).touch()
        return "File=" + ",".join(f"{folder}/{name}" for name in names)

    return re.sub(r"(?i)\bFile=(\S+)", made, text)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
