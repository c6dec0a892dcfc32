"""Traces as their publishers write them, and workloads of ElastiSim."""

import csv
import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from shared.mutated import PACKINGS
from shared.readers import BATSIM, EAGLE, ELASTISIM, LUMOS, PODS, RAN, SMALL, TABLE

import harness


def read(tmp_path, text, name="trace.csv"):
    (tmp_path / name).write_text(text)
    return harness.read_workload(str(tmp_path / name))


ENDINGS = ("gz", "bz2", "xz", "ZIP")


def column(log, name):
    return log.jobs[name].tolist()


def steps(log):
    return {step.name: (step.jobs, step.detail) for step in log.reading}


def test_lumos(tmp_path):
    log = read(tmp_path, LUMOS)
    assert column(log, "submit") == [1, 0]
    assert column(log, "procs") == [8, 2]
    assert column(log, "run") == [3632.92, 21]
    assert column(log, "estimate") == [3600, -1]
    assert column(log, "user") == [1, -1]
    assert column(log, "status") == [5, 1]
    assert log.header[0] == "; UnixStartTime: 1672529300"
    assert steps(log)["not in the file"] == (2, "memory, queue, partition")


def test_lumos_is_as_wide_as_its_gpus_where_there_are_some(tmp_path):
    log = read(tmp_path, ",run_time,wait_time,submit_time,gpu_num\n0,9,0,5,1\n1,8,,6,8\n2,7,0,,2\n")
    assert column(log, "procs") == [1, 8]
    assert column(log, "wait") == [0, -1]
    assert steps(log)["left out"][0] == 1


def test_eagle(tmp_path):
    log = read(tmp_path, EAGLE)
    assert column(log, "submit") == [5, 0]
    assert column(log, "wait") == [1, -1]
    assert column(log, "procs") == [3, 2]
    assert column(log, "queue") == [1, 2]
    assert column(log, "status") == [1, 0]
    assert steps(log)["memory"][0] == 1
    assert column(log, "nodes") == [1, 1]
    assert column(log, "needs_gpu") == [-1, 1]


def test_alibaba(tmp_path):
    log = read(tmp_path, PODS)
    assert column(log, "procs") == [2, 1, 8]
    assert column(log, "memory") == [8192 * 1024, 64 * 1024, 8 * 1024]
    assert column(log, "run") == [97, -1, 20]
    assert column(log, "wait") == [3, -1, 11]
    assert steps(log)["unknown runtime"][0] == 1
    assert column(log, "nodes") == [1, 1, 1]
    assert column(log, "needs_gpu") == [1, -1, -1]
    assert column(log, "needs_gpu_milli") == [1000, -1, -1]


NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,4000,1024,2,T4\nn1,4000,1024,2,T4\nn2,8000,2048,0,\n"


def test_alibabas_nodes(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    first, second = harness.read_platform(str(tmp_path / "nodes.csv")).types
    assert (first.count, first.cores, first.memory) == (2, 4, 1024**2)
    assert (first.features, dict(first.resources)) == (("T4",), {"gpu": 2, "gpu_milli": 2000})
    assert (second.count, second.features, second.resources) == (1, (), ())
    (tmp_path / "odd.csv").write_text(NODES.replace("2048", "much"))
    with pytest.raises(harness.HarnessError, match="row 4: 'much'"):
        harness.read_platform(str(tmp_path / "odd.csv"))


def test_pods_that_share_a_gpu_and_name_its_model(tmp_path):
    """Two halves of one GPU at once, a third pod beside them; the fourth waits for a T4 although there is no V100."""
    (tmp_path / "nodes.csv").write_text(NODES.replace(",2,T4", ",1,T4"))
    pods = PODS.splitlines()[0]
    rows = [("500", "", 9), ("500", "", 9), ("1000", "", 9), ("1000", "T4|V100", 5), ("1000", "V100", 5)]
    for k, (milli, model, run) in enumerate(rows):
        pods += f"\np{k},1000,1,1,{milli},{model},LS,Succeeded,0,{run},0"
    workload = harness.prepare(read(tmp_path, pods + "\n"))
    schedule = harness.simulate(workload, str(tmp_path / "nodes.csv"), harness.Scheduler(start="none"))
    assert schedule.frame["start"].tolist()[:4] == [0, 0, 0, 9]
    assert schedule.frame["status"].tolist()[4] == "unaccepted"


@pytest.mark.data
def test_alibabas_cluster_is_replayed_with_its_gpus(data):
    folder = data / "anchors" / "alibaba-gpu-2023"
    workload = harness.prepare(harness.read_workload(str(folder / "openb_pod_list_default.csv.gz")))
    platform = harness.read_platform(str(folder / "openb_node_list_all_node.csv.gz"))
    assert (platform.nodes, sum(t.count * dict(t.resources).get("gpu", 0) for t in platform.types)) == (1523, 6212)
    schedule = harness.simulate(workload, platform, harness.Scheduler(start="easy"))
    assert set(schedule.frame["status"]) == {"completed"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (LUMOS, LUMOS.replace("3632.92", "soon"), "line 2, column 'run_time': 'soon', where a number was expected"),
        (EAGLE, EAGLE.replace("2019-01-01 08:55:50", "noon"), "line 3, column 'submit_time': 'noon', where a date"),
        (EAGLE, EAGLE.replace("08:55:5", "at half past "), "line 2, column 'submit_time': '2019-01-01 at half past 5'"),
        (PODS, PODS.replace("1500", "0").replace("8000", "0").replace("400", "-"), "line 3, column 'cpu_milli'"),
        (
            LUMOS,
            LUMOS.replace("8.0,1672529301", "0,1672529301").replace("2,1672529300", "0,1672529300"),
            "a width above",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, old, new, said):
    assert old != new
    with pytest.raises(harness.HarnessError, match=said):
        read(tmp_path, new)


def test_dates_may_say_how_far_they_are_from_utc(tmp_path):
    there = read(tmp_path, EAGLE.replace("08:55:50", "09:55:50+01:00"))
    assert column(there, "submit") == column(read(tmp_path, EAGLE), "submit")


@pytest.mark.parametrize(("ending", "pack"), list(zip(ENDINGS, PACKINGS, strict=True)), ids=ENDINGS)
def test_what_is_told_by_its_name_may_be_packed(tmp_path, ending, pack):
    def written(name, content):
        path = tmp_path / f"{name}.{ending}"
        path.write_bytes(pack(content))
        return path

    parquet = pd.read_csv(io.StringIO(TABLE)).to_parquet()
    ran = pd.read_csv(io.StringIO(RAN)).to_parquet()
    for name, content in (("jobs.csv", TABLE), ("ran.csv", RAN), ("e.json", ELASTISIM), ("b.json", BATSIM)):
        plain = read(tmp_path, content, name)
        log = harness.read_workload(written(name, content.encode()))
        assert (log.name, log.digest, log.reading) == (plain.name, plain.digest, plain.reading)
    assert column(harness.read_workload(written("jobs.parquet", parquet)), "run") == [60 + k for k in range(9)]
    assert column(harness.read_workload(written("ran.parquet", ran)), "wait") == [1.5] * 9
    servers = harness.read_platform(str(written("small.csv", SMALL.encode())))
    assert (servers.name, servers.nodes) == ("small", 2)


def test_elastisim(tmp_path):
    log = read(tmp_path, ELASTISIM, "jobs.json")
    assert column(log, "procs") == [1, 2, 3, 1, 2]
    np.testing.assert_allclose(column(log, "run"), [40, 20, 40 / 3, 40, 20])
    assert column(log, "estimate") == [-1] * 5


def test_elastisim_s_moldable_jobs(tmp_path):
    content = json.loads(ELASTISIM)
    content["jobs"][1] |= {"type": "moldable", "num_nodes_min": 3, "num_nodes_max": 8}
    content["jobs"][1]["arguments"] = {"nstep": 10, "base_nodes": 4}
    log = read(tmp_path, json.dumps(content), "jobs.json")
    assert (log.jobs["procs"][1], log.jobs["run"][1]) == (4, 10)
    assert column(log, "procs_min") == [1, 3, 3, 1, 2]
    assert column(log, "procs_max") == [1, 8, 3, 1, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "malleable"}, "job 2 is 'malleable': expected 'rigid' or 'moldable'"),
        ({"type": "moldable", "num_nodes_min": 3, "num_nodes_max": 2}, "job 2: expected num_nodes_max of at least"),
        ({"arguments": {}}, "job 2: expected arguments with iterations or nstep"),
        ({"num_nodes": "many"}, "expected a workload of ElastiSim"),
    ],
)
def test_elastisim_that_cannot_be_is_refused(tmp_path, change, said):
    content = json.loads(ELASTISIM)
    content["jobs"][1] |= change
    with pytest.raises(harness.HarnessError, match=said):
        read(tmp_path, json.dumps(content), "jobs.json")


@pytest.mark.data
@pytest.mark.parametrize("case", ["simple-rigid", "rigid-archer2-rigid"])
def test_elastisim_on_cirrus_job_by_job(case, data):
    """First come, first served without backfilling: every start and end of theirs."""
    folder = data / "anchors" / "elastisim-cirrus" / f"cirrus-cpu-{case}"
    workload = harness.prepare(harness.read_workload(str(folder / "jobs.json.gz")))
    frame = harness.simulate(workload, 13249, harness.Scheduler(order="fcfs", start="none", energy="none")).frame
    with gzip.open(folder / "job_statistics.csv.gz", "rt") as file:
        theirs = {int(row["ID"]) + 1: row for row in csv.DictReader(file)}
    assert len(theirs) == len(frame)
    assert frame["start"].tolist() == [float(theirs[job]["Start Time"]) for job in frame["job"]]
    assert frame["end"].tolist() == [float(theirs[job]["End Time"]) for job in frame["job"]]
