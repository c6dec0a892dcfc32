"""First come first served without overtaking is the Kiefer-Wolfowitz recursion, to the last bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.running import in_log_order
from shared.strategies import workload, workloads

from harness.platform.machine import NodeType, Platform, plain
from harness.theory import delays_of_arrivals


def frame_of(submit, work, procs):
    """A workload of many jobs: built from columns."""
    jobs = workload([(0, 1, 1, 1)]).jobs
    jobs = jobs.loc[np.zeros(len(submit), int)].reset_index(drop=True)
    jobs["job"] = np.arange(1, len(submit) + 1)
    jobs["submit"], jobs["work"], jobs["estimate"], jobs["procs"] = submit, work, work, procs
    return type(workload([(0, 1, 1, 1)]))("stream", jobs, None, "stream")


def agree(run, submit, work, procs, servers, platform=None, **parts):
    outcome = run(frame_of(submit, work, procs), platform or plain(servers), start="none", **parts)
    expected = delays_of_arrivals(submit, work, procs, servers)
    assert (in_log_order(outcome, "start") - submit == expected).all()


@settings(max_examples=200)
@given(st.data(), st.integers(1, 6))
def test_small_systems_with_ties(run, data, servers):
    jobs = data.draw(workloads(servers, shuffled=False)).jobs
    agree(run, jobs.submit.to_numpy(), jobs.work.to_numpy(), jobs.procs.to_numpy(), servers)


@pytest.mark.parametrize("load", [0.5, 0.9, 1.2])
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "real"])
@pytest.mark.parametrize("seed", range(3))
def test_long_streams(run, whole, load, seed):
    dice = np.random.default_rng(seed)
    servers, count = 64, 20_000
    procs = np.minimum(2 ** dice.integers(0, 7, count), servers)
    work = dice.exponential(1000.0, count) + 1.0
    submit = np.cumsum(dice.exponential((procs * work).mean() / (servers * load), count))
    if whole:
        work, submit = np.ceil(work), np.floor(submit)
    agree(run, submit, work, procs, servers)


@pytest.mark.parametrize("select", ["first-fit", "worst-fit", "random"])
def test_it_does_not_matter_where_equal_processors_are(run, select):
    dice = np.random.default_rng(5)
    submit = np.floor(np.cumsum(dice.exponential(10.0, 2000)))
    platform = Platform("twelve by four", (NodeType(12, 4),))
    agree(run, submit, dice.integers(1, 99, 2000) * 1.0, dice.integers(1, 49, 2000), 48, platform, select=select)


@pytest.mark.data
@pytest.mark.parametrize("width", ["cores_used", "cores_requested"])
def test_the_cluster_of_karelia(run, data, width):
    path = next(iter(sorted(data.rglob("HPC_KRC.csv"))), None)
    if path is None:
        pytest.skip("HPC_KRC.csv is not among the real logs")
    table = pd.read_csv(path)
    if width not in table:
        pytest.skip(f"the columns are {', '.join(table)}")
    table = table[(table[width] > 0) & (table.service > 0)]
    submit = np.concatenate(([0.0], np.cumsum(table.interarrival.to_numpy(float).clip(0)[:-1])))
    procs = table[width].to_numpy(int)
    agree(run, submit, table.service.to_numpy(float), procs, int(max(procs.max(), 80)))
