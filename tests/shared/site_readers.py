"""Readers of what a site says about itself: who may run what and when, its scheduler's settings, who runs now."""

from collections.abc import Sequence

from shared.mutated import spoilt
from shared.readers import SACCT, SWF, Reader

CALENDAR = """about = "Long ones at night."
utc = 1.5

[[begin]]
longer = 4
at_most_procs = 8
days = "Mon-Thu"
from = "17:00"
to = "08:00"
within = true

[[begin]]
user = 3
days = "Fri"
from = "17:00"
to = "Mon 08:00"
"""
HOURS = "days,from,to,longer,within\nMon-Thu,17:00,08:00,4,true\nFri,17:00,Mon 08:00,4,\n"
LIMITS = "user,queue,jobs,procs,nodes\n3,,8,,\n7,,0,120,\n,1,,64,4\n"
SIGNAL = "time,carbon\n0,50\n3600,300.5\n7200,120\n"
DATES = "time,price\n1997-01-01T00:00:00Z,20\n1997-01-01T06:00:00Z,-4\n"
WINDOWS = "begin,end,nodes,procs,users,groups,queues\n100,200,,,,,\n300,400,0-1 3,,3 7,,\n500,600,,4,,,2\n"
NOW = """JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|PARTITION|QOS|REASON
11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|4|main|normal|None
13_7|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|2|main|normal|Resources
"""
ASKED = (
    "JobIDRaw|User|Submit|Start|Elapsed|State|ReqCPUS|ReqMem|TimelimitRaw|Partition|Constraints|ReqTRES|SubmitLine\n"
)
ASKED += "".join(
    f"{job}|ann|2021-03-01T08:00:{job:02d}|2021-03-01T08:01:00|00:10:00|COMPLETED|2|200M|60|batch|big&fast|"
    f"billing=2,cpu=2,gres/gpu:a100=1,mem=400M,node=1|sbatch -N1 --gres=gpu:1 --dependency=afterok:{job} -L lic:2 x\n"
    for job in range(1, 7)
)
RULES = """ClusterName=small
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_window=1440,bf_max_job_test=100,default_queue_depth=50
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=2000
PriorityWeightTRES=CPU=10,Mem=5
PriorityDecayHalfLife=7-0
GresTypes=gpu
Licenses=lic:4
NodeName=n[1-3,07] CPUs=2 RealMemory=1000 Feature=big,fast Gres=gpu:a100:2
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0 PriorityTier=2
"""
ACCOUNTS = """# To edit this file start with a cluster line for the new cluster
Cluster - 'small':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='physics':Organization='uni':Fairshare=30
Parent - 'physics'
User - 'ann':DefaultAccount='physics':Fairshare=2:MaxJobs=3
User - 'bob':DefaultAccount='physics':Fairshare=parent
"""


DUMP = SACCT.replace("|all", "|batch")


def _of(name: str, file: str, text: str, *call: str, **beside: str) -> Reader:
    valid: Sequence[bytes] = [text.encode()]
    files = {"log.swf": SWF} | {name.replace("_", "."): content for name, content in beside.items()}
    return Reader(name, spoilt(valid), valid, [call], file, beside=files, number=80)


def site_readers() -> list[Reader]:
    """The readers."""
    run = ("run", "log.swf")
    rules = ("run", "dump.txt", "--slurm")
    return [
        _of("calendar TOML", "hours.toml", CALENDAR, *run, "--hold=calendar('FILE')"),
        _of("calendar CSV", "hours.csv", HOURS, *run, "--hold=calendar('FILE')"),
        _of("limits", "limits.csv", LIMITS, *run, "--hold=limits(user_jobs=4, table='FILE')"),
        _of("signal", "carbon.csv", SIGNAL, *run, "--signal=FILE", "--start=lull"),
        _of("signal of dates", "price.csv", DATES, *run, "--signal=FILE"),
        _of("reservations", "kept.csv", WINDOWS, *run, "--reservations=FILE"),
        _of("state of a machine", "now.txt", NOW, "run", "--state=FILE", "--procs=8"),
        _of("sacct, what jobs asked for", "asked.txt", ASKED, "run", "FILE", "--procs=8"),
        _of("Slurm's rules", "slurm.conf", RULES, *rules, "FILE", dump_txt=DUMP),
        _of("Slurm's accounts", "accounts", ACCOUNTS, *rules, "rules.conf", "--associations=FILE", dump_txt=DUMP,
            rules_conf=RULES),
    ]  # fmt: skip
