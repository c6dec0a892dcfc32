"""Jobs without a limit (UNLIMITED, Partition_Limit in a dump) are planned with a limit, never with their runtime."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import harness
from harness.cli import app
from harness.slurm.requests import requests_of, said_of
from harness.slurm.slurm_scheduler import read_slurm_scheduler

CONFIGURATION = """ClusterName=mini
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=1,sched_interval=1
NodeName=n1 CPUs=4
PartitionName=day Nodes=ALL Default=YES MaxTime=1-00:00:00
PartitionName=short Nodes=ALL DefaultTime=01:30:00 MaxTime=02:00:00
PartitionName=open Nodes=ALL MaxTime=INFINITE
"""

WORDS = ["UNLIMITED", "Partition_Limit", "unlimited", "PARTITION_LIMIT"]

every_word = pytest.mark.parametrize("word", WORDS)
every_column = pytest.mark.parametrize("column", ["Timelimit", "TimelimitRaw"])


def dump(path: Path, jobs: list[tuple[int, int, int, str, str]], column: str = "Timelimit") -> Path:
    """Write what sacct prints of (seconds after the first, runtime, processors, limit in minutes, partition)."""
    lines = [f"JobIDRaw|Submit|ElapsedRaw|{column}|ReqCPUS|State|Partition"]
    for number, (submit, run, procs, limit, partition) in enumerate(jobs, start=1):
        told = (
            f"{int(limit) // 60:02d}:{int(limit) % 60:02d}:00" if limit.isdigit() and column == "Timelimit" else limit
        )
        lines.append(f"{number}|2024-03-04T08:00:{submit:02d}|{run}|{told}|{procs}|COMPLETED|{partition}")
    path.write_text("\n".join(lines) + "\n")
    return path


def example(folder: Path, word: str, column: str = "Timelimit") -> Path:
    """Job 1 has no limit, job 2 needs all processors, job 3 fits next to job 1."""
    return dump(
        folder / "jobs.txt",
        [(0, 600, 2, word, "day"), (10, 600, 4, "60", "day"), (20, 3600, 2, "60", "day")],
        column,
    )


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """The configuration."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONFIGURATION)
    return path


@every_word
@every_column
def test_a_job_next_to_one_without_a_limit_starts_at_once(tmp_path: Path, conf: Path, word: str, column: str) -> None:
    log = harness.read_workload(example(tmp_path, word, column))
    schedule = harness.simulate(log, None, read_slurm_scheduler(str(conf)))
    starts = schedule.frame.set_index("job")["start"]
    assert starts[3] == pytest.approx(20, abs=5)
    assert starts[2] >= 3620


def test_it_starts_at_once_under_a_policy_compared_with_the_slurm(tmp_path: Path, conf: Path) -> None:
    found = CliRunner().invoke(
        app, ["compare", str(example(tmp_path, "UNLIMITED")), str(conf), "fcfs + easy", "--format", "json"]
    )
    assert found.exit_code == 0, found.output
    longest = next(line for line in json.loads(found.stdout)["lines"] if line["measure"] == "max_wait")
    assert longest["one"] == pytest.approx(3610, abs=10)
    assert longest["other"] == pytest.approx(3610, abs=10)


@every_word
def test_without_a_configuration_the_longest_limit_of_the_log_counts(tmp_path: Path, word: str) -> None:
    jobs = [(0, 600, 2, word, ""), (10, 600, 4, "60", ""), (20, 3600, 2, "60", ""), (59, 60, 1, "300", "")]
    workload = harness.prepare(harness.read_workload(dump(tmp_path / "jobs.txt", jobs)))
    assert workload.jobs["estimate"].tolist() == [18000.0, 3600.0, 3600.0, 18000.0]
    (step,) = [step for step in workload.preparation if step.name == "no limit"]
    assert step.jobs == 1
    assert step.detail == "UNLIMITED or Partition_Limit: the longest limit of the log, 18000 s"
    assert [step.jobs for step in workload.preparation if step.name == "estimates"] == [0]
    starts = harness.simulate(workload, 4, harness.Scheduler(start="easy")).frame["start"]
    assert starts[2] == 20


def test_the_longest_limit_is_that_of_the_whole_log(tmp_path: Path) -> None:
    """Whichever jobs are replayed: the users of the machine knew it."""
    jobs = [(0, 600, 2, "UNLIMITED", ""), (10, 600, 4, "60", ""), (20, 60, 1, "300", "")]
    log = harness.read_workload(dump(tmp_path / "jobs.txt", jobs))
    assert harness.prepare(log, jobs=2).jobs["estimate"].tolist() == [18000.0, 3600.0]


def test_a_log_without_any_limit_has_its_longest_runtime(tmp_path: Path) -> None:
    jobs = [(0, 600, 2, "UNLIMITED", ""), (10, 7000, 4, "Partition_Limit", ""), (20, 60, 1, "UNLIMITED", "")]
    workload = harness.prepare(harness.read_workload(dump(tmp_path / "jobs.txt", jobs)))
    assert workload.jobs["estimate"].tolist() == [7000.0] * 3
    (step,) = [step for step in workload.preparation if step.name == "no limit"]
    assert (step.jobs, step.detail) == (3, "UNLIMITED or Partition_Limit: the longest runtime of the log, 7000 s")


def test_an_unknown_limit_stays_unknown(tmp_path: Path) -> None:
    """An empty cell says nothing of the limit; that estimate is the runtime, as the preparation states."""
    jobs = [(0, 600, 2, "", ""), (10, 600, 4, "60", "")]
    workload = harness.prepare(harness.read_workload(dump(tmp_path / "jobs.txt", jobs)))
    assert workload.jobs["estimate"].tolist() == [600.0, 3600.0]
    assert [step.jobs for step in workload.preparation if step.name in ("estimates", "no limit")] == [1]


def test_actual_estimates_are_runtimes_as_asked(tmp_path: Path) -> None:
    log = harness.read_workload(example(tmp_path, "UNLIMITED"))
    assert harness.prepare(log, estimates="actual").jobs["estimate"].tolist() == [600.0, 600.0, 3600.0]


@pytest.mark.parametrize(
    ("partition", "unlimited", "of_the_partition"),
    [("day", 86400, 86400), ("short", 7200, 5400), ("open", 365 * 86400, 365 * 86400)],
)
def test_a_partition_has_the_limit(
    tmp_path: Path, conf: Path, partition: str, unlimited: float, of_the_partition: float
) -> None:
    jobs = [(0, 600, 2, "UNLIMITED", partition), (1, 600, 2, "Partition_Limit", partition), (2, 60, 1, "30", partition)]
    log = harness.read_workload(dump(tmp_path / "jobs.txt", jobs))
    found = requests_of(harness.prepare(log), said_of(log), read_slurm_scheduler(str(conf)).cluster)
    assert [one.limit for one in found] == [unlimited, of_the_partition, 1800]


@pytest.mark.parametrize("words", [["run", "--slurm"], ["compare"]])
def test_the_preparation_states_whose_limit_it_is(tmp_path: Path, conf: Path, words: list[str]) -> None:
    jobs = str(example(tmp_path, "UNLIMITED"))
    given = [words[0], jobs, words[1], str(conf)] if len(words) > 1 else [words[0], jobs, str(conf), "fcfs + easy"]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0, found.output
    assert re.search(r"no limit: 1 .*MaxTime of the partition", " ".join(found.output.split()))
    assert "the longest limit of the log" not in found.output
