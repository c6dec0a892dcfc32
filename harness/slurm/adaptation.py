"""The configuration files of an execution, written anew from the parsed values of a site's files.

Only keys that are known to be harmless are written; every other key is listed as a difference. Keys that the scheduler
decides by are written as they are given, except those that need a database of accounts.
"""

import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.slurm import allowed
from harness.slurm.configuration import Pairs, SlurmConfiguration, lines_of
from harness.slurm.confinement import Rights, rights
from harness.slurm.slurm_names import expanded

#: The largest number of devices of one kind.
_MOST_DEVICES = 4096

_HOST = "the host"
_LOOPBACK = "nothing listens but on loopback"
_DAEMON = "where daemons keep their files, and as whom they run"
_SITE = "programs and plugins of the site"
_ACCOUNTS = "accounting: associations, QOS, their limits and fair share are not in force"
_CONFINED = "how jobs are started and confined: here they sleep"

_POWER = "power saving: nodes stay on"

#: Keys of Slurm that are left out, by the reason. `*` stands for any letters, and `?` for one.
_LEFT_OUT = {
    _HOST: "ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr SlurmctldHost SlurmctldParameters "
    "NodeHostname NodeAddr BcastAddr Port State Reason AllocNodes SrunPortRange FederationParameters",
    _DAEMON: "SlurmdLogFile SlurmSchedLogFile SlurmSchedLogLevel SlurmctldSyslogDebug "
    "SlurmdSyslogDebug PluginDir JobCredentialPrivateKey JobCredentialPublicCertificate AuthAltTypes "
    "AuthAltParameters CryptoType TmpFS JobContainerType",
    _SITE: "*Program *Prolog *Epilog Prolog* Epilog? EpilogSlurmctld HealthCheck* PrEpPlugins PrEpParameters "
    "MailProg MailDomain JobSubmitPlugins CliFilterPlugins PlugStackConfig BurstBufferType UsePAM "
    "X11Parameters SlurmctldPrimary* AutoDetect SlurmctldPlugstack SlurmEventHandlerLogfile *Plugin ScronParameters",
    _ACCOUNTS: "AccountingStorage* AccountingStore* JobCompHost JobCompPass JobCompPort JobCompUser JobCompParams",
    _CONFINED: "JobAcctGather* AcctGather* LaunchParameters LaunchType MpiParams SwitchParameters TaskPluginParam "
    "NodeFeaturesPlugins CoreSpecPlugin ExtSensors* PowerPlugin PowerParameters PrivateData "
    "BcastParameters CpuFreq* GpuFreqDef InteractiveStepOptions RequeueExit*",
    _POWER: "Resume* Suspend*",
}

_UNKNOWN = "keys that are not known to be harmless"
_NODES = "every node is on this machine and idle at first"

#: Keys of `gres.conf` whose values are files of devices.
_FILES = {"file": "File", "multiplefiles": "MultipleFiles"}

#: The keys of lines that are written, by the first key of the line.
_LINES = {
    "nodename": allowed.NODES,
    "partitionname": allowed.PARTITIONS,
    "nodeset": allowed.NODE_SETS,
}


@dataclass(frozen=True)
class Place:
    """Where an execution lives: a folder of its own, and ports on loopback that nobody uses."""

    folder: Path
    controller_port: int
    node_ports: tuple[int, ...]
    database_port: int = 0  # of slurmdbd, where accounts are given
    rights: Rights = field(default_factory=rights)


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
    replacing = {key.lower() for key in replaced}
    keys = allowed.SETTINGS | (allowed.OF_ACCOUNTS if place.database_port else {})
    others = [(key, value) for key, value in given.settings.items() if key.lower() not in replacing]
    kept, dropped = allowed.sifted(others, keys, given.path)
    differences = [_left_out(key, value) for key, value in dropped]
    lines = [f"{key}={value}" for key, value in kept]
    for key, (value, why) in replaced.items():
        lines.append(f'{key}="{value}"' if " " in value else f"{key}={value}")
        before = given.setting(key)
        if before != value:
            differences.append(Difference(key, before, value, why))
    ports = iter(place.node_ports)
    described = iter(nodes)
    of_lines: dict[str, Difference] = {}
    for pairs in given.tables:
        table, name = pairs[0]
        known = _LINES.get(table.lower())
        if known is None:
            of_lines.setdefault(table.lower(), Difference(table, name, "", _NODES))
            continue
        kept, dropped = allowed.sifted(pairs, known, given.path)
        note(of_lines, table, dropped)
        if table.lower() == "nodename" and name.lower() != "default":
            kept = _node_line(kept, [next(ports) for _ in next(described)])
        lines.append(_line(kept))
    return "\n".join(lines) + "\n", [*differences, *of_lines.values()]


def prepare_folder(given: SlurmConfiguration, place: Place) -> list[Difference]:
    """Make the other folders and files of an execution: a key for munge, `gres.conf` and `topology.conf`.

    Return how the last two differ from the given ones.
    """
    for name in ("state", "spool", "pids", "log", "munge", "jobs", "devices"):
        (place.folder / name).mkdir(mode=0o700)
    key = place.folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    found: dict[str, Difference] = {}
    for name, known in (("gres.conf", allowed.THINGS), ("topology.conf", allowed.SWITCHES)):
        beside = given.path.parent / name
        if os.path.lexists(beside):
            lines = list(_described(beside, known, found, place.folder / "devices"))
            (place.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(found.values())


def _described(
    path: Path, known: dict[str, tuple[str, str]], found: dict[str, Difference], devices: Path
) -> Iterator[str]:
    """Yield the lines to write of `gres.conf` or `topology.conf`, and note the differences in `found`."""
    numbers: dict[str, int] = {}
    for where, pairs in lines_of(path, "a file that describes the nodes of a slurm.conf"):
        files = [(_FILES[key.lower()], value) for key, value in pairs if key.lower() in _FILES]
        kept, dropped = allowed.sifted([pair for pair in pairs if pair[0].lower() not in _FILES], known, where)
        note(found, path.name, dropped)
        if known is allowed.THINGS:
            kept += tuple((key, _devices(value, where, devices, numbers)) for key, value in files)
        if len(kept) > 1 or (kept and kept[0][0] != "NodeName"):
            yield _line(kept)


def node_names(given: SlurmConfiguration) -> list[list[str]]:
    """Return the names of the nodes of each `NodeName` line, in their order."""
    return [expanded(line["nodename"]) for line in given.lines("NodeName") if line["nodename"].lower() != "default"]


def _replaced(given: SlurmConfiguration, place: Place) -> dict[str, tuple[str, str]]:
    """Return what is set otherwise here, and why."""
    folder, user = place.folder, place.rights.user
    storage = {"AccountingStorageType": ("accounting_storage/none", _ACCOUNTS)}
    if place.database_port:
        own = {"Type": "accounting_storage/slurmdbd", "Host": "127.0.0.1", "Port": str(place.database_port)}
        own["Pass"] = f"{folder}/munge/socket"
        storage = {f"AccountingStorage{key}": (value, "a database of its own") for key, value in own.items()}
    return storage | {
        "ClusterName": (given.setting("ClusterName", "cluster"), "needed"),
        "SlurmctldHost": (f"{socket.gethostname().partition('.')[0]}(127.0.0.1)", _HOST),
        "SlurmctldPort": (str(place.controller_port), _HOST),
        "CommunicationParameters": ("NoCtldInAddrAny,NoInAddrAny", _LOOPBACK),
        "AuthType": ("auth/munge", "a munge of its own"),
        "AuthInfo": (f"socket={folder}/munge/socket", "a munge of its own"),
        "CredType": ("cred/munge", "a munge of its own"),
        "SlurmUser": (user, _DAEMON),
        "SlurmdUser": ("root" if place.rights.as_root else user, _DAEMON),
        "StateSaveLocation": (f"{folder}/state", _DAEMON),
        "SlurmdSpoolDir": (f"{folder}/spool/%n", _DAEMON),
        "SlurmctldLogFile": (f"{folder}/log/controller", _DAEMON),
        "SlurmctldPidFile": (f"{folder}/state/controller.pid", _DAEMON),
        "SlurmdPidFile": (f"{folder}/pids/%n", _DAEMON),
        "SlurmdParameters": ("config_overrides", "nodes are what the file says"),
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


def note(found: dict[str, Difference], of: str, dropped: Pairs) -> None:
    """Note in `found` the keys of one line that are left out, each once."""
    for key, value in dropped:
        name = f"{of} {key}".lower()
        if name not in found:
            found[name] = _left_out(key, value, f"{of} ")


def _left_out(key: str, value: str, of: str = "") -> Difference:
    """Return the difference of a key that is not written. Values of unknown keys are not shown: they may be secrets."""
    for why, keys in _LEFT_OUT.items():
        for known in keys.lower().split():
            pattern = re.escape(known).replace(r"\*", ".*").replace(r"\?", ".")
            if re.fullmatch(pattern, key.lower()):
                return Difference(of + key, value, "", why)
    return Difference(of + key, "(not shown)", "", _UNKNOWN)


def _node_line(pairs: Pairs, ports: list[int]) -> Pairs:
    """Return the line of some nodes that live on this host, each with a port of its own."""
    listed = f"[{ports[0]}-{ports[-1]}]" if len(ports) > 1 else str(ports[0])
    host = socket.gethostname().partition(".")[0]
    return (*pairs, ("NodeHostname", host), ("NodeAddr", "127.0.0.1"), ("Port", listed), ("State", "UNKNOWN"))


def _line(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{key}={value}" for key, value in pairs)


def _devices(value: str, where: str, folder: Path, numbers: dict[str, int]) -> str:
    """Return files that stand for the devices of GPUs, by their numbers here: Slurm looks whether they exist."""
    found = []
    for name in expanded(value.replace("/", "_"), where, _MOST_DEVICES):
        file = folder / f"device{numbers.setdefault(name, len(numbers))}"
        file.touch()
        found.append(str(file))
    return ",".join(found)
