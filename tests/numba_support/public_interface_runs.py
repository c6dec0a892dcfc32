"""A handful of runs, their schedules printed as JSON. With a version as argument, numba claims to have that version."""

import json
import sys
import warnings

import numba

if len(sys.argv) > 1:
    numba.__version__ = sys.argv[1]

import harness
from harness import HarnessError, NodeType, Platform, Scheduler
from harness.numba_support.compile_options import USE_INTERNALS

warnings.simplefilter("ignore")
LOG = harness.lublin(jobs=150, procs=32, seed=3)
NODES = Platform("nodes", (NodeType(4, 4, memory=4e9), NodeType(2, 8)))


def careless(job, clock):
    """Give a score that does not exist."""
    return job.height


def prying(state):
    """Write a field that may only be read."""
    state.jobs[0].procs = 1


class Mistaken:
    """A plugin with mistakes."""

    @harness.hookimpl
    def order_queue(self):
        """Offer an order."""
        return [harness.Order("careless", careless)]

    @harness.hookimpl
    def start_jobs(self):
        """Offer a start policy."""
        return [harness.Start("prying", prying)]


harness.register(Mistaken())
RUNS = {
    "counts": (None, Scheduler(start="conservative")),
    "nodes": (NODES, Scheduler(start="easy", select="best-fit")),
    "holds": (None, Scheduler(hold="limits(user_jobs=1)")),
    "lacking": (None, Scheduler(order="careless")),
    "forbidden": (None, Scheduler(start="prying")),
}


def outcome(name: str) -> object:
    """Return the starts of a run, or the sentence with which it is refused."""
    machine, scheduler = RUNS[name]
    try:
        return harness.simulate(harness.prepare(LOG), machine, scheduler).frame["start"].tolist()
    except HarnessError as error:
        return str(error)


if __name__ == "__main__":
    print(json.dumps({"internals": USE_INTERNALS, **{name: outcome(name) for name in RUNS}}))
