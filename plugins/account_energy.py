"""Energy models: the power of a node."""

import harness


def none(node, clock):
    """No energy: for platforms without power figures."""
    return 0.0


def peas(node, clock):
    """Watts at full load per busy core, nothing for idle ones (Gómez-Martín et al., PEAS eq. 5)."""
    return node.peak * node.busy / node.cores


def cores(node, clock):
    """Busy cores at the power of full load, the others at idle power (Rumyantsev et al. 2018, eq. 11).

    Both are those of the present rate; a node that is not awake draws the power of its sleep state.
    """
    if node.status != harness.AWAKE:
        return node.resting
    return (node.peak * node.busy + node.idle * (node.cores - node.busy)) / node.cores


def spec(node, clock):
    """The node's eleven measured levels, interpolated in its busy cores, at the present rate's performance state.

    A node that is not awake draws the power of its sleep state.
    """
    if node.status != harness.AWAKE:
        return node.resting
    return harness.drawn(node, node.busy)


#: What a node draws by: its power, its busy cores, and whether it is awake.
LOAD = ("node.status", "node.resting", "node.peak", "node.idle", "node.busy", "node.cores")


@harness.hookimpl
def account_energy():
    return [
        harness.Energy("none", none, reads=()),
        harness.Energy("peas", peas, needs=("peak",), reads=("node.peak", "node.busy", "node.cores")),
        harness.Energy("cores", cores, needs=("idle", "peak"), reads=LOAD),
        harness.Energy("spec", spec, needs=("curve",), reads=(*LOAD, "node.curve")),
    ]
