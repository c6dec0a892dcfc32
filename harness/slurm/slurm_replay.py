"""A workload replayed as Slurm would schedule it under a configuration: a schedule like any other.

It is a model of Slurm's controller in plain Python, apart from the engine: nodes with features and countable things,
licences, partitions, priorities, and the two loops. What of the configuration it leaves out is listed.
"""

import math
import time
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from harness.engine.prepared_run import Outcome
from harness.engine.records.loop_records import LOOP
from harness.engine.records.private import NOTES, SUMS
from harness.engine.records.public import CANCELLED, CLOCK, COMPLETED, JOB, KILLED, NODE, UNACCEPTED
from harness.platform.machine import NodeType, Platform
from harness.platform.windows import Window
from harness.policy.scheduler import Chosen
from harness.results.schedule import Schedule
from harness.results.timeline import Placements, Timeline
from harness.slurm.cluster import Cluster, Node
from harness.slurm.fair_tree import Shares
from harness.slurm.loops import ENDED, Decided, Loops
from harness.slurm.node_resources import Running
from harness.slurm.recorded_run import placements_of, samples_of
from harness.slurm.requests import Request, Said, limits_noted, requests_of
from harness.slurm.slurm_reservations import kept_nodes
from harness.workload.log import Log, Workload

#: Jobs that took longer than their work by more than this were not merely launched and noticed late [s].
_MOST_OVERTIME = 10.0


class SlurmPolicies(Chosen):
    """What a heading says of who decided: the parts of the configuration."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__({})
        weights, parameters = cluster.weights, cluster.parameters
        counted = ["age", "fairshare", "size", "partition", "qos"] if weights.any else []
        factors = ", ".join(f"{name}={getattr(weights, name):g}" for name in counted if getattr(weights, name))
        loops = f"interval={parameters.interval:g}, depth={parameters.most_tested:g}, window={parameters.window:g}"
        object.__setattr__(self, "_cluster", cluster.name)
        object.__setattr__(self, "_names", {
            "order": f"slurm multifactor({factors})" if factors else "slurm basic",
            "start": f"slurm backfill({loops})" if parameters.backfilling else "slurm builtin",
            "select": "slurm linear" if cluster.whole else "slurm cons_tres",
            "rate": "full", "sleep": "never", "energy": "none", "predict": "requested",
        })  # fmt: skip

    @property
    def configured(self) -> str:
        """The name of the cluster that is configured so."""
        return str(vars(self)["_cluster"])

    @property
    def names(self) -> dict[str, str]:
        """Return each part's policy, as tables show it."""
        names: dict[str, str] = vars(self)["_names"]
        return names


def slurm_platform(cluster: Cluster) -> Platform:
    """Return the nodes of a cluster as a platform, those that are alike and neighbours together."""
    alike = groupby(cluster.nodes, key=lambda node: (node.cpus, node.memory, node.features, node.gres))
    types = tuple(node_type(cluster, list(nodes)) for _, nodes in alike)
    return Platform(cluster.name, types, licences=cluster.licences)


def node_type(cluster: Cluster, nodes: list[Node]) -> NodeType:
    """Return what a platform knows of nodes that are alike."""
    one = nodes[0]
    return NodeType(
        len(nodes), one.cpus, memory=one.memory if cluster.counts_memory else math.inf,
        features=tuple(sorted(one.features)), resources={name: count for name, count in one.gres.items() if count},
    )  # fmt: skip


def slurm_replay(
    workload: Workload,
    log: Log | Said,
    cluster: Cluster,
    *,
    shares: Shares | None = None,
    windows: tuple[Window, ...] = (),
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    samples: Timeline | None = None,
    places: Placements | None = None,
) -> Schedule:
    """Replay a workload, prepared of `log`, under Slurm's rules; the phases of its loops are drawn by the seed.

    Nodes of `windows` are kept for nobody then.
    `progress(ended, jobs)` is called at every event; `samples` and `places` are written down if they are given.
    """
    began = time.perf_counter()
    order = np.argsort(workload.jobs["submit"].to_numpy(), kind="stable")
    requests = requests_of(workload, log, cluster)
    requests = [requests[place] for place in order]
    loops = _Watched(cluster, requests, shares or Shares(), seed, overtime(workload))
    loops.kept = kept_nodes(windows, slurm_platform(cluster), workload)
    loops.progress = progress
    decided = loops.run()
    outcome = _outcome(workload, cluster, requests, decided, order, time.perf_counter() - began)
    if samples is not None:
        samples.add(samples_of(np.asarray(outcome.jobs), cluster.cpus))
    if places is not None:
        places.add(placements_of(decided))
    made = (limits_noted(workload), slurm_platform(cluster), SlurmPolicies(cluster), seed, outcome)
    return Schedule(*made, samples=samples, places=places)


class _Watched(Loops):
    """The loops, with somebody who looks on."""

    progress: Callable[[int, int], None] | None = None
    ended = 0

    def _happen(self, kind: int, subject: Request | Running | None) -> None:
        self.ended += kind == ENDED
        if self.progress is not None:
            self.progress(self.ended, len(self.requests))
        super()._happen(kind, subject)


def overtime(workload: Workload) -> float:
    """Return how much longer than their work jobs held their nodes by the log, or the execution compared with [s].

    Slurm counts whole seconds, so that only the mean says it; what is killed or far off says nothing.
    """
    jobs = workload.jobs
    if "logged_run" not in jobs:
        return 0.0
    run = jobs["logged_run"].to_numpy(dtype=np.float64)
    over = run - jobs["work"].to_numpy(dtype=np.float64)
    over = over[(run >= 0) & (np.abs(over) <= _MOST_OVERTIME)]
    return max(0.0, float(over.mean())) if len(over) else 0.0


def _outcome(
    workload: Workload, cluster: Cluster, requests: list[Request], decided: list[Decided], order: Any, seconds: float
) -> Outcome:
    """Return what the engine would have left of such a run: the records of the jobs, and the integrals over it."""
    jobs = np.zeros(len(requests), JOB)
    rows = workload.jobs.iloc[order]
    for ours, theirs in (("number", "job"), ("submit", "submit"), ("procs", "procs"), ("user", "user")):
        jobs[ours] = rows[theirs]
    for name in ("estimate", "requested", "predicted"):
        jobs[name] = rows["estimate"]
    jobs["start"] = [one.start for one in decided]
    jobs["end"] = [one.end for one in decided]
    jobs["nodes"] = [len(one.places or ()) for one in decided]
    jobs["service"] = np.where(np.isnan(jobs["start"]), 0.0, jobs["end"] - jobs["start"])
    ran = ~np.isnan(jobs["start"])
    killed = np.zeros(len(jobs), bool) if "killed" not in rows else rows["killed"].to_numpy(dtype=bool)
    cancelled = ~ran & np.isfinite(rows["cancel"].to_numpy(dtype=np.float64))
    jobs["end"] = np.where(cancelled, rows["cancel"], jobs["end"])
    jobs["status"] = np.select([ran & killed, ran, cancelled], [KILLED, COMPLETED, CANCELLED], UNACCEPTED)
    clock, sums, notes, loop = (np.zeros(1, layout).view(np.recarray)[0] for layout in (CLOCK, SUMS, NOTES, LOOP))
    clock["began"] = jobs["submit"].min(initial=math.inf)
    clock["now"] = np.nanmax([*jobs["end"], clock["began"]])
    for name, value in _integrals(jobs, ran, cluster.cpus, float(clock["now"])).items():
        sums[name] = value
    nodes = np.zeros(len(cluster.nodes), NODE)
    nodes["cores"] = nodes["free"] = [node.cpus for node in cluster.nodes]
    size = jobs.nbytes + nodes.nbytes
    return Outcome(jobs.view(np.recarray), nodes.view(np.recarray), clock, sums, notes, loop, order, seconds, size, {})


def _integrals(jobs: Any, ran: Any, cpus: int, last: float) -> dict[str, float]:
    """Return the integrals over the run that time averages are made of."""
    submit, start, end, procs = (jobs[name][ran] for name in ("submit", "start", "end", "procs"))
    work = end - start
    gone = np.where(np.isnan(jobs["end"][~ran]), last, jobs["end"][~ran])
    waited = float(np.sum(start - submit) + np.sum(gone - jobs["submit"][~ran]))
    times = np.concatenate((submit, start, end))
    queued = np.concatenate((np.ones(len(submit)), -np.ones(len(start)), np.zeros(len(end))))
    busy = np.concatenate((np.zeros(len(submit)), procs, -procs))
    order = np.argsort(times, kind="stable")
    spans = np.diff(times[order])
    at_work = np.cumsum(busy[order])[:-1]
    wasted = float(np.sum(spans * (np.cumsum(queued[order])[:-1] > 0) * (cpus - at_work)))
    used = float(np.sum(spans * at_work))
    return {
        "jobs": waited + float(np.sum(work)), "queued": waited, "busy": used, "effective": used, "wasted": wasted,
        "potential": used + wasted, "work": float(np.sum(work * (start - submit) + work**2 / 2)),
    }  # fmt: skip
