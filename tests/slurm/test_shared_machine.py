"""Policies that are compared with a Slurm run on its machine: its nodes, partitions, features, GPUs and memory."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import harness
from harness.cli import app
from harness.errors import HarnessError
from harness.experiment.runner import tournament
from harness.slurm.requests import said_of
from harness.slurm.shared_machine import with_partitions, with_requests
from harness.slurm.slurm_replay import slurm_replay
from harness.slurm.slurm_scheduler import read_slurm_scheduler

HEAD = "ClusterName=mini\nSelectType=select/cons_tres\nSchedulerParameters=bf_interval=1,sched_interval=1\n"

#: Two partitions of two nodes with four cores each.
APART = """SelectTypeParameters=CR_CPU
NodeName=n[1-4] CPUs=4
PartitionName=a Nodes=n[1-2] MaxTime=INFINITE
PartitionName=b Nodes=n[3-4] Default=YES MaxTime=INFINITE
"""
FEATURES = """SelectTypeParameters=CR_CPU
NodeName=n[1-2] CPUs=4 Feature=fast
NodeName=n[3-4] CPUs=4
PartitionName=a Nodes=ALL Default=YES MaxTime=INFINITE
"""
GPUS = """SelectTypeParameters=CR_CPU
GresTypes=gpu
NodeName=n[1-2] CPUs=4 Gres=gpu:4
NodeName=n[3-4] CPUs=4
PartitionName=a Nodes=ALL Default=YES MaxTime=INFINITE
"""
MEMORY = """SelectTypeParameters=CR_CPU_Memory
NodeName=n[1-4] CPUs=4 RealMemory=4000
PartitionName=a Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=2000
"""
MEMORY_OF_NODES = MEMORY.replace("DefMemPerCPU=2000", "DefMemPerNode=4000")
ALL_MEMORY = MEMORY.replace("DefMemPerCPU=2000", "")
WHOLE_PARTITION = APART.replace("PartitionName=b", "PartitionName=b OverSubscribe=EXCLUSIVE")
OVERLAPPING = APART.replace("Nodes=n[3-4]", "Nodes=n[1-2]")
OUTSIDE = APART.replace("PartitionName=b Nodes=n[3-4] Default=YES MaxTime=INFINITE\n", "")

#: The machine → a request of two jobs that both fit on four nodes of four cores, but not under the configuration.
REQUESTS = {
    "partition": (APART, {"Partition": "a", "ReqCPUS": "8"}),
    "default partition": (APART, {"ReqCPUS": "8"}),
    "overlapping partitions": (OVERLAPPING, {"Partition": "b", "ReqCPUS": "8"}),
    "nodes of no partition": (OUTSIDE, {"Partition": "a", "ReqCPUS": "8"}),
    "nodes of no partition, by default": (OUTSIDE, {"ReqCPUS": "8"}),
    "features": (FEATURES, {"Constraints": "fast", "ReqCPUS": "8"}),
    "GPUs": (GPUS, {"ReqTRES": "cpu=2,gres/gpu=8", "ReqCPUS": "2", "ReqNodes": "2"}),
    "memory": (MEMORY, {"ReqMem": "4000Mc", "ReqCPUS": "3"}),
    "default memory of a processor": (MEMORY, {"ReqCPUS": "5"}),
    "default memory of a node": (MEMORY_OF_NODES, {"ReqCPUS": "3", "ReqNodes": "3"}),
    "all memory of the nodes": (ALL_MEMORY, {"ReqCPUS": "3", "ReqNodes": "3"}),
    "whole nodes of a partition": (WHOLE_PARTITION, {"Partition": "b", "ReqCPUS": "5"}),
    "whole nodes": ("SelectType=select/linear\n" + FEATURES, {"ReqCPUS": "3", "ReqNodes": "3"}),
}

every_request = pytest.mark.parametrize("name", REQUESTS)


def written(folder: Path, name: str) -> tuple[Path, Path]:
    """Write the configuration, and a dump of two jobs of an hour that are submitted at once."""
    machine, request = REQUESTS[name]
    conf, dump = folder / "mini.conf", folder / "jobs.txt"
    conf.write_text(HEAD + machine)
    request = {"ReqNodes": "1", **request}
    lines = ["|".join(["JobIDRaw", "Submit", "Start", "End", "TimelimitRaw", "State", *request])]
    times = ["2024-03-04T08:00:00", "2024-03-04T08:00:00", "2024-03-04T09:00:00"]
    lines += ["|".join([number, *times, "120", "COMPLETED", *request.values()]) for number in "12"]
    dump.write_text("\n".join(lines) + "\n")
    return conf, dump


def compared(*words: str) -> dict[str, dict[str, float]]:
    """What `harness compare` finds: each measure of both schedulers."""
    found = CliRunner().invoke(app, ["compare", *words, "--format", "json"])
    assert found.exit_code == 0, found.output or found.exception
    return {line["measure"]: line for line in json.loads(found.stdout)["lines"]}


@every_request
def test_the_second_job_waits_under_every_scheduler(tmp_path: Path, name: str) -> None:
    conf, dump = written(tmp_path, name)
    line = compared(str(dump), str(conf), "fcfs + easy")["max_wait"]
    assert line["one"] == pytest.approx(3600, abs=90)  # Slurm looks now and then
    assert line["other"] == pytest.approx(3600, abs=90)


@every_request
def test_it_waits_in_a_tournament(tmp_path: Path, name: str) -> None:
    conf, dump = written(tmp_path, name)
    field = tmp_path / "field.toml"
    field.write_text(
        f'workloads = "{dump}"\nresamples = 0\n[[scheduler]]\nslurm = "{conf}"\n'
        '[[scheduler]]\nstart = ["easy", "conservative", "none"]\n'
    )
    frame = tournament(field, tmp_path / "out").frame()
    assert (frame["status"] == "done").all(), frame["error"].tolist()
    assert len(frame) == 4
    assert frame["max_wait"].tolist() == pytest.approx([3600] * 4, abs=90)


@every_request
def test_a_slurm_schedules_the_jobs_of_policies_as_its_own(tmp_path: Path, name: str) -> None:
    """The columns say what Slurm takes the jobs to ask for, so that it asks for nothing else itself."""
    conf, dump = written(tmp_path, name)
    slurm, log = read_slurm_scheduler(str(conf)), harness.read_workload(dump)
    jobs = harness.prepare(log)
    changed = with_requests(jobs, said_of(log), slurm.cluster)
    own = slurm_replay(jobs, log, slurm.cluster)
    assert slurm_replay(changed, log, slurm.cluster).frame["start"].tolist() == own.frame["start"].tolist()
    assert slurm_replay(changed, {}, slurm.cluster).frame["start"].tolist() == own.frame["start"].tolist()


def test_the_example_as_a_log_with_numbers_of_partitions(tmp_path: Path) -> None:
    """By the name that the header gives a number, and else by the place in the configuration."""
    conf = tmp_path / "mini.conf"
    conf.write_text(HEAD + APART)
    line = "{0} 0 -1 3600 8 -1 -1 8 7200 -1 1 1 1 -1 1 {1} -1 -1\n"
    for header, number in (("", 1), ("; Partition: 7 a\n", 7), ("; Partition: 2 a\n; Partition: 1 b\n", 2), ("", -1)):
        log = tmp_path / "log.swf"
        log.write_text("; MaxProcs: 16\n" + header + "".join(line.format(job, number) for job in (1, 2)))
        found = compared(str(log), str(conf), "fcfs + easy")["max_wait"]
        assert (found["one"], found["other"]) == (pytest.approx(3600, abs=90), 3600.0)


def test_a_platform_of_the_same_size_is_the_same_machine(tmp_path: Path) -> None:
    conf, dump = written(tmp_path, "partition")
    line = compared(str(dump), "fcfs + easy", str(conf), "--procs", "16")["max_wait"]
    assert line["one"] == 3600.0
    found = CliRunner().invoke(app, ["compare", str(dump), "fcfs + easy", str(conf), "--procs", "17"])
    assert isinstance(found.exception, HarnessError)
    assert "has 16 processors, the platform '17 processors' 17: expected the same number" in str(found.exception)


def test_the_comparison_states_that_jobs_ask_for_more(tmp_path: Path) -> None:
    conf, dump = written(tmp_path, "partition")
    found = CliRunner().invoke(app, ["compare", str(dump), str(conf), "fcfs + easy"])
    assert "partitions, default memory and whole nodes as the slurm.conf has them" in found.output


def test_jobs_of_a_machine_in_one_piece_are_left_as_they_are(tmp_path: Path) -> None:
    conf, dump = written(tmp_path, "features")
    slurm, log = read_slurm_scheduler(str(conf)), harness.read_workload(dump)
    jobs = harness.prepare(log)
    assert with_requests(jobs, said_of(log), slurm.cluster) is jobs
    assert with_partitions(slurm.cluster).digest == slurm.platform.digest


def test_another_default_makes_other_jobs(tmp_path: Path) -> None:
    """What has run is not taken for a run under another configuration."""
    conf, dump = written(tmp_path, "default memory of a processor")
    log = harness.read_workload(dump)
    jobs, digests = harness.prepare(log), set()
    for memory in (1000, 1500, 2000):
        conf.write_text(HEAD + MEMORY.replace("2000", str(memory)))
        digests.add(with_requests(jobs, said_of(log), read_slurm_scheduler(str(conf)).cluster).digest)
    assert len(digests | {jobs.digest}) == 4


def test_policies_have_no_two_machines(tmp_path: Path) -> None:
    conf, dump = written(tmp_path, "partition")
    other = tmp_path / "other.conf"
    other.write_text(conf.read_text().replace("n[3-4]", "n[2-4]"))
    field = tmp_path / "field.toml"
    slurms = f'workloads = "{dump}"\n[[scheduler]]\nslurm = ["{conf}", "{other}"]\n'
    field.write_text(slurms + '[[scheduler]]\nstart = "easy"\n')
    with pytest.raises(HarnessError, match="describe different nodes or partitions, and a policy that is compared"):
        tournament(field, tmp_path / "out")
    field.write_text(slurms)
    assert len(tournament(field, tmp_path / "two").frame()) == 2
