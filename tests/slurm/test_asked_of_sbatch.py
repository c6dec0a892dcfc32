"""What is asked of `sbatch` is what the model schedules by: read from its command line, it is the same request."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from small_clusters import CORES, cluster, dump

import harness
from harness.slurm.requests import requests_of
from harness.slurm.sbatch_options import asked_of_sbatch, cancellations_of, submissions_of

ASKED = st.fixed_dictionaries(
    {
        "line": st.lists(
            st.sampled_from([
                "--exclusive", "--mem-per-cpu=700M", "--nodes=2", "--nodes=1-3", "--ntasks-per-node=2",
                "--constraint=ib", "--gres=gpu:2", "--licenses=solver:2",
            ]), unique_by=lambda word: word.partition("=")[0][:6],
        ),
        "Partition": st.sampled_from(["all", "urgent", ""]),
    }
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 8), ASKED), min_size=1, max_size=4))
def test_a_request_read_from_its_own_submission_is_the_same(tmp_path_factory, jobs):
    tmp_path = tmp_path_factory.mktemp("asked")
    machine = cluster(tmp_path, CORES)
    rows = [
        (
            k,
            60 * minutes,
            minutes,
            cpus,
            {"SubmitLine": f"sbatch {' '.join(more['line'])} x", "Partition": more["Partition"]},
        )
        for k, (minutes, cpus, more) in enumerate(jobs)
    ]
    first = asked_for(tmp_path, rows, machine)
    again = []
    for (submit, run, minutes, cpus, _), one in zip(rows, first, strict=True):
        words = asked_of_sbatch(one, machine)
        assert f"--ntasks={cpus}" in words
        assert f"--time={minutes}" in words
        line = " ".join(["sbatch", *words, "x"])
        memory = next((word.partition("=")[2] for word in words if word.startswith("--mem")), "")
        partition = next(word.partition("=")[2] for word in words if word.startswith("--partition"))
        total = f"{int(memory[:-1]) * cpus}K" if memory else ""
        again.append((submit, run, minutes, cpus, {"SubmitLine": line, "Partition": partition, "ReqMem": total}))
    assert asked_for(tmp_path, again, machine) == first


def test_jobs_are_told_by_time_since_the_first(tmp_path):
    machine = cluster(tmp_path, CORES)
    log = dump(tmp_path, [(0, 60, 1, 1, {}), (30, 90, 2, 2, {}), (20, 60, 1, 1, {})])
    jobs = harness.prepare(log)
    moved = jobs.jobs.assign(submit=jobs.jobs["submit"] + 100.0, cancel=[math.inf, 170.0, 150.5])
    requests = requests_of(replace(jobs, jobs=moved), log, machine)
    (tmp_path / "jobs").mkdir()
    told = list(submissions_of(requests, machine, tmp_path))
    assert [(job, submit) for job, submit, _ in told] == [(1, 0.0), (3, 20.0), (2, 30.0)]
    assert all(Path(words[-1]).read_text().endswith(f"sleep {60 if job != 2 else 90}\n") for job, _, words in told)
    assert cancellations_of(requests) == [(50.5, 3), (70.0, 2)]


def asked_for(tmp_path, rows, machine):
    log = dump(tmp_path, rows)
    return requests_of(harness.prepare(log), log, machine)


def test_what_was_not_asked_for_is_left_to_the_configuration(tmp_path):
    text = CORES.replace("DefMemPerCPU=500", "").replace("CR_Core_Memory", "CR_Core")
    machine = cluster(tmp_path, text)
    (plain,) = asked_for(tmp_path, [(0, 60, 5, 3, {})], machine)
    assert asked_of_sbatch(plain, machine) == ["--ntasks=3", "--time=5", "--partition=all"]


def test_a_job_held_back_is_submitted_at_its_time_and_begins_later(tmp_path):
    machine = cluster(tmp_path, CORES)
    (held,) = asked_for(tmp_path, [(0, 60, 5, 1, {"Eligible": "2024-01-01T00:02:00"})], machine)
    assert "--begin=now+120" in asked_of_sbatch(held, machine)


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from([
            {}, {"Constraints": "ib"}, {"Constraints": "ib&gpu"}, {"ReqTRES": "cpu=1,node=1,gres/gpu=2"},
            {"ReqTRES": "cpu=1,node=1,license/solver=2"}, {"SubmitLine": "sbatch --exclusive x"},
            {"SubmitLine": "sbatch -N 2 x"}, {"Partition": "urgent"},
        ]), min_size=1, max_size=5,
    )
)  # fmt: skip
def test_columns_of_a_log_ask_for_what_the_dump_they_were_read_from_does(tmp_path_factory, jobs):
    """The same jobs, once with the dump of sacct at hand, and once only with the columns of the workload."""
    tmp_path = tmp_path_factory.mktemp("columns")
    machine = cluster(tmp_path, CORES)
    log = dump(tmp_path, [(k, 60, 5, 2, {"Partition": "all", **more}) for k, more in enumerate(jobs)])
    workload = harness.prepare(log)
    header = (*workload.header, *(f"; Partition: {k + 1} {name}" for k, name in enumerate(log_partitions(jobs))))
    workload = replace(workload, header=header)
    for one, other in zip(requests_of(workload, log, machine), requests_of(workload, None, machine), strict=True):
        for name in ("job", "cpus", "partition", "features", "gres", "licences", "exclusive"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.most_nodes in (0, other.most_nodes)


def log_partitions(jobs):
    """Partitions in the order in which they appear: by that they are numbered."""
    return list(dict.fromkeys(more.get("Partition", "all") for more in jobs))


def test_one_of_several_features_will_do(tmp_path):
    machine = cluster(tmp_path, CORES)
    jobs = {"submit": [0, 1], "run": [5, 5], "procs": [1, 1], "constraint": ["ib&(big|fast)", "big|fast"]}
    workload = harness.prepare(harness.log_from_frame(pd.DataFrame(jobs), procs=12))
    first, second = requests_of(workload, None, machine)
    assert set(first.features) == {frozenset({"ib", "big"}), frozenset({"ib", "fast"})}
    assert set(second.features) == {frozenset({"big"}), frozenset({"fast"})}
    assert "--constraint=big|fast" in asked_of_sbatch(second, machine)
