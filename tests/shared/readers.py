"""Every reader of the harness by a command that uses it, with valid inputs."""

import io
import json
import math
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from shared.mutated import NUMBERS, PACKINGS, WORDS, drawn, spoilt, spoilt_call
from shared.spec_form import spec_row, spec_text

GENERATED = "lublin(jobs=12, procs=16, seed=3)"


@dataclass(frozen=True)
class Reader:
    """What is read, the inputs that are tried, the valid ones, and the calls that read one.

    An input is written to a file that the calls name `FILE`, unless `write` does it; or it is part of the call.
    """

    name: str
    inputs: st.SearchStrategy[Any]
    valid: Sequence[Any]
    calls: Sequence[Sequence[str]]
    file: str = ""
    write: Callable[[Path, Any], None] = Path.write_bytes
    beside: dict[str, str] = field(default_factory=dict)  # further files, by name
    number: int = 120  # so many inputs are tried

    def arguments(self, folder: Path, content: Any, turn: int) -> list[str]:
        """The call that reads `content`; its files are written."""
        for name, text in self.beside.items():
            (folder / name).write_text(text, encoding="utf-8")
        if not self.calls:
            return list(content)
        call = self.calls[turn % len(self.calls)]
        if not self.file:
            text = content.decode(errors="surrogateescape")
            return [argument.replace("INPUT", text) for argument in call]
        self.write(folder / self.file, content)
        return [argument.replace("FILE", self.file) for argument in call]


def _swf(job: int) -> str:
    return f"{job} {7 * job} 5 {30 * job} {1 + job % 4} -1 1024 {1 + job % 4} {40 * job} 2048 1 {job % 3} 1 2 1 1 -1 -1"


SWF = "; MaxProcs: 8\n; UnixStartTime: 1000000000\n; TimeZoneString: Europe/Stockholm\n; Computer: none\n" + "".join(
    _swf(job) + "\n" for job in range(1, 13)
)
SACCT = "JobIDRaw|User|Submit|Start|Elapsed|State|NNodes|NCPUS|ReqCPUS|ReqMem|Timelimit|QOS|Partition\n" + "".join(
    f"{job}|ann|2021-03-01T08:00:{job:02d}|2021-03-01T08:01:00|00:10:00|COMPLETED|1|4|4|2000M|01:00:00|normal|all\n"
    for job in range(1, 9)
)
STATE = """JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|REASON
11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|4|None
13_7|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|6|Resources
14|ann|PENDING|2026-11-19T09:20:00|N/A|0:00|1-00:30:00|2|Priority
"""
_EIGHT = {"set": True, "infinite": False, "number": 1795075200}
IN_JSON = {
    "jobs": [
        {"job_id": 11, "job_state": ["RUNNING"], "submit_time": _EIGHT, "start_time": _EIGHT, "time_limit": 240,
         "cpus": {"set": True, "infinite": False, "number": 4}, "user_name": "ann", "array_task_id": {"set": False}},
        {"job_id": 14, "job_state": "PENDING", "submit_time": _EIGHT, "start_time": 0, "time_limit": 60, "cpus": 6},
    ],
    "last_update": 1795078800,
}  # fmt: skip
TABLE = "submit,run,procs,estimate,user\n" + "".join(
    f"{9 * k},{60 + k},{1 + k % 4},{90 + k},{k % 3}\n" for k in range(9)
)
RAN = "job_id,submission_time,requested_number_of_resources,requested_time,starting_time,finish_time,state\n" + "".join(
    f"{k},{9 * k}.5,{1 + k % 4},{90 + k},{9 * k + 2}.0,{9 * k + 60},Terminated\n" for k in range(9)
)
GAPS = "interarrival,service,cores_requested,cores_used,delays\n10,7,8,8,0\n0,9,10,16,1\n-5,6,0,0,0\n4,3,0,8,2\n"
BATSIM = json.dumps(
    {
        "nb_res": 4,
        "jobs": [{"id": f"w!{k}", "subtime": k, "res": 1 + k % 3, "profile": "p", "walltime": 50} for k in range(5)],
        "profiles": {"p": {"type": "delay", "delay": 20.5}},
    }
)
ELASTISIM = json.dumps(
    {
        "jobs": [
            {"type": "rigid", "submit_time": k, "num_nodes": 1 + k % 3, "application_model": "m.json",
             "arguments": {"iterations": 20, "base_nodes": 2}}
            for k in range(5)
        ]
    }
)  # fmt: skip
LUMOS = (
    ",job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,wall_time,node_hour,new_status\n"
    "0,7,9.0,3.0,0,0,512.0,8.0,1672529301,71,3632.92,3600.0,8.07,Killed\n1,8,,3.0,0,0,64,2,1672529300,7,21,,9,Pass\n"
)
EAGLE = (
    "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,start_time,"
    "end_time,run_time,state\n3,u,a,p,normal,600,1,3,0,0.0,2019-01-01 08:55:55,2019-01-01 08:55:56,,99,COMPLETED\n"
    "4,v,a,p,high,600,1,2,1,5,2019-01-01 08:55:50,,,9,TIMEOUT\n"
)
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "a,1500,16384,1,1000,,LS,Running,0,100,3\nb,400,64,0,0,,BE,Pending,5,,\nc,8000,64,0,0,,BE,Succeeded,9,40,20\n"
)
EVENTS = "time,event,subject\n10,node-down,0\n50,node-up,0\n60,job-deleted,3\n70,job-killed,2\n80,job-requeued,4\n"
PLATFORM = """about = "two kinds"
[[nodes]]
count = 4
cores = 4
ops = 1000.0
memory_gb = 16.0
idle = 60.0
peak = 200.0
performance = [{rate = 0.5, idle = 50.0, peak = 120.0}]
sleep = [{name = "off", watts = 5.0, down = 10.0, up = 20.0, down_energy = 300.0, up_energy = 900.0}]
[[nodes]]
cores = 8
ops = 2000.0
curve = [60.0, 80.0, 95.0, 108.0, 120.0, 132.0, 145.0, 160.0, 178.0, 198.0, 220.0]
"""
PICKED = '[[nodes]]\nrow = 3\ncount = 2\n[[nodes]]\nprocessor = "Slow 2"\n'
SPEC = spec_text(spec_row(), spec_row("Beta 2", number="20110101-00002", nodes="2", cores="16", chips="4"))
SMALL = (
    "Vendor,Processor,#Chips,#Cores/Chip,RAM (GB),OPS@100%Load,Watts@100%Load\n"
    "Maker,Fast 1,2,4,16,400000,220\nMaker,Slow 2,1,2,8,100000,110.5\n"
)
FIELD = """about = "small"
platforms = ["log", "synthetic-11"]
seeds = [0, 1]
resamples = 0
[[workloads]]
source = "lublin(jobs=12, procs=16, seed=3)"
name = "one"
load = 1.2
filter = "procs <= 8"
[[scheduler]]
order = ["fcfs", "wfp3(power=[2, 3])"]
start = ["easy", "none", "easy(reservations=2)"]
[[exclude]]
start = "none"
platform = "log"
"""
STORED = 'workloads = "poisson(jobs=9, procs=8)"\n[[scheduler]]\norder = ["fcfs", "spf"]\nstart = ["easy", "none"]\n'
PREPARED = ("--from=10", "--to=100000", "--jobs=10", "--procs-from=used", "--unknown=cancel", "--estimates=factor(2)",
            "--overrun=clip", "--memory=ignored", "--width=0.5", "--load=1.5", "--variation=3")  # fmt: skip
FILTERS = (
    b"procs <= 4 and user != 3",
    b"not (run > 400 or estimate < -1e4) and 0 <= submit < 900",
    b"queue == 1 and partition == 1 or job != -1",
)
SPECS = {
    "order": (b"fcfs", b"spf", b"wfp3(power=2)", b"wfp3(power=1.5)"),
    "start": (b"easy", b"easy(reservations=2)", b"easy(reservations=1, backfill_order=spf, spare=false)", b"none"),
    "rate": (b"fixed(rate=0.5)", b"ondemand(up=0.8, slow=0.5, period=60)", b"hysteresis(low=2, high=4)"),
    "sleep": (b"timeout(idle=60)", b"reserve(spare=1, idle=600, depth=0)"),
}
WORKLOADS = (b"lublin(jobs=12, procs=16, seed=3)", b"poisson(jobs=12, procs=8, seed=2, load=0.9)")
PLATFORMS = (b"peas-table2", b"peas-table2(whole_watts=true)", b"synthetic-11", b"64")
CALLS = (
    ("run", GENERATED, "--order", "spf", "--start", "easy", "--select", "best-fit", "--format", "json"),
    ("run", GENERATED, "--platform", "synthetic-11", "--energy", "spec", "--sleep", "timeout(idle=60)", "--seed", "1"),
    ("run", GENERATED, "--procs", "32", "--schedule", "out.csv", "--timeline", "line.csv", "--fairness", "2"),
    ("run", "log.swf", "--lenient", "--events", "events.csv", "--interrupted", "kill", "--format", "markdown"),
    ("adequacy", "log.swf", "--repetitions", "2", "--format", "csv"),
    ("identify", "log.swf", "--order", "fcfs", "--order", "spf", "--start", "easy", "--best", "3", "--workers", "1"),
    ("tournament", "demo", "--dry-run", "--workers", "2", "--by", "mean_wait", "--unit", "workload"),
    ("list", "orders", "--format", "latex"),
    ("list", "platforms", "--from", "small.csv"),
    ("data", "show", "log.swf", "--procs", "8", "--format", "json"),
    ("data", "list", "--format", "html"),
    ("check", "gate.json", "--tolerance", "mean_wait=0.1", "--format", "github"),
    ("plugin", "new", "mine"),
)
WEIGHTED = """import harness
def weighted(job, clock, by=(1.0, 2.0)):
    "Order by the weight."
    return by[0] * job.submit
@harness.hookimpl
def order_queue():
    return [harness.Order("weighted", weighted, compiled=False)]
"""
SLURM = """ClusterName=small
SchedulerParameters=bf_interval=30,\\
bf_window=1440
Prolog=/opt/site/prolog.sh
SelectType=select/cons_tres SelectTypeParameters='CR_Core_Memory'
Include more.conf
NodeName=n[1-3,07] CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=r[1-2]n[01-02] CPUs=8 Port=6818 NodeAddr=10.0.0.9 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
#: What `harness execute` does before it needs Slurm's programs.
ADAPTING = """import harness
from pathlib import Path
from harness.slurm.adaptation import Place, adapted, node_names
from harness.slurm.configuration import read_slurm
@harness.hookimpl
def read_workload(source):
    if source == "slurm.conf":
        given = read_slurm(source)
        nodes = node_names(given)
        adapted(given, Place(Path(), 1, tuple(range(sum(map(len, nodes))))), nodes)
        return harness.lublin(jobs=12, procs=16, seed=3)
"""
BESIDE = {"log.swf": SWF, "events.csv": EVENTS, "small.csv": SMALL}


def _log(name: str, file: str, *texts: str, packed: bool = False, **more: Any) -> Reader:
    valid = [text.encode() for text in texts]
    inputs = spoilt(valid)
    if packed:  # before or after it was spoilt: behind a packing's own checks nothing spoilt is seen
        valid = [pack(one) for one in valid for pack in PACKINGS]
        inputs = spoilt(valid) | st.builds(lambda pack, content: pack(content), st.sampled_from(PACKINGS), inputs)
    calls = (("run", "FILE", "--procs", "8"), ("data", "show", "FILE"), ("run", "FILE", "--lenient", "--procs", "8"))
    return Reader(name, inputs, valid, calls, file, **more)


def _of_file(name: str, file: str, *texts: str, calls: Sequence[Sequence[str]], **more: Any) -> Reader:
    valid = [text.encode() for text in texts]
    return Reader(name, spoilt(valid), valid, calls, file, **more)


def _of_text(name: str, valid: Sequence[bytes], *call: str, **more: Any) -> Reader:
    return Reader(name, spoilt(valid), valid, [call], **more)


# Tables and stores are spoilt cell by cell too: where bytes change, the packings' own checks refuse most of it.

CELLS: tuple[Any, ...] = (None, 0, -1, 1.5, 2**62, math.inf, math.nan, *NUMBERS, *WORDS, b"\xff", b"")
_JSON = ("[1]", '{"field": 3}', '{"a": "b"}', "[" * 20_000, '{"mean_wait": "\\u001b[2J"}', '{"mean_wait": 1e999}')
_STORED = tuple(
    (table, column)
    for table, columns in {
        "sessions": "lock over started finished about",
        "plan": "identity workload platform variation seed order start energy",
        "runs": "identity status jobs seconds error measures schedule_digest started finished worker",
    }.items()
    for column in columns.split()
)
_COLUMNS: tuple[Any, ...] = (
    *([one] * 9 for one in ("x", None, b"\xff", [1, 2], {"a": 1}, True, 2**63, "9" * 5000)),
    *([one] * 9 for one in (1e300, -1e300, 2**62, math.inf)),
    *(pd.date_range("2021-01-01", periods=9), pd.timedelta_range(0, periods=9)),
    *(pd.Categorical(["a", "b", "c"] * 3), pd.array([1, None, 3] * 3, dtype="Int64")),
)


def _table(dice: Random) -> pd.DataFrame:
    table = pd.read_csv(io.StringIO(dice.choice((TABLE, TABLE, RAN))))
    for _ in range(dice.randint(1, 2)):
        name = dice.choice((*table.columns, *table.columns, "job", "memory", "what", "", "a" * 3000, "\x1b[2J"))
        table[name] = dice.choice(_COLUMNS)
    return table.drop(columns=dice.choice(([], [], [], table.columns[1:2], table.columns)))


def _changes(dice: Random) -> list[tuple[str, str, Any]]:
    """Cells of a store to be changed: table, column, value."""
    return [(*dice.choice(_STORED), dice.choice((*CELLS, *_JSON))) for _ in range(dice.randint(1, 2))]


def _logs() -> list[Reader]:
    """Readers of logs, schedules and states."""
    tables = [pd.read_csv(io.StringIO(text)) for text in (TABLE, RAN)]
    parquet = [table.to_parquet() for table in tables]
    ahead = ("--procs", "8", "--repetitions", "2", "--format", "csv")
    from_state = (("run", "--state", "FILE", "--procs", "8"), ("forecast", "--state", "FILE", *ahead))
    return [
        _log("SWF", "log.swf", SWF, number=240),
        _log("SWF, packed", "log.swf.gz", SWF, packed=True),
        _log("sacct", "dump.log", SACCT, number=240),
        _log("CSV table", "jobs.csv", TABLE, TABLE.replace(",", ";")),
        _log("CSV table, packed", "jobs.csv.gz", TABLE, packed=True),
        Reader("Parquet, bytes", spoilt(parquet), parquet, [("run", "FILE", "--procs", "8")], "jobs.parquet"),
        Reader(
            "Parquet, columns", drawn(_table), tables, [("run", "FILE", "--procs", "8")],
            "jobs.parquet", write=lambda path, table: table.to_parquet(path), number=80,
        ),
        _log("schedule as a log", "ran.csv", RAN),
        _of_file("schedule to verify", "ran.csv", RAN, number=80,
                 calls=[("verify", "FILE", "--promise", "easy", "--procs", "8")]),
        _log("hpcwld", "gaps.csv", GAPS),
        _log("Batsim", "batsim.json", BATSIM),
        _log("ElastiSim", "elastisim.json", ELASTISIM),
        *(_log(name, f"{name}.csv", text) for name, text in (("LUMOS", LUMOS), ("Eagle", EAGLE), ("Alibaba", PODS))),
        _of_file("squeue", "state.txt", STATE, calls=from_state, number=240),
        _of_file("squeue, in JSON", "state.json", json.dumps(IN_JSON), calls=from_state),
    ]  # fmt: skip


def _stores(store: Path) -> list[Reader]:
    """Readers of the store of a tournament."""
    sqlite = (store / "store.sqlite").read_bytes()

    def write_store(path: Path, content: Any) -> None:
        shutil.rmtree("store", ignore_errors=True)
        shutil.copytree(store, "store")
        if isinstance(content, bytes):
            Path("store/store.sqlite").write_bytes(content)
            return
        with sqlite3.connect("store/store.sqlite") as database:
            for table, column, value in content:
                database.execute(f'UPDATE OR IGNORE {table} SET "{column}" = ?', (value,))
        database.close()

    ranked = (("tournament", "stored.toml", "--out", "store"), ("report", "store", "--out", "page.html"))
    kept: dict[str, Any] = {"write": write_store, "beside": {"stored.toml": STORED}}
    return [
        Reader("store, bytes", spoilt([sqlite]), [sqlite], ranked, "x", number=80, **kept),
        Reader("store, cells", drawn(_changes), [[]], ranked, "x", number=80, **kept),
    ]


def readers(made: Path) -> list[Reader]:
    """All readers; `made` is a folder for a store and a baseline of this very harness."""
    from shared.site_readers import site_readers

    gate, store = _made(made)
    on_platform = (("run", GENERATED, "--platform", "FILE"), ("list", "platforms", "--from", "FILE"))
    run = ("run", "log.swf")
    return [
        *_logs(),
        _of_file("events", "events.csv", EVENTS, calls=[(*run, "--events", "FILE")], beside=BESIDE),
        _of_file("platform TOML", "p.toml", PLATFORM, PICKED.replace("[[", 'table = "small.csv"\n[[', 1),
                 calls=on_platform[:1], beside=BESIDE, number=240),
        _of_file("SPEC CSV", "spec.csv", SPEC, calls=on_platform),
        _of_file("small table", "small.csv", SMALL, calls=on_platform),
        _of_file("field TOML", "f.toml", FIELD, calls=[("tournament", "FILE", "--dry-run")], number=240),
        _of_file("baseline JSON", "gate.json", gate.read_text(), calls=[("check", "FILE")]),
        Reader("baseline's starts", spoilt([(made / "gate.starts.zip").read_bytes()]), [], [("check", "gate.json")],
               "gate.starts.zip", beside={"gate.json": re.sub('"schedule": "..', '"schedule": "00', gate.read_text())},
               number=80),
        *_stores(store),
        *(_of_text(f"{part} policies", valid, *run, "--platform", "synthetic-11", f"--{part}=INPUT", beside=BESIDE)
          for part, valid in SPECS.items()),
        _of_file("a policy's table", "t.txt", "0, 10, 5 # weights\n1 2 3\n", beside=BESIDE | {"weighted.py": WEIGHTED},
                 calls=[(*run, "--plugins=weighted.py", "--order=weighted(by='FILE')")], number=80),
        _of_text("plugin paths", (b"weighted.py", b"./weighted.py"), *run, "--plugins=INPUT",
                 beside=BESIDE | {"weighted.py": WEIGHTED}, number=80),
        _of_file("slurm.conf", "slurm.conf", SLURM, calls=[("run", "FILE", "--plugins=adapting.py")],
                 beside={"adapting.py": ADAPTING, "more.conf": "SlurmctldHost=head\n"}),
        _of_text("generated workloads", WORKLOADS, "run", "INPUT"),
        _of_text("platforms by name", PLATFORMS, "run", GENERATED, "--platform=INPUT"),
        _of_text("filters", FILTERS, *run, "--filter=INPUT", beside=BESIDE, number=240),
        _of_text("preparation", [option.encode() for option in PREPARED], *run, "INPUT", beside=BESIDE),
        *site_readers(),
        Reader("calls", spoilt_call(CALLS), [list(call) for call in CALLS if "gate.json" not in call], [],
               beside=BESIDE, number=240),
    ]  # fmt: skip


def _made(folder: Path) -> tuple[Path, Path]:
    """Make a baseline and a store."""
    import harness

    field = folder / "stored.toml"
    field.write_text(STORED, encoding="utf-8")
    if not (folder / "store").exists():
        harness.check(folder / "gate.json", field=field, update=True)
        harness.tournament(field, folder / "store")
    return folder / "gate.json", folder / "store"
