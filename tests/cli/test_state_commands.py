"""`--state` where schedulers are compared: in `compare`, in `tournament`, in fields; and what it is refused beside."""

from pathlib import Path

import pytest
from calling import Call

import harness

STATE = """JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS
11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|48
13|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|64
14|ann|PENDING|2026-11-19T09:20:00|N/A|0:00|30:00|48
15|ann|PENDING|2026-11-19T09:30:00|N/A|0:00|10:00|48
"""

LATER = "; MaxProcs: 64\n" + "".join(
    f"{k} {9000 * k} -1 {600 + 300 * (k % 5)} {width} -1 -1 {width} 3600 -1 1 {k % 4} 1 1 1 1 -1 -1\n"
    for k, width in enumerate(8 * (1 + k % 7) for k in range(200))
)

FIELD = """workloads = [WORKLOADS]
platforms = [64]
[[scheduler]]
order = ["fcfs", "spf"]
start = ["none"]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("now.txt").write_text(STATE)
    Path("later.swf").write_text(LATER)
    Path("slurm.conf").write_text("ClusterName=c\nNodeName=n[1-4] CPUs=16\nPartitionName=main Nodes=ALL Default=YES\n")


def test_two_schedulers_go_on_from_a_state(harness_says: Call) -> None:
    """It is ten; who runs ends at 12:10. First come, 13, 14 and 15 follow each other; shortest first, 15, 14 and 13."""
    told = harness_says("compare", "--state", "now.txt", "fcfs + none", "spf + none", "--procs", 64, "--format", "csv")
    assert (told.status, told.err) == (0, "")
    waits = next(line for line in told.out.splitlines() if line.startswith("mean wait")).split(",")
    fcfs, spf = (180, 290, 310), (160, 180, 220)  # [min]
    assert [float(one) for one in waits[1:3]] == [pytest.approx(20 * sum(some)) for some in (fcfs, spf)]


def test_jobs_of_a_log_come_later_and_are_redrawn(harness_says: Call) -> None:
    asked = ("compare", "later.swf", "fcfs + none", "spf + none", "--state", "now.txt", "--procs", 64)
    told = harness_says(*asked, "--resample", 6, "--workers", 1)
    assert told.status == 0
    assert "further jobs: 200 jobs" in told.out
    assert "That is about 7 streams of jobs" in told.out


def test_a_variation_keeps_who_is_there() -> None:
    there = harness.read_state("now.txt").workload()
    later = harness.prepare(harness.read_workload("later.swf"))
    both = harness.workload.snapshot.followed_by(there, later)
    one, other = (harness.resample(both, seed).jobs for seed in (1, 2))
    for jobs in (one, other):
        assert len(jobs) >= len(there)
        head = jobs.head(len(there))
        assert head[list(there.jobs.columns)].to_numpy().tolist() == there.jobs.to_numpy().tolist()
        assert (jobs["submit"].iloc[len(there) :] >= there.now).all()
    assert one["submit"].tolist() != other["submit"].tolist()


def test_a_field_begins_with_a_state(harness_says: Call) -> None:
    Path("said.toml").write_text(FIELD.replace("WORKLOADS", '{ source = "later.swf", state = "now.txt" }'))
    Path("given.toml").write_text(FIELD.replace("WORKLOADS", '"later.swf"'))
    said = harness_says("tournament", "said.toml", "--workers", 1, "--out", "said", "--format", "csv")
    given = harness_says(
        "tournament", "given.toml", "--workers", 1, "--out", "given", "--format", "csv", "--state", "now.txt"
    )
    assert (said.status, given.status) == (0, 0)
    assert said.out == given.out
    [workload] = harness.Results("said").about["workloads"]
    assert workload["jobs"] == 204
    assert harness_says("report", "given").status == 0


def test_a_state_alone_is_a_workload_of_a_field(harness_says: Call) -> None:
    Path("alone.toml").write_text(FIELD.replace("WORKLOADS", '{ state = "now.txt", name = "now" }'))
    assert harness_says("tournament", "alone.toml", "--workers", 1).status == 0
    refused = harness_says("tournament", "alone.toml", "--workers", 1, "--jobs", 2)
    assert (refused.status, refused.out) == (2, "")
    assert "now.txt: a state with jobs: expected a source too" in refused.err


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (["compare", "later.swf", "fcfs + none"], "expected a workload and two schedulers, or --state and two"),
        (["compare", "fcfs + none", "spf + none", "--state", "now.txt", "--resample", "6"], "expected jobs to redraw"),
        (["compare", "fcfs + none", "later.swf", "--state", "now.txt"], "a schedule cannot continue from a state"),
        (["run", "--state", "now.txt", "--hold", "limits(user_jobs=1)"], "where nobody can be held: expected no hold"),
        (["forecast", "--state", "now.txt", "--hold", "limits(user_jobs=1)"], "where nobody can be held"),
        (["compare", "slurm.conf", "fcfs + easy", "--state", "now.txt"], "begins with an empty machine"),
        (["compare", "later.swf", "slurm.conf", "fcfs + easy", "--state", "now.txt"], "begins with an empty machine"),
        (["run", "--state", "now.txt", "--slurm", "slurm.conf"], "begins with an empty machine; expected one"),
    ],
)
def test_what_it_cannot_go_with_is_one_sentence(harness_says: Call, call: list[str], complaint: str) -> None:
    told = harness_says(*call, *([] if "--slurm" in call else ["--procs", 64]))
    assert (told.status, told.out) == (2, "")
    assert complaint in told.err
    assert len([line for line in told.err.splitlines() if "compiling" not in line]) == 1
