"""What jobs ask for besides processors, from the columns of a workload: for logs that are no dump of sacct."""

from typing import TYPE_CHECKING

from harness.slurm.cluster import Cluster
from harness.workload.log import Workload
from harness.workload.resource_columns import NEEDS, is_request_column, names_in

if TYPE_CHECKING:
    from harness.slurm.requests import Request


class AskedInColumns:
    """The further columns of a workload, as requests of Slurm."""

    def __init__(self, workload: Workload, cluster: Cluster) -> None:
        self.cluster = cluster
        self.features = names_in(workload.header, "Feature")
        self.partitions = names_in(workload.header, "Partition")
        self.queues, self.accounts = (names_in(workload.header, field) for field in ("Queue", "Account"))
        self.account = "x_account" if "x_account" in workload.jobs else "group"
        self.whose = list(zip(workload.jobs["queue"].tolist(), workload.jobs[self.account].tolist(), strict=True))
        named = [str(name) for name in workload.jobs.columns if is_request_column(str(name))]
        self.columns = {name: workload.jobs[name].tolist() for name in named}

    def partition(self, number: int) -> str:
        """Return the name of a partition: as the header has it, else by its place in the configuration."""
        named = list(self.cluster.partitions)
        if self.partitions.get(number) in self.cluster.partitions:
            return self.partitions[number]
        return named[number - 1] if 0 < number <= len(named) else self.cluster.usual

    def ask(self, request: "Request", place: int) -> None:
        """Add what the job at this place of the workload asks for. Changes the request."""
        queue, account = self.whose[place]
        request.qos, request.account = self.queues.get(queue, ""), self.accounts.get(account, "")
        asked = {name: values[place] for name, values in self.columns.items() if values[place] > 0}
        if "nodes" in asked:
            request.nodes = request.most_nodes = int(asked["nodes"])
        request.exclusive = asked.get("exclusive", 0) == 1
        if "node_memory" in asked and self.cluster.counts_memory:
            request.memory, request.memory_per = float(asked["node_memory"]), "n"
        every, some = (self._named(int(asked.get(name, 0))) for name in ("features", "any_feature"))
        if every or some:
            request.features = tuple(every | {one} for one in sorted(some)) or (every,)
        for name, count in asked.items():
            thing = name.removeprefix(NEEDS)
            if thing != name:
                kind = request.licences if thing in self.cluster.licences else request.gres
                kind[thing] = int(count)

    def _named(self, bits: int) -> frozenset[str]:
        return frozenset(name for number, name in self.features.items() if bits >> (number - 1) & 1)
