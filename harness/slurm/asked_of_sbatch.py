"""What a job asks of Slurm, in the words of `sbatch`."""

import math

from harness.slurm.cluster import Cluster
from harness.slurm.requests import Request

#: Times of Slurm are whole minutes where nothing else is said [s].
_MINUTE = 60.0


def asked_of_sbatch(request: Request, cluster: Cluster) -> list[str]:
    """Return the options that ask for what the request does; what nobody asked for is left to the configuration."""
    found = [f"--ntasks={request.cpus}", f"--time={max(1, math.ceil(request.limit / _MINUTE))}"]
    found.append(f"--partition={request.partition.name}")
    if request.per_node:
        found.append(f"--ntasks-per-node={request.per_node}")
    if request.most_nodes or (request.nodes > 1 and not request.per_node):
        found.append(f"--nodes={request.nodes}-{request.most_nodes or len(cluster.nodes)}")
    if cluster.counts_memory and not request.all_memory:
        found.append(f"--mem{'' if request.memory_per == 'n' else '-per-cpu'}={math.ceil(request.memory)}K")
    if request.features:
        found.append("--constraint=" + "|".join("&".join(sorted(one)) for one in request.features))
    for option, wanted in (("gres", request.gres), ("licenses", request.licences)):
        if wanted:
            found.append(f"--{option}=" + ",".join(f"{name}:{count}" for name, count in sorted(wanted.items())))
    if request.exclusive:
        found.append("--exclusive")
    if request.eligible > request.submit:
        found.append(f"--begin=now+{math.ceil(request.eligible - request.submit)}")
    return found
