"""`harness check`: what is printed, in which format, with which exit status, and what an interruption leaves."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from calling import Answer, Call
from shared.gates import FIRST_COME, LAST_COME, Bench

from harness.gate.comparison import ComparedRun, MeasureChange
from harness.gate.verdict import Verdict, as_github, as_json, as_text
from harness.results.measures import Measure


@pytest.fixture
def check(harness_says: Call, bench: Bench) -> Call:
    """Call `harness check` with the plugin."""

    def check(*arguments: str | Path) -> Answer:
        return harness_says("check", bench.baseline, "--plugins", bench.plugin, *arguments)  # type: ignore[no-any-return]

    return check


def test_from_the_first_baseline_to_the_next(check: Call, bench: Bench) -> None:
    answer = check("--field", bench.field, "--update")
    assert answer.status == 0, answer.err
    assert "written, with 8 runs" in answer.out
    assert f"written: {bench.baseline} and {bench.folder / 'gate.starts.zip'}" in answer.err
    assert "8 of 8 runs" in answer.err
    assert sorted(path.name for path in bench.folder.iterdir() if path.is_file()) == [
        "gate.json",
        "gate.starts.zip",
        "gate.toml",
        "mine.py",
    ]

    answer = check()
    assert (answer.status, answer.out) == (0, f"{bench.baseline}: 8 runs: 8 the same\n")

    bench.decide(LAST_COME)
    answer = check()
    assert answer.status == 1
    assert "4 worse, 4 the same" in answer.out
    assert "the policy mine (order_queue) has changed" in answer.out
    assert "The first to differ is job" in answer.out

    assert check("--update").status == 1
    assert check("--update").status == 0
    bench.decide(FIRST_COME)
    assert check("--tolerance", "mean_wait=1").status in (0, 1)


def test_json_is_all_there_is_on_stdout(check: Call, made: Bench) -> None:
    made.decide(LAST_COME)
    answer = check("--format", "json")
    content = json.loads(answer.out)
    assert answer.status == content["status"] == 1
    assert content["runs"] == {"worse": 4, "same": 4}
    assert len(content["moved"]) == 4
    assert all(run["first_difference"]["decision"]["queue"] for run in content["moved"])


def test_github_gets_a_table_and_details(check: Call, made: Bench) -> None:
    made.decide(LAST_COME)
    answer = check("--format", "github")
    assert answer.status == 1
    lines = answer.out.splitlines()
    assert lines[0] == "### gate.json: 8 runs: 4 worse, 4 the same"
    assert sum(line.startswith("<details><summary>") for line in lines) == 4
    for k, line in enumerate(lines):  # what is not set apart from a tag is taken as it stands
        if line.startswith("<details>"):
            assert lines[k + 1] == ""
        if line == "</details>":
            assert lines[k - 1] == ""


def test_github_shows_names_as_they_are() -> None:
    wild = "a|b <script> `c` @team *x*"
    measure = Measure("odd_one", "a|b", "less", "", lambda schedule: 0.0)
    run = ComparedRun((wild, wild, 0, 0, ()), wild, moves=(MeasureChange(measure, 1.0, 2.0),), rescheduled=True)
    text = as_github(Verdict(Path("gate.json"), (run,), (wild,)))
    assert not re.search(r"(?<!\\)<script>", text)
    assert "@team" not in text
    assert not re.search(r"(?<!\\)`c", text.split("<summary>")[0])
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") in (5, 7), line  # tables of four columns, and of six
    assert json.loads(as_json(Verdict(Path("gate.json"), (run,), (wild,))))["moved"][0]["workload"] == wild


def test_details_of_many_runs_are_left_to_the_command() -> None:
    runs = tuple(ComparedRun((f"w{k}", "p", 0, 0, ()), "x", rescheduled=True) for k in range(50))
    verdict = Verdict(Path("gate.json"), runs)
    assert as_github(verdict).count("<details>") == 10
    assert "`harness check` shows the details of all 50 runs." in as_github(verdict)
    assert as_text(verdict).count("No measure moved.") == 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "githab"], "did you mean 'github'?"),
        (["--tolerance", "mean_wait"], "expected SHARE or MEASURE=SHARE"),
        (["--tolerance", "-5%"], "expected a relative difference"),
        (["--measures", "mean_wat"], "did you mean 'mean_wait'?"),
        (["--tolerance", "mean_wat=0.1"], "did you mean 'mean_wait'?"),
        (["--tolerance", "mean_wait=-1"], "expected a relative difference"),
        (["--tolerance", "nan"], "--tolerance nan: that is nan %; expected at most 100%"),
        (["--tolerance", "5"], "--tolerance 5: that is 500 %; expected at most 100%, such as 5% or 0.05"),
        (["--tolerance", "mean_wait=1.5"], "that is 150 %; expected at most 100%"),
        (["--tolerance", "500%"], "that is 500 %; expected at most 100%"),
        (["--scheduler-name", "ours"], "--scheduler-name is about schedules made elsewhere: expected --schedule FILE"),
        (["--starts-only"], "--starts-only is about schedules made elsewhere: expected --schedule FILE"),
        (["--field", "demo"], "expected update (--update)"),
        (["--field", "nowhere", "--update"], "no such field"),
    ],
)
def test_what_cannot_be_is_one_sentence(check: Call, made: Bench, arguments: list[str], words: str) -> None:
    answer = check(*arguments)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err.splitlines()[-1]


def test_a_baseline_that_is_not_there_says_how_to_make_one(check: Call, bench: Bench) -> None:
    answer = check()
    assert (answer.status, answer.out) == (2, "")
    assert f"harness check {bench.baseline} --field FIELD --update makes one" in answer.err


def test_what_cannot_be_compared_is_status_two(check: Call, made: Bench) -> None:
    made.edit(r'("poisson\(.*": )"\w+"', r'\1"abc"')
    answer = check()
    assert answer.status == 2
    assert "4 could not be compared, 4 the same" in answer.out


@pytest.mark.slow
def test_an_interruption_leaves_all_as_it_was(made: Bench) -> None:
    """The policy takes 1 ms whenever it is asked, and is asked about everybody at every event: it would take hours."""
    called = made.folder / "called"
    made.decide(f"open({str(called)!r}, 'w').close() or time.sleep(0.001) or job.submit")
    made.plugin.write_text(made.plugin.read_text().replace("compiled=False", "compiled=False, varies=True"))
    made.edit(r'poisson\(jobs=60, procs=8, seed=2, load=0.9\)"\n', 'poisson(jobs=5000, procs=8, load=3)"\n')
    before = {path.name: path.read_bytes() for path in made.folder.iterdir() if path.is_file()}
    command = [sys.executable, "-m", "harness", "check", made.baseline, "--plugins", made.plugin, "--update"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not called.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert out == ""
    assert "harness: interrupted" in err
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in made.folder.iterdir() if path.is_file()} == before | {
        "called": b""
    }
