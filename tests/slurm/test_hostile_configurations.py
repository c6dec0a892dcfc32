"""Configurations from elsewhere run no program, name no path, and end: the written files hold only what is harmless."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.slurm import cluster_process, slurm_execution
from harness.slurm.accounts_given import read_accounts
from harness.slurm.adaptation import Place, adapted, node_names, prepare_folder
from harness.slurm.associations import read_shares
from harness.slurm.cluster import cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.confinement import rights
from harness.slurm.private_dir import free_ports, private_folder
from harness.slurm.requests import Request
from harness.slurm.sbatch_options import asked_of_sbatch, whose
from harness.slurm.slurm_names import expanded

SMALL = """ClusterName=small
SelectType=select/linear
NodeName=n[1-2] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

#: Lines that would run the program EVIL, or make Slurm read, load or write a file of their choice. Each is dropped.
DROPPED = [
    "EpilogSlurmctld+=\"EVIL\"", "TaskProlog+=EVIL", "TaskEpilog-=EVIL", "Prolog*=EVIL", "Epilog/=EVIL",
    ' PrologSlurmctld="EVIL"', "\tPrologSlurmctld\t=\tEVIL", "EPILOGSLURMCTLD = EVIL", "epilog= EVIL",
    "Prolog\\\n=EVIL", "Pro\\\nlog=EVIL", "Prolog=\\\nEVIL", "PrologSlurmctld=EVIL\\", "Epilog=EVIL # harmless",
    "Ep\\ilog=EVIL", "Prolog=EVIL\r", "Prolog=EVIL\nprolog=EVIL", "Licenses=a:1 Epilog=EVIL",
    "MailProg=EVIL", " PluginDir=FOLDER", "PluginDir+=FOLDER", " JobSubmitPlugins=lua", "CliFilterPlugins=lua",
    " PlugStackConfig=FOLDER/plug", "SlurmctldPlugstack=evil", " AccountingStorageType=accounting_storage/mysql",
    "PrEpPlugins=prep/evil", "PrEpParameters=EVIL", "HealthCheckProgram=EVIL\nHealthCheckInterval=1",
    "RebootProgram=EVIL", "ResumeProgram=EVIL\nSuspendProgram=EVIL\nSuspendTime=1\nResumeFailProgram=EVIL",
    "UnkillableStepProgram=EVIL", "ResvProlog=EVIL\nResvEpilog=EVIL", "SrunProlog=EVIL\nSrunEpilog=EVIL",
    "SlurmctldPrimaryOnProg=EVIL\nSlurmctldPrimaryOffProg=EVIL", "BurstBufferType=burst_buffer/lua",
    "NodeFeaturesPlugins=node_features/helpers", "JobCompType=jobcomp/script\nJobCompLoc=EVIL",
    "PrioritySiteFactorPlugin=site_factor/evil", "AcctGatherProfileType=acct_gather_profile/hdf5",
    "JobContainerType=job_container/tmpfs", "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=EVIL",
    "StateSaveLocation=FOLDER", "SlurmdSpoolDir=FOLDER", "SlurmctldLogFile=FOLDER/x", "SlurmdLogFile=FOLDER/%n",
    "SlurmSchedLogFile=FOLDER/y\nSlurmSchedLogLevel=1", "SlurmctldPidFile=EVIL", "TaskPlugin=task/evil",
    "SlurmUser=daemon", "CommunicationParameters=EnableIPv6", "SlurmdParameters=l3cache_as_socket",
    "SlurmctldParameters=enable_configless", "LaunchParameters=use_interactive_step", "X11Parameters=home_xauthority",
    "InteractiveStepOptions=EVIL", "BcastParameters=DestDir=FOLDER", "SlurmEventHandlerLogfile=EVIL",
    "JobCredentialPrivateKey=EVIL", "FutureProgram=EVIL", "Some.Key=EVIL",
    "include FOLDER/x=evil.conf", "Include\tx=evil.conf", "DownNodes=n1 State=DOWN Epilog=EVIL Reason=EVIL",
    "NodeSet=some Nodes=n1 TaskProlog=EVIL", "FrontEndName=f Prolog=EVIL", "SwitchName=s Nodes=n1 Epilog=EVIL",
    "PartitionName=more Nodes=n2 Epilog=EVIL ResumeProgram=EVIL AllocNodes=FOLDER",
]  # fmt: skip

#: Lines that are refused: names that are paths, values of another form, and text outside Slurm's grammar.
REFUSED = [
    "EpilogSlurmctld+='\"EVIL\"'", "Epilog='EVIL'", 'SchedulerParameters=x"Epilog=EVIL"', "Prolog=EVIL\0",
    "Prolog\0=EVIL", "\0", "\u00a0Prolog=EVIL", "Prolog\u2003=EVIL", "Pro\u200blog=EVIL", "Prolog=a\x0bEpilog=EVIL",
    "Prolog=a\rEpilog=EVIL", "\x1b[2JEpilog=EVIL", "Prolog", "Prolog=", "=EVIL", "[Prolog]",
    "Include FOLDER/*.conf", "Include none.conf", "Include x=evil.conf Epilog=EVIL", " Include x=evil.conf",
    "Include /dev/zero", "SelectType=select/../../evil", "SelectType=evil", "SchedulerType=EVIL",
    "PriorityType=priority/evil", "TopologyPlugin=topology/evil", "PreemptType=EVIL", "GresTypes=../evil",
    "SchedulerParameters=EVIL", "SchedulerParameters=a=EVIL", "SchedulerParameters=a,EVIL", "Licenses=a:1,../x",
    'SchedulerParameters="a b"', "DebugFlags=a\\\\", "SlurmctldDebug=EVIL", "KillWait=$(EVIL)", "MaxJobCount=999999999",
    "ClusterName=../evil", "ClusterName=-c", "NodeName=FOLDER/victim[1-2]", "NodeName=../../victim", "NodeName=-n",
    "NodeName=.n", "NodeName=a,../b", "NodeName=[1-2]/../x", "NodeName=a[1-2]/b", "NodeName=a%b", "NodeName=\"a b\"",
    'NodeName=""', "NodeName=a Feature=../x", "NodeName=a CPUs=EVIL", "NodeName=a PartitionName=b",
    "NodeName=a Gres=gpu:/x", "NodeName=n\u0661", "PartitionName=../x Nodes=n1", "PartitionName=-x Nodes=n1",
    "PartitionName=q Nodes=../n1", "PartitionName=q Nodes=n1 AllowAccounts=EVIL", "PartitionName=q,r Nodes=n1",
    "PartitionName=q Nodes=n1 QOS=../x", "PartitionName=q Nodes=n1 NodeName=z", "NodeSet=../x Nodes=n1",
]  # fmt: skip


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A program that leaves a mark, and a file to include that names it."""
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
    program.chmod(0o755)
    (tmp_path / "x=evil.conf").write_text(f"TaskProlog={program}\nSrunProlog={program}\n")
    return program


def written(lines: list[str], evil: Path) -> Path:
    """Write a small configuration with additional lines."""
    conf = evil.parent / "slurm.conf"
    text = "\n".join(lines).replace("EVIL", str(evil)).replace("FOLDER", str(evil.parent))
    conf.write_bytes(f"{SMALL}{text}\n".encode())
    return conf


def as_used(conf: Path, folder: Path) -> tuple[str, list[str]]:
    """Return all files that an execution writes, and the keys of the differences."""
    given = read_slurm(conf)
    cluster_of(given)
    nodes = node_names(given)
    place = Place(folder, 7000, tuple(range(7001, 7001 + sum(map(len, nodes)))))
    text, differences = adapted(given, place, nodes)
    differences += prepare_folder(given, place)
    texts = [file.read_text() for name in ("gres.conf", "topology.conf") if (file := folder / name).exists()]
    return "\n".join([text, *texts]), [difference.key for difference in differences]


@pytest.mark.parametrize("line", DROPPED)
def test_hostile_lines_are_dropped_and_listed(line: str, evil: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "here", 7000, tuple(range(7001, 7010)))
    texts, differences = [], []
    for lines in ([], [line]):
        given = read_slurm(written(lines, evil))
        cluster_of(given)
        text, found = adapted(given, place, node_names(given))
        texts.append(set(text.splitlines()))
        differences.append(set(found))
    assert texts[1] - texts[0] <= {"Licenses=a:1", "NodeSet=some Nodes=n1", "PartitionName=more Nodes=n2"}
    keys = {one.key.split()[-1].lower() for one in differences[1] - differences[0]}
    for key in re.findall(r"(?:^|(?<=[\s]))(\w*(?:Pro|Epi)log\w*|\w*Program)(?=\W)", line):
        assert key.lower() in keys or line.startswith(("DownNodes", "FrontEndName", "SwitchName"))
    assert keys


@pytest.mark.parametrize("line", REFUSED)
def test_paths_and_values_of_another_form_are_refused(line: str, evil: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    victim = tmp_path / "victim1"
    victim.write_text("mine")
    with pytest.raises(HarnessError) as caught:
        as_used(written([line], evil), folder)
    assert "\n" not in str(caught.value)
    assert victim.read_text() == "mine"


needs_slurm = pytest.mark.skipif(
    any(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None for name in slurm_execution.PROGRAMS),
    reason=f"no real Slurm is installed: apt-get install {slurm_execution.PACKAGES}",
)


def shown(conf: Path, evil: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Start the daemons on the rewritten configuration, run a job, and return the controller's settings."""
    given = read_slurm(conf)
    nodes = node_names(given)
    every = [name for line in nodes for name in line]
    with private_folder() as folder:
        controller, ports = free_ports(len(every))
        place = Place(folder, controller, ports, rights=rights(as_root=os.getuid() == 0))
        (folder / "slurm.conf").write_text(adapted(given, place, nodes)[0])
        prepare_folder(given, place)
        place.rights.hand_over(folder)
        patch.setattr(cluster_process, "watched", lambda: None)
        patch.setenv("SLURM_CONF", f"{folder}/slurm.conf")
        plan = {"folder": str(folder), "speed": 1, "kept": [], "programs": slurm_execution.programs(), "nodes": every}
        daemons = cluster_process.Daemons({**plan, "accounts": None, **place.rights.planned})
        try:
            daemons.start_all()
            script = folder / "jobs" / "1"
            script.write_text("#!/bin/sh\nexec sleep 1\n")
            daemons.tried("sbatch", "--output=/dev/null", "--error=/dev/null", str(script))
            ended = folder / "log" / "jobcomp"
            daemons.wait(lambda: ended.exists() and "COMPLETED" in ended.read_text(), "the job does not end")
            time.sleep(1)  # an epilog would run after the job
            text = daemons.tried("scontrol", "show", "config")
            logs = {one.name for one in (folder / "log").iterdir()}
        finally:
            daemons.stop_all()
    assert logs.isdisjoint(every)
    lines = (line.partition("=") for line in text.replace(str(folder), "HERE").splitlines())
    return {key.strip(): value.strip() for key, equals, value in lines if equals}


@needs_slurm
@pytest.mark.slow
def test_a_controller_shows_the_same_with_and_without_hostile_lines(
    evil: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (evil.parent / "gres.conf").write_text(f"AutoDetect=nvml\nName=gpu Count=0 Flags=CountOnly Epilog={evil}\n")
    found = shown(written(DROPPED, evil), evil, monkeypatch)
    (evil.parent / "gres.conf").unlink()
    plain = shown(written([], evil), evil, monkeypatch)
    changing = {"BOOT_TIME", "SlurmctldPort", "Licenses", "NEXT_JOB_ID", "HASH_VAL"}
    assert {key for key in plain if found.get(key) != plain[key]} <= changing
    for key, value in found.items():
        if re.search(r"(prolog|epilog|prog|program|plugins|slurmctld|plugstack|config)$", key, re.IGNORECASE):
            assert value in ("(null)", "prep/script", shutil.which("true")), key  # which runs what is (null)
    assert "evil" not in str(found)
    assert not (evil.parent / "mark").exists()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gres.conf", "NodeName=n1 Name=gpu File=/etc/passwd,/dev/nvidia[0-1] Cores=0-1", 3),
        ("gres.conf", "AutoDetect=nvml\nInclude x=evil.conf\nName=gpu File=EVIL", 1),
        ("gres.conf", "name=gpu file=/a count=1 Prolog=EVIL epilog+=EVIL", 1),
        ("topology.conf", "SwitchName=s Nodes=n[1-2] Epilog=EVIL\n TaskProlog=EVIL\nInclude x=evil.conf", 0),
    ],
)
def test_gres_and_topology_are_written_anew(evil: Path, tmp_path: Path, name: str, text: str, expected: int) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / name).write_text(text.replace("EVIL", str(evil)) + "\n")
    used, keys = as_used(written([], evil), folder)
    assert not re.search(r"evil|passwd|nvidia|nvml|include", used, re.IGNORECASE)
    assert len(list((folder / "devices").iterdir())) == expected
    dropped = set(re.findall(r"AutoDetect|\w*Prolog|Epilog", text, re.IGNORECASE))
    assert {f"{name} {key}".lower() for key in dropped} <= {key.lower() for key in keys}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gres.conf", "Name=../gpu File=/dev/x"),
        ("gres.conf", "Name=gpu File=../../x"),
        ("gres.conf", "Name=gpu Count=$(x)"),
        ("gres.conf", "NodeName=/x Name=gpu"),
        ("topology.conf", "SwitchName=../x Nodes=n1"),
        ("topology.conf", "SwitchName=s Nodes=../n1"),
        ("topology.conf", "SwitchName=s Switches=/x"),
        ("topology.conf", "root:x:0:0:secret"),
    ],
)
def test_gres_and_topology_with_other_names_are_refused(evil: Path, tmp_path: Path, name: str, text: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / name).write_text(text + "\n")
    with pytest.raises(HarnessError, match=name) as caught:
        as_used(written([], evil), folder)
    assert "secret" not in str(caught.value)


DATABASE = SMALL.replace("SelectType", "AccountingStorageType=accounting_storage/slurmdbd\nSelectType")


def test_accounts_are_written_anew(evil: Path, tmp_path: Path) -> None:
    conf, dump = tmp_path / "slurm.conf", tmp_path / "accounts.dump"
    conf.write_text(DATABASE)
    dump.write_text(
        "Cluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\n"
        "Account - 'a':Description='x y':Fairshare=2:GrpTRES=cpu=6,gres/gpu=1:Prolog=/evil:MaxJobs=3\n"
        "Parent - 'a'\nUser - 'ann':DefaultAccount='a':Fairshare=parent:QOS='normal,+high':Coordinator='a'\n"
        "Name|Priority|MaxWall|where|set name\nhigh|5|02:00:00|name=normal|x\n"
    )
    accounts = read_accounts(dump, read_slurm(conf))
    plan = accounts.prepared(Place(tmp_path, 1, (2, 3), 4), "c", None)
    assert Path(plan["dump"]).read_text().splitlines() == [
        "Cluster - 'c':Fairshare='1':QOS='normal'",
        "Parent - 'root'",
        "Account - 'a':Fairshare='2':GrpTRES='cpu=6,gres/gpu=1':MaxJobs='3'",
        "Parent - 'a'",
        "User - 'ann':DefaultAccount='a':Fairshare='parent':QOS='normal,+high'",
    ]
    assert dict(plan["qos"]) == {"normal": [], "high": ["Priority=5", "MaxWall=02:00:00"]}
    keys = " ".join(one.key for one in accounts.differences)
    for key in ("Description", "Prolog", "Coordinator", "where", "set name"):
        assert f" {key}" in f" {keys}"


@pytest.mark.parametrize("amounts", ["cpu=6,gres/gpu:a100=2", "gres/gpu:H100=2,gres/gpu=2", "gres/a:b=1,gres/c:d=2"])
def test_amounts_of_types_are_read_without_quotes(tmp_path: Path, amounts: str) -> None:
    conf, dump = tmp_path / "slurm.conf", tmp_path / "accounts.dump"
    conf.write_text(DATABASE)
    dump.write_text(f"Account - 'a':GrpTRES={amounts}:Prolog=/evil:MaxJobs=3\n")
    plan = read_accounts(dump, read_slurm(conf)).prepared(Place(tmp_path, 1, (2, 3), 4), "c", None)
    assert Path(plan["dump"]).read_text() == f"Account - 'a':GrpTRES='{amounts}':MaxJobs='3'\n"


@pytest.mark.parametrize(
    "line",
    [
        "User - '../x':Fairshare=1", "User - '-x':Fairshare=1", "User - 'a b':Fairshare=1",
        "User - 'x\x1b[2J':Fairshare=1",
        "Account - '/etc':Fairshare=1", "Account - 'ä':Fairshare=1", "Parent - '.x'", "Cluster - '../c':Fairshare=1",
        "User - 'a':QOS='../x'", "User - 'a':DefaultAccount='$(x)'", "Account - 'a':GrpTRES=cpu=/x",
        "Name|Priority\n../x|1", "Name|Priority|Flags\nx|1|/x", "Name|Priority|Flags\nx|1|a b",
    ],
)  # fmt: skip
def test_accounts_with_other_names_are_refused(tmp_path: Path, line: str) -> None:
    conf, dump = tmp_path / "slurm.conf", tmp_path / "accounts.dump"
    conf.write_text(DATABASE)
    dump.write_text(f"Cluster - 'c':Fairshare=1\n{line}\n")
    with pytest.raises(HarnessError, match=r"accounts\.dump, line"):
        read_accounts(dump, read_slurm(conf)).prepared(Place(tmp_path, 1, (2, 3), 4), "c", None)


@pytest.mark.parametrize(
    "asked",
    [
        {"features": (frozenset({"a", "b;c"}),)}, {"features": (frozenset({"../x"}),)}, {"gres": {"a b": 1}},
        {"gres": {"-x": 1}}, {"licences": {"/x": 1}}, {"account": "../x"}, {"account": "-a"}, {"qos": "a\nb"},
        {"qos": "$(x)"},
    ],
)  # fmt: skip
def test_jobs_with_other_names_are_not_submitted(tmp_path: Path, asked: dict[str, object]) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text(SMALL)
    cluster = cluster_of(read_slurm(conf))
    request = Request(7, 0.0, 60.0, 60.0, 1, cluster.partitions["batch"], **asked)  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match=r"^job 7: the name"):
        [*asked_of_sbatch(request, cluster), *whose(request, {})]


def test_logs_of_daemons_are_named_by_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    nodes = ["munged", "jobcomp", "controller", "n1"]
    plan = {"folder": str(tmp_path), "speed": 1, "programs": dict.fromkeys(slurm_execution.PROGRAMS, "x")}
    daemons = cluster_process.Daemons({**plan, "nodes": nodes, "accounts": None})
    monkeypatch.setattr(daemons, "start", lambda name, command, **rights: started.append(name))
    monkeypatch.setattr(daemons, "wait", lambda *told: None)
    daemons.start_all()
    assert len(set(started)) == len(started) == len(nodes) + 2
    assert set(nodes).isdisjoint(started[2:])


SECRET = "root:$6$hunter2:19000:0:99999:7:::"


@pytest.mark.parametrize(
    "text",
    [SECRET, f"{SECRET}\nA=1", "-----BEGIN hunter2", 'PASSWORD="hunter2', "token hunter2", "hunter2|x", "\0hunter2"],
)
def test_a_file_of_another_format_is_not_quoted(tmp_path: Path, evil: Path, text: str) -> None:
    (tmp_path / "shadow").write_text(text + "\n")
    for read in (read_shares, read_slurm, lambda path: read_slurm(written([f"Include {path}"], evil))):
        with pytest.raises(HarnessError, match="shadow, line 1") as caught:
            read(tmp_path / "shadow")
        assert "hunter2" not in str(caught.value)


def test_values_of_unknown_keys_are_not_shown(tmp_path: Path, evil: Path) -> None:
    (tmp_path / ".env").write_text("PASSWORD=hunter2\n")
    given = read_slurm(written(["Include .env"], evil))
    _, differences = adapted(given, Place(tmp_path, 1, (2, 3)), node_names(given))
    assert "PASSWORD" in {one.key for one in differences}
    assert "hunter2" not in str(differences)


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    for number in range(10):
        includes = "".join(f"Include {other}.conf\n" for other in range(10))
        (tmp_path / f"{number}.conf").write_text(f"Key{number}=1\n{includes}")
    with pytest.raises(HarnessError, match=r"more than 1?0?,?0?10? (levels|files)"):
        read_slurm(tmp_path / "0.conf")
    for number in range(7):  # wide, not deep
        (tmp_path / f"w{number}.conf").write_text(f"Include w{number + 1}.conf\n" * 10)
    (tmp_path / "w7.conf").write_text("A=1\n")
    with pytest.raises(HarnessError, match="more than 1,000 files"):
        read_slurm(tmp_path / "w0.conf")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("NodeName=" + ",".join(f"n{k}" for k in range(2_000_000)) + " CPUs=1", "more than 16,000,000 characters"),
        ("NodeName=" + ",".join(f"n{k}" for k in range(300_000)) + " CPUs=1", "at most 200,000 nodes"),
        ("NodeName=a[1-100000]\nNodeName=b[1-100001]", "at most 200,000 nodes"),
        ("NodeName=a[1-1000]b[1-1000]c[1-1000]", "at most 200,000 nodes"),
        (f"NodeName={'a' * 100_000}[1-100000]", "expected names and numbers"),
        ("NodeName=a" + "[1,1]" * 100, "expected names and numbers"),
        ("NodeName=a[1-90000]\n" + "PartitionName=p Nodes=a[1-90000]\n" * 1000, "its lists of nodes are too long"),
        ("NodeName=a\n" + "PartitionName=p Nodes=a\n" * 20_000, "its lists of nodes are too long"),
        ("\n".join(f"Key{k}=1" for k in range(3000)) + "\nNodeName=a", "3,0.. settings: expected at most 2,000"),
    ],
)
def test_a_large_configuration_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(f"{text}\nPartitionName=all Nodes=ALL\n")
    with pytest.raises(HarnessError, match=sentence) as caught:
        cluster_of(read_slurm(path))
    assert len(str(caught.value)) < 1000


def test_as_many_nodes_as_allowed_are_read(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("NodeName=n[1-200000]\nPartitionName=p Nodes=n[5-200000]\n")
    cluster = cluster_of(read_slurm(path))
    assert cluster.partitions["p"].nodes == cluster.everywhere & ~0b1111
    assert len(expanded("n[1-200000]")) == 200_000
