"""Lists of nodes with one row each, in the format of Alibaba's GPU cluster: cores, memory, GPUs and their model."""

from itertools import groupby

from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform
from harness.platform.rows import Table, number

COLUMNS = ("cpu_milli", "memory_mib", "gpu", "model")


def is_node_list(table: Table) -> bool:
    """Return whether the table has the columns of a list of nodes."""
    return set(COLUMNS) <= set(table.header)


def node_list(table: Table, name: str) -> Platform:
    """Return a platform of the nodes in the table, in its order.

    A node has resources `gpu`, its GPUs, and `gpu_milli`, thousandths of all its GPUs, for jobs that share one. The
    model is a feature.
    """
    nodes = []
    for row, fields in table.rows():
        try:
            milli, memory, gpus = (number(fields.get(column, "")) for column in COLUMNS[:3])
        except ValueError as error:
            raise HarnessError(f"{table.path}, row {row}: {error}") from error
        if milli < 1000 or memory <= 0 or gpus < 0 or gpus % 1:
            raise HarnessError(f"{table.path}, row {row}: expected at least one core, memory, and a number of GPUs")
        nodes.append((int(milli // 1000), memory, int(gpus), fields.get("model", "")))
    if not nodes:
        raise HarnessError(f"{table.path}: expected one row for each node")
    types = []
    for (cores, memory, gpus, model), alike in groupby(nodes):
        resources = {"gpu": gpus, "gpu_milli": 1000 * gpus} if gpus else {}
        features = (model,) if model else ()
        label = f"{gpus} × {model}" if gpus else "without GPU"
        types.append(
            NodeType(len(list(alike)), cores, memory=memory * 1024, name=label, features=features, resources=resources)
        )
    return Platform(name, tuple(types), "a list of nodes")
