"""Nodes that are kept for nobody at times: in replays under Slurm's rules, and by Slurm, where it is installed."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ending import left_behind
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.platform.windows import Window, read_windows
from harness.results.timeline import Placements
from harness.slurm import slurm_execution
from harness.slurm.cluster import Cluster, cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.slurm_execution import execute
from harness.slurm.slurm_replay import slurm_replay
from harness.slurm.slurm_reservations import Kept, KeptNodes

CONFIGURATION = """ClusterName=small
SelectType=select/linear
SchedulerParameters=bf_interval=30
NodeName=n[1-4] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four nodes."""
    path = tmp_path_factory.mktemp("conf") / "slurm.conf"
    path.write_text(CONFIGURATION)
    return path


@pytest.fixture(scope="module")
def cluster(conf: Path) -> Cluster:
    """The same as a model."""
    return cluster_of(read_slurm(conf))


def workload(jobs: list[tuple[int, int, int, int]]) -> "harness.Workload":
    """Jobs as (submit, run, limit in minutes, nodes)."""
    frame = pd.DataFrame(jobs, columns=["submit", "run", "estimate", "procs"])
    frame["run"] = np.minimum(frame["run"], frame["estimate"] * 60)
    frame["estimate"] *= 60
    return harness.prepare(harness.log_from_frame(frame.sort_values("submit"), name="few", procs=4))


JOBS = st.lists(
    st.tuples(st.integers(0, 1500), st.integers(1, 900), st.integers(1, 15), st.integers(1, 4)), min_size=1, max_size=8
)
WINDOWS = st.lists(
    st.builds(
        lambda begin, length, nodes: Window(begin, begin + length, nodes=tuple(sorted(nodes))),
        st.integers(0, 2500), st.integers(1, 1500), st.sets(st.integers(0, 3), min_size=1),
    ),
    max_size=3,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(jobs=JOBS, windows=WINDOWS, seed=st.integers(0, 9))
def test_no_job_may_reach_into_a_time_in_which_its_nodes_are_kept(
    cluster: Cluster, jobs: list[tuple[int, int, int, int]], windows: list[Window], seed: int
) -> None:
    places = Placements()
    few = workload(jobs)
    found = slurm_replay(few, {}, cluster, windows=tuple(windows), seed=seed, places=places)
    assert found.frame["start"].notna().all()  # all windows are over some time
    limits = few.jobs["estimate"].to_numpy()[np.argsort(few.jobs["submit"].to_numpy(), kind="stable")]
    for stay in places.records:
        for window in windows:
            apart = window.end <= stay["begin"] or window.begin >= stay["begin"] + limits[stay["job"]]
            assert apart or stay["node"] not in window.nodes


@settings(max_examples=40, deadline=None)
@given(jobs=JOBS, seed=st.integers(0, 9))
def test_what_is_kept_after_everything_changes_nothing(
    cluster: Cluster, jobs: list[tuple[int, int, int, int]], seed: int
) -> None:
    few = workload(jobs)
    late = (Window(10**7, 2 * 10**7),)
    one, other = (slurm_replay(few, {}, cluster, windows=windows, seed=seed) for windows in ((), late))
    assert one.frame["start"].tolist() == other.frame["start"].tolist()


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50), st.integers(0, 15))), st.integers(0, 99))
def test_what_is_kept_is_what_a_look_at_every_second_says(times: list[tuple[int, int, int]], begin: int) -> None:
    kept = KeptNodes(Kept(float(since), float(since + length), nodes) for since, length, nodes in times)
    end = begin + 7
    slowly = 0
    for second in range(begin, end):
        for since, length, nodes in times:
            slowly |= nodes if since <= second < since + length else 0
    assert kept.within(begin, end) == slowly
    ends = [since + length for since, length, _ in times if since + length > begin]
    assert kept.next_end(begin) == min(ends, default=0)


def test_more_reservations_than_an_execution_can_create_are_refused(cluster: Cluster) -> None:
    kept = KeptNodes(Kept(float(k), k + 1.0, 1) for k in range(1001))
    with pytest.raises(HarnessError, match="1,001 reservations: expected at most 1,000 in an execution"):
        list(kept.named(0.0, cluster))
    assert kept.within(0.0, 2000.0) == 1
    with pytest.raises(HarnessError, match="20,000 reservations on 200,000 nodes: expected fewer"):
        KeptNodes(Kept(float(k), k + 0.5, 1 << 199_999) for k in range(20_000))


def test_a_table_of_too_many_reservations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("begin,end\n" + "1,2\n" * 5_001)
    with pytest.raises(HarnessError, match=r"kept\.csv, line 5002: more than 5,000 reservations"):
        read_windows(path)


def test_windows_for_some_are_refused(cluster: Cluster) -> None:
    with pytest.raises(HarnessError, match="a window is kept for some users, groups or queues"):
        slurm_replay(workload([(0, 60, 1, 1)]), {}, cluster, windows=(Window(0, 10, users=(3,)),))


@pytest.mark.skipif(
    any(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None for name in slurm_execution.PROGRAMS),
    reason=f"no real Slurm is installed: apt-get install {slurm_execution.PACKAGES}",
)
@pytest.mark.study  # a minute; nine executions of `reports/slurm-executions` have kept nodes too
def test_slurm_keeps_them_too(conf: Path, cluster: Cluster, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second would reach into the time in which two nodes are kept, and the third would not."""
    monkeypatch.setattr(slurm_execution, "LATE", 60.0)
    jobs = workload([(0, 120, 3, 4), (10, 60, 30, 4), (20, 60, 2, 3), (30, 60, 30, 2)])
    windows = (Window(500, 1000, nodes=(2, 3)),)
    done = execute(jobs, read_slurm(conf), windows=windows, speed=20)
    replayed = slurm_replay(jobs, {}, cluster, windows=windows).frame
    for begun in (done.schedule["start"].tolist(), replayed["start"].tolist()):
        assert begun[1] >= 1000
        assert begun[2] < 300
        assert begun[3] < 400
    assert left_behind(temporary) == []
