"""Print what 300 runs gave, a digest of each, as JSON: every start, end and energy to the last bit.

Called by `test_other_pythons.py` with other versions of Python and numpy, and for other processors.
"""

import hashlib
import json

import harness

#: Of every hook something that computes, compares or draws.
SCHEDULERS = (
    harness.Scheduler(order="f1", start="easy(backfill_order=spf)", predict="online"),
    harness.Scheduler(order="wfp3", start="conservative", rate="hysteresis(low=4, high=8, slow=0.7)"),
    harness.Scheduler(start="easy(reservations=3)", select="random", rate="coin(slow=0.6)", predict="recent"),
    harness.Scheduler(order="unicef", start="preempt", energy="cores"),
    harness.Scheduler(order="saf", start="greedy", sleep="timeout(idle=600)", energy="spec"),
)


def digest(seed: int, scheduler: harness.Scheduler) -> str:
    """Return the digest of one run."""
    workload = harness.prepare(harness.read_workload(f"lublin(jobs=150, procs=96, seed={seed})"))
    platform = harness.read_platform("synthetic-11(procs=96)")
    frame = harness.simulate(workload, platform, scheduler, seed=seed).frame
    columns = (frame[name].to_numpy(dtype=float).tobytes() for name in ("start", "end", "energy"))
    return hashlib.sha256(b"".join(columns)).hexdigest()


if __name__ == "__main__":
    print(json.dumps([digest(seed, scheduler) for seed in range(60) for scheduler in SCHEDULERS]))
