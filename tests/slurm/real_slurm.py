"""A small configuration and workload for executions with a real Slurm, and the mark of tests that need one."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

import harness
from harness.slurm import slurm_execution

CONFIGURATION = """ClusterName=small
SlurmctldHost=head
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30
SelectType=select/linear
SlurmctldDebug=info
NodeName=n[1-4] CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


needs_slurm = pytest.mark.skipif(
    any(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None for name in slurm_execution.PROGRAMS),
    reason=f"no real Slurm is installed: apt-get install {slurm_execution.PACKAGES}",
)


@pytest.fixture
def configuration(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(CONFIGURATION)
    return path


@pytest.fixture
def few():
    """Fifteen jobs on four processors, some of which wait; their limits forgive a minute of a busy machine."""
    rng = np.random.default_rng(7)
    work = rng.integers(20, 120, 15)
    frame = pd.DataFrame(
        {"submit": np.arange(15) * 25, "run": work, "procs": rng.integers(1, 4, 15), "estimate": work + 1200}
    )
    return harness.prepare(harness.log_from_frame(frame, name="few", procs=4))
