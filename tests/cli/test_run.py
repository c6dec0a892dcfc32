"""`harness run` and `harness list`: what they print, where, and in which shape."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from calling import HEADER, Call, swf_line
from numba.core import config

import harness
from harness.present.tables import FORMATS
from harness.results import run_summary
from harness.results.measures import MEASURES

GENERATED = "lublin(jobs=50, procs=32, seed=3)"
KINDS = ("orders", "starts", "selections", "rates", "sleeps", "energies", "workloads", "platforms", "measures")


def test_the_table_says_what_was_replayed_and_how_it_was_prepared(harness_says: Call, log: Path) -> None:
    answer = harness_says("run", log)
    assert answer.status == 0
    assert answer.err == ""
    assert "12 jobs on 4 processors" in answer.out
    assert "order fcfs, start easy" in answer.out
    assert "preparation:" in answer.out
    assert "mean_wait" in answer.out


def test_the_table_names_the_predictor_and_when_starts_are_decided(harness_says: Call, log: Path) -> None:
    answer = harness_says(
        "run",
        log,
        "--predict",
        "recent(n=1)",
        *("--event-semantics", "per-event", "--backfill-interval", "60", "--backfill-depth", "9"),
    )
    assert answer.status == 0
    assert (
        "predict recent(n=1), hold none, seed 0, a decision after each event, submissions before completions, "
        "backfill interval 60, backfill depth 9\n" in answer.out
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--backfill-interval", "1e-9"), "backfill_interval = 1e-09: expected seconds, at least 0.01, as in 60"),
        (("--backfill-interval", "60", "--backfill-depth", "0"), "backfill_depth = 0: expected a whole number of jobs"),
        (("--plan-horizon", "60"), "plan_horizon = 60.0: expected a backfill_interval too"),
    ],
)
def test_impossible_timings_are_refused(harness_says: Call, log: Path, given: tuple[str, ...], message: str) -> None:
    answer = harness_says("run", log, *given)
    assert answer.status == 2
    assert message in " ".join(answer.err.split())


def test_without_a_workload_it_runs_on_generated_jobs(harness_says: Call) -> None:
    answer = harness_says("run", "--jobs", "100")
    assert answer.status == 0
    assert answer.out.startswith("lublin(")


@pytest.mark.parametrize("options", [(), ("--order", "wfp3(power=2)", "--start", "easy(reservations=2)")])
def test_json_is_one_object_and_nothing_else(harness_says: Call, options: tuple[str, ...]) -> None:
    answer = harness_says("run", GENERATED, "--format", "json", *options)
    assert answer.status == 0
    summary = json.loads(answer.out)
    assert set(summary) == {*("workload", "platform", "scheduler", "parameters", "preparation", "measures", "seconds")}
    assert summary["measures"].keys() >= MEASURES.keys()
    assert summary["measures"]["accepted"] == 50
    assert summary["seconds"] >= 0
    if options:
        assert summary["scheduler"]["order"] == "wfp3(power=2)"
        assert summary["scheduler"]["start"] == "easy(reservations=2)"


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_shows_every_measure(harness_says: Call, format: str) -> None:
    answer = harness_says("run", GENERATED, "--format", format, "--measures", "all")
    assert answer.status == 0
    assert [
        name for name in MEASURES if name.replace("_", "") not in answer.out.replace("_", "").replace("\\", "")
    ] == []


def test_people_are_shown_what_says_something_in_their_units(harness_says: Call) -> None:
    answer = harness_says("run", GENERATED)
    first, _, table = answer.out.partition("\n\n")
    assert re.search(r"on \d+ processors under fcfs \+ easy: .* of 50 jobs did not wait", first)
    rows = [line.split()[:3] for line in table.partition("\n\n")[0].splitlines()[2:] if not line.startswith(" ")]
    assert 3 < len(rows) <= run_summary.MOST
    assert {unit for name, _, unit in rows if name.endswith("_wait")} <= {"s", "min", "h", "d"}
    assert ["utilisation", "%"] in [[name, unit] for name, _, unit in rows]
    assert "–" not in table.partition("\n\n")[0]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("mean_wait", ["mean_wait"]),
        ("max_wait,mean_wait", ["max_wait", "mean_wait"]),
        ("log", ["adequacy", "skill"]),
        ("mean_jobs, log", ["mean_jobs", "adequacy", "skill"]),
    ],
)
def test_measures_are_chosen_by_name_and_group(harness_says: Call, asked: str, shown: list[str]) -> None:
    answer = harness_says("run", GENERATED, "--measures", asked, "--format", "json")
    assert list(json.loads(answer.out)["measures"]) == shown


def test_a_measure_that_does_not_exist_is_refused(harness_says: Call) -> None:
    answer = harness_says("run", GENERATED, "--measures", "mean_weight")
    assert answer.status == 2
    assert answer.err.strip() == "harness: --measures mean_weight: did you mean 'mean_wait'?"


def test_the_schedule_as_csv_has_the_columns_that_were_promised(harness_says: Call, log: Path, tmp_path: Path) -> None:
    answer = harness_says("run", log, "--schedule", tmp_path / "out.csv")
    assert answer.status == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].split(",")[:9] == ["job", "submit", "start", "end", "procs", "wait", "run", "energy", "status"]
    assert lines[1].split(",")[:7] == ["1", "1", "1", "11", "2", "0", "10"]
    assert len(lines) == 13


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".swf", ".swf.gz"])
def test_every_kind_of_schedule_file_holds_every_job(
    harness_says: Call, log: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    assert harness_says("run", log, "--schedule", out).status == 0
    if suffix == ".csv":
        jobs = len(pd.read_csv(out))
    elif suffix == ".parquet":
        jobs = len(pd.read_parquet(out))
    else:
        jobs = len(harness.read_swf(out).jobs)
    assert jobs == 12


def test_a_job_wider_than_the_machine_is_counted_and_listed(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "wide.swf"
    log.write_text(HEADER + swf_line(1) + swf_line(2, procs=5) + swf_line(3))
    answer = harness_says("run", log, "--format", "json", "--schedule", tmp_path / "out.csv")
    assert answer.status == 0
    measures = json.loads(answer.out)["measures"]
    assert (measures["accepted"], measures["unaccepted"]) == (2, 1)
    rows = pd.read_csv(tmp_path / "out.csv")
    assert rows.loc[rows["status"] == "unaccepted", "job"].tolist() == [2]


def test_jobs_that_are_all_too_wide_leave_no_averages(harness_says: Call, tmp_path: Path) -> None:
    log = tmp_path / "wide.swf"
    log.write_text(HEADER + swf_line(1, procs=5) + swf_line(2, procs=6))
    answer = harness_says("run", log, "--format", "json")
    assert answer.status == 0
    assert answer.err == ""
    measures = json.loads(answer.out)["measures"]
    assert (measures["accepted"], measures["unaccepted"]) == (0, 2)
    assert measures["mean_wait"] is None
    assert harness_says("run", log).status == 0


def test_the_platform_decides_over_the_log(harness_says: Call, log: Path) -> None:
    by_count = json.loads(harness_says("run", log, "--procs", "8", "--format", "json").out)
    assert by_count["platform"]["procs"] == 8
    by_name = json.loads(harness_says("run", log, "--platform", "peas-table2", "--format", "json").out)
    assert by_name["platform"]["procs"] == 68
    assert by_name["measures"]["energy"] > 0


def test_a_plugin_file_is_used_at_once(harness_says: Call, log: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "youngest.py"
    plugin.write_text(
        "import harness\n\ndef youngest(job, clock, factor=1.0):\n    return -factor * job.submit\n\n"
        "@harness.hookimpl\ndef order_queue():\n    return [harness.Order('youngest', youngest)]\n"
    )
    answer = harness_says("run", log, "--plugins", plugin, "--order", "youngest(factor=2)", "--format", "json")
    assert answer.status == 0, answer.err
    as_lcfs = json.loads(harness_says("run", log, "--order", "lcfs", "--format", "json").out)
    assert json.loads(answer.out)["measures"] == as_lcfs["measures"]
    assert "youngest" in harness_says("list", "orders", "--plugins", plugin).out


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="all policies run as plain Python then")
def test_a_plugin_that_needs_python_still_runs_and_says_so_once(harness_says: Call, log: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "wordy.py"
    plugin.write_text(
        "import harness\n\ndef wordy(job, clock):\n    return float(f'{job.submit:.3f}')\n\n"
        "@harness.hookimpl\ndef order_queue():\n    return [harness.Order('wordy', wordy)]\n"
    )
    answer = harness_says("run", log, "--plugins", plugin, "--order", "wordy")
    assert answer.status == 0
    [line] = answer.err.splitlines()
    assert line.startswith("harness: ")
    assert "'wordy'" in line
    assert "plain Python" in line


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed(harness_says: Call, kind: str) -> None:
    answer = harness_says("list", kind)
    assert answer.status == 0
    assert answer.err == ""
    assert len(answer.out.splitlines()) > 2


def test_queues_of_their_own_come_from_a_file(harness_says: Call, log: Path, tmp_path: Path) -> None:
    file = tmp_path / "queues.toml"
    file.write_text('[long]\nqueue = [1, 2]\norder = "spf"\nstart = "none"\n')
    out = harness_says("run", log, "--queues", file, "--format", "json").out
    written = "easy + long(queue=[1, 2], order=spf, start=none)"
    assert json.loads(out)["scheduler"]["start"] == written
    again = harness_says("run", log, "--start", written, "--format", "json").out
    assert json.loads(again)["measures"] == json.loads(out)["measures"]
    file.write_text('[long]\norder = "spf"\n')
    refused = harness_says("run", log, "--queues", file)
    assert refused.status == 2
    assert f"{file}, queue 'long': the queue has no condition" in refused.err


def test_the_whole_list_holds_every_kind(harness_says: Call) -> None:
    out = harness_says("list").out.splitlines()
    assert [kind for kind in KINDS if kind not in out] == []


def test_every_policy_that_is_listed_says_what_it_does(harness_says: Call) -> None:
    for kind in KINDS[:6]:
        for line in harness_says("list", kind, "--format", "csv").out.splitlines()[1:]:
            assert len(line.split(",", 2)[2]) > 10, line


def test_the_command_itself(log: Path) -> None:
    """In a process of its own, by both of its names."""
    commands = [[sys.executable, "-m", "harness"], [str(Path(sys.executable).with_name("harness"))]]
    for command in commands:
        if not Path(command[0]).exists():
            continue
        done = subprocess.run([*command, "run", log, "--format", "json"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["measures"]["accepted"] == 12


def test_a_reader_that_goes_away_is_no_error(log: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m harness list | head -1 >/dev/null; exit 0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr


def test_the_command_says_who_was_rejected(harness_says, tmp_path):
    plugin = tmp_path / "choosy.py"
    plugin.write_text(
        "import harness\n\n\ndef choosy(state):\n    for job in harness.waiting(state):\n"
        "        if state.jobs[job].procs > 4:\n            harness.reject(state, job)\n"
        "        elif harness.fits(state, job):\n            harness.start(state, job)\n\n\n@harness.hookimpl\n"
        "def start_jobs():\n    return [harness.Start('choosy', choosy, rejects=True, compiled=False)]\n"
    )
    answer = harness_says("run", "lublin(jobs=60, procs=16, seed=1)", "--plugins", str(plugin), "--start", "choosy")
    assert "rejected by choosy: jobs" in answer.out


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="it times what is compiled: minutes without")
def test_the_benchmark_runs_and_finds_the_same_schedules(harness_says: Call) -> None:
    """It is a script that imports those beside it while it runs."""
    answer = harness_says("bench", "--jobs", "1000")
    assert answer.status == 0
    assert answer.out.count(" yes\n") >= 2
    assert " no\n" not in answer.out


@pytest.mark.parametrize("format", ["table", "json"])
def test_requests_that_the_platform_does_not_have_are_reported(harness_says: Call, tmp_path: Path, format: str) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("submit,run,wait,procs,estimate,user,needs_gpu\n" + "0,50,0,8,90,1,2\n1,5,49,2,9,1,-1\n" * 2)
    said = "ignored: 2 jobs request gpu, which the platform '8 processors' does not have: expected --platform FILE.toml"
    asked = [("run", log), ("adequacy", log, "--repetitions", "0"), ("compare", log, "fcfs + easy", "spf + easy")]
    for command in (*asked, ("forecast", log, "--at", "2", "--repetitions", "2")):
        answer = harness_says(*command, "--procs", "8", "--format", format)
        assert answer.out.count(said) == 1, (command, answer)
    assert "ignored: 2" not in harness_says("run", log, "--procs", "8", "--resources", "ignored").out


def test_a_field_reports_requests_that_its_platforms_do_not_have(harness_says: Call, tmp_path: Path) -> None:
    log, field, rich = (tmp_path / name for name in ("jobs.csv", "field.toml", "rich.toml"))
    log.write_text("submit,run,procs,needs_gpu\n0,5,1,2\n1,5,2,-1\n")
    rich.write_text("[[nodes]]\ncount = 8\ncores = 1\nresources = { gpu = 4 }\n")
    scheduler = '[[scheduler]]\norder = ["fcfs", "spf"]\nstart = "easy"\n'
    field.write_text(f'workloads = ["{log}"]\nplatforms = ["{rich}", 8, 16]\n{scheduler}')
    said = (
        "ignored: in jobs 1 job requests gpu, which 2 platforms of the field do not have ('8 processors', "
        "'16 processors'): expected platforms with resources or licences, or --slurm slurm.conf\n"
    )
    out = tmp_path / "out"
    assert harness_says("tournament", field, "--out", out).out.count(said) == 1
    again = harness_says("tournament", field, "--out", out, "--format", "json")
    assert (again.err.count(said), "ignored" in json.loads(again.out)) == (1, False)
