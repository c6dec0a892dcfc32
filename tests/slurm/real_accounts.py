"""A log and accounts for executions with a real Slurm and its database."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from accounting import PACKAGES, PROGRAMS

import harness

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
