"""Small configurations of Slurm and dumps of jobs, for replays."""

import pandas as pd

import harness
from harness.slurm.cluster import Cluster, cluster_of
from harness.slurm.configuration import read_slurm

WHOLE = """
ClusterName=whole
SelectType=select/linear
NodeName=n[1-4] CPUs=1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
"""


CORES = """
ClusterName=cores
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
Licenses=solver:2
NodeName=DEFAULT CPUs=4 RealMemory=4000
NodeName=n[1-2] Feature=ib
NodeName=g1 Gres=gpu:2 Weight=5
PartitionName=all Nodes=n[1-2],g1 Default=YES MaxTime=INFINITE DefMemPerCPU=500
PartitionName=urgent Nodes=n[1-2] PriorityTier=10 DefMemPerCPU=500
"""


COLUMNS = ["JobIDRaw", "Submit", "Eligible", "Start", "Elapsed", "TimelimitRaw", "ReqCPUS", "State", "ReqMem"]


def cluster(tmp_path, text) -> Cluster:
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return cluster_of(read_slurm(path))


def dump(tmp_path, rows):
    """A dump of sacct of jobs as (submit, run, limit in minutes, CPUs, what else sacct says of it)."""
    lines = ["|".join(COLUMNS)]
    for number, (submit, run, minutes, cpus, more) in enumerate(rows, start=1):
        at = pd.Timestamp("2024-01-01") + pd.Timedelta(seconds=submit)
        cells = {
            "JobIDRaw": number, "Submit": at.isoformat(), "Start": at.isoformat(),
            "Elapsed": f"{run // 3600:02d}:{run // 60 % 60:02d}:{run % 60:02d}", "TimelimitRaw": minutes,
            "ReqCPUS": cpus, "State": "COMPLETED", "SubmitLine": "sbatch job.sh", **more,
        }  # fmt: skip
        lines.append("|".join(str(cells.get(name, "")) for name in COLUMNS))
    path = tmp_path / "jobs.sacct"
    path.write_text("\n".join(lines) + "\n")
    return harness.read_workload(path)
