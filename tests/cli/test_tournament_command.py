"""`harness tournament`: what comes back, where it is kept, and what is said when something goes wrong."""

import json
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from calling import Call

import harness
from harness.experiment.example_dump import write_example_dump
from harness.report.page import tournament_page

FIELD = """
about = "A test."
workloads = ["lublin(jobs=60, procs=16, seed=1)", "lublin(jobs=60, procs=16, seed=2)"]

[[scheduler]]
order = ["fcfs", "spf"]
start = ["none", "easy"]
"""

FAILING = """
import harness

def failing(job, clock):
    raise LookupError("not today")

@harness.hookimpl
def order_queue():
    return [harness.Order("failing", failing, compiled=False)]
"""


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small field, and a working directory of one's own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(FIELD)
    return path


def runs_in(folder: Path) -> int:
    database = sqlite3.connect(folder / "store.sqlite")
    (count,) = database.execute("SELECT count(*) FROM runs WHERE status = 'done'").fetchone()
    database.close()
    return int(count)


def test_what_is_suggested_finds_the_same_results_by_another_measure(harness_says: Call, tmp_path: Path) -> None:
    write_example_dump(tmp_path / "sacct.txt", jobs=100)
    field = tmp_path / "mine.toml"
    scheduler = '[[scheduler]]\norder = ["fcfs", "spf"]\nstart = "easy"\n'
    field.write_text(f'workloads = ["{tmp_path}/sacct.txt"]\nplatforms = ["128"]\n\n{scheduler}')
    out = tmp_path / "out"
    answer = harness_says("tournament", field, "--out", out, "--resample", "1", "--jobs", "80", "--by", "mean_wait")
    assert f"{field} --out {out} --jobs 80 --resample 1 --by max_wait" in answer.out
    again = harness_says("tournament", field, "--out", out, "--jobs=80", "--resample=1", "--by", "max_wait")
    assert "nothing to run" in again.err
    assert "all 4 runs were done before" in again.err


def test_a_tournament_ends_with_a_leaderboard_and_what_to_try_next(harness_says: Call, field: Path) -> None:
    answer = harness_says("tournament", field)
    assert answer.status == 0, answer.err
    assert "spf + easy" in answer.out
    assert f"harness tournament {field} --by mean_wait" in answer.out
    assert "harness report tournaments/small" in answer.out
    assert "results go to tournaments/small" in answer.err
    assert "8 of 8 runs" in answer.err
    assert runs_in(Path("tournaments/small")) == 8
    assert len(harness.Results("tournaments/small").frame()) == 8
    (tip,) = [line for line in answer.out.splitlines() if "python -c" in line]
    _, _, program, *_ = shlex.split(tip)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "[8 rows" in ran.stdout


def test_the_same_command_repeats_nothing(harness_says: Call, field: Path) -> None:
    first = harness_says("tournament", field, "--out", "here", "--workers", "1")
    again = harness_says("tournament", field, "--out", "here", "--workers", "2")
    assert again.out == first.out
    assert "nothing to run" in again.err
    assert "all 8 runs were done before" in again.err
    assert "--out here" in again.out


def test_variations_may_be_the_observations(harness_says: Call, field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "resample", lambda workload, number: workload)
    for unit, count in (("workload", 2), ("variation", 6)):
        answer = harness_says("tournament", field, "--resample", 2, "--unit", unit, "--format", "json")
        assert answer.status == 0, answer.err
        found = json.loads(answer.out)
        assert (found["unit"], found["units"]) == (unit, count)


def test_json_is_all_there_is_on_stdout(harness_says: Call, field: Path) -> None:
    answer = harness_says("tournament", field, "--format", "json", "--by", "mean_wait")
    assert answer.status == 0, answer.err
    assert "mean_wait" in json.dumps(json.loads(answer.out))


def test_a_dry_run_says_how_much_there_is_and_leaves_nothing(harness_says: Call, field: Path) -> None:
    answer = harness_says("tournament", field, "--dry-run", "--workers", "3")
    assert answer.status == 0, answer.err
    assert "small: 8 runs, 480 jobs; expected time about 1 s on 3 threads" in answer.out
    assert [path.name for path in field.parent.iterdir()] == [field.name]


def test_schedules_are_kept_on_request(harness_says: Call, field: Path) -> None:
    answer = harness_says("tournament", field, "--out", "here", "--keep-schedules")
    assert answer.status == 0
    assert "not kept" not in answer.err
    assert len(list(Path("here/schedules").glob("*.parquet"))) == 8
    harness_says("tournament", field, "--out", "there")
    answer = harness_says("tournament", field, "--out", "there", "--keep-schedules")
    assert "the schedules of 8 runs are not kept" in answer.err


def test_what_failed_is_said_and_the_rest_is_ranked(harness_says: Call, field: Path) -> None:
    Path("mine.py").write_text(FAILING)
    field.write_text(FIELD.replace('"spf"]', '"failing"]'))
    answer = harness_says("tournament", field, "--plugins", "mine.py")
    assert answer.status == 1
    assert "fcfs + easy" in answer.out
    assert "4 of 8 runs failed; first failing + none on lublin" in answer.err
    assert "LookupError: not today" in answer.err
    assert "Traceback" not in answer.err
    field.write_text(FIELD.replace('["fcfs", "spf"]', '"failing"'))
    answer = harness_says("tournament", field, "--plugins", "mine.py", "--out", "all")
    assert (answer.status, answer.out) == (1, "")
    assert "4 of 4 runs failed" in answer.err


def test_interrupting_says_how_to_go_on(harness_says: Call, field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.experiment.runner.tournament", interrupted)
    answer = harness_says("tournament", field)
    assert answer.status == 130
    assert "kept in tournaments/small; the same command continues" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clasic"], "did you mean 'classic'?"),
        (["small.toml", "--by", "meanwait"], "there is no measure 'meanwait'; did you mean 'mean_wait'?"),
        (["small.toml", "--format", "jsn"], "did you mean 'json'?"),
        (["small.toml", "--workers", "0"], "--workers"),
        (["small.toml", "--unit", "variatio"], "there is no unit 'variatio'; did you mean 'variation'?"),
        (["small.toml", "--out", "small.toml"], "cannot be made"),
        (["small.toml", "--dask", "nowhere"], "nowhere"),
        (["wrong.toml"], "wrong.toml, line 2: there is no key 'schedulr'; did you mean 'scheduler'?"),
    ],
)
def test_mistakes_are_one_sentence(
    harness_says: Call, field: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    Path("wrong.toml").write_text('workloads = "lublin"\n[[schedulr]]\n')
    if "--dask" in arguments:
        pytest.importorskip("distributed")
        monkeypatch.setattr("harness.experiment.on_dask.PATIENCE", "1s")
    answer = harness_says("tournament", *arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_the_fields_are_listed(harness_says: Call) -> None:
    rows = json.loads(harness_says("list", "fields", "--format", "json").out)
    assert {"classic", "backfilling", "energy", "demo"} <= {row["name"] for row in rows}
    assert all(row["about"] for row in rows)


def test_what_cannot_run_is_listed_once_and_the_rest_is_ranked(harness_says: Call, tmp_path: Path) -> None:
    field = tmp_path / "partly.toml"
    field.write_text(
        'workloads = "lublin(jobs=20, procs=16)"\nplatforms = [16, "synthetic-11"]\n'
        '[[scheduler]]\norder = ["fcfs", "spf", "lpf", "saf"]\nsleep = ["never", "timeout(idle=60)"]\n'
    )
    answer = harness_says("tournament", field, "--out", tmp_path / "out", "--workers", "1")
    assert answer.status == 0, answer.err
    assert " ".join(answer.out.split()).count("Combinations that cannot run") == 1
    assert answer.out.count("lacks: expected") == 1
    assert "Left out" not in answer.out
    for where in ("the platforms that all schedulers share (synthetic-11)", "16 processors"):
        assert f"On {where}:" in answer.out
    found = harness.Results(tmp_path / "out")
    assert len(found.frame()) == 4 + 8
    refused = found.refused()
    assert set(refused["platform"]) == {"16 processors"}
    assert set(refused["scheduler"]) < set(found.frame()["scheduler"])
    answer = harness_says("tournament", field, "--out", tmp_path / "out", "--workers", "1", "--format", "csv")
    assert answer.out.splitlines()[0].startswith("where,rank,scheduler")
    assert answer.err.count("lacks: expected") == 1
    assert harness_says("report", tmp_path / "out").status == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Combinations that cannot run" in page
    assert "Not every scheduler ran on every platform" in page


def test_a_plugin_that_falsifies_results_is_kept_apart(
    harness_says: Call, field: Path, tmp_path: Path, children_not_compiled: None
) -> None:
    """The command imports no plugin itself with --isolate; the command that is suggested next repeats the options."""
    lying = tmp_path / "lying.py"
    lying.write_text(
        "from harness.results.schedule import Schedule\n"
        "Schedule.measures = lambda self, extra=(): {'mean_wait': 0.0, 'mean_bounded_slowdown': 1.0}\n"
        + FAILING.replace("raise LookupError('not today')", "return -job.submit")
        .replace('raise LookupError("not today")', "return -job.submit")
        .replace("failing", "lying")
    )
    field.write_text(FIELD.replace('"spf"', '"lying"'))
    plain = tmp_path / "plain.toml"
    plain.write_text(FIELD.replace(', "spf"', ""))
    assert harness_says("tournament", plain, "--out", "plain").status == 0
    answer = harness_says("tournament", field, "--out", "out", "--plugins", lying, "--isolate", "--limit", "10min")
    assert answer.status == 0, answer.err
    assert f"harness tournament {field} --out out --limit 10min --isolate --plugins {lying}" in answer.out
    frame = harness.Results("out").frame().set_index("order")
    honest = harness.Results("plain").frame().set_index("order")
    ours = frame.loc["fcfs"].drop(columns=["seconds", "scheduler"])
    assert ours.equals(honest.loc["fcfs"].drop(columns=["seconds", "scheduler"]))
    assert (frame.loc["lying", "mean_wait"] > 0).all()
    assert (frame.loc["lying", "plugins"].str.startswith("lying.py ")).all()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--limit", "soon"), "limit 'soon': expected a time above 0, such as 60s, 5min or 2h"),
        (("--limit", "60s", "--dask", "tcp://127.0.0.1:1"), "--dask with --isolate or --limit"),
        (("--isolate", "--dask", "tcp://127.0.0.1:1"), "--dask with --isolate or --limit"),
        (("--isolate", "--dry-run"), "--isolate with --dry-run"),
    ],
)
def test_limits_and_isolation_that_cannot_be_are_refused(
    harness_says: Call, field: Path, options: tuple[str, ...], why: str
) -> None:
    answer = harness_says("tournament", field, *options)
    assert (answer.status, answer.err.count("Traceback")) == (2, 0)
    assert why in answer.err
    assert not Path("tournaments").exists()


def test_a_cap_that_runs_do_not_keep_is_reported_once_with_their_number(harness_says: Call, tmp_path: Path) -> None:
    field = tmp_path / "capped.toml"
    field.write_text(
        'workloads = ["lublin(jobs=60, procs=80, seed=1)", "lublin(jobs=60, procs=80, seed=2)"]\n'
        'platforms = ["service-rate-80"]\n[[scheduler]]\norder = ["fcfs", "spf"]\nstart = "easy"\n'
        'rate = ["powercap(watts=1500)", "powercap(watts=1e9)"]\nenergy = "cores"\n'
    )
    told = harness_says("tournament", field, "--out", tmp_path / "out").err
    assert told.count("the policy 'powercap(watts=1500)' does not keep its cap: the platform draws up to") == 1
    assert told.count("the policy 'powercap(watts=1500)' does not keep its cap in 4 runs\n") == 1
    assert told.count("does not keep its cap") == 2


@pytest.mark.parametrize(
    ("workload", "platforms", "known"),
    [
        ('"{}"', "[4, 8]", 0),  # any of them may be the log's machine
        ('"{}"', "[4]", 2),
        ('"{}"', '[4, "four.toml"]', 4),
        ('{{source = "{}", procs = 4}}', "[4, 8]", 2),
        ('{{source = "{}", procs = 16}}', "[4, 8]", 0),
    ],
)
def test_adequacy_of_a_log_that_does_not_name_its_machine(
    harness_says: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: str, platforms: str, known: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("four.toml").write_text("[[nodes]]\ncount = 2\ncores = 2\n")
    log, field, out = (tmp_path / name for name in ("jobs.csv", "field.toml", "out"))
    log.write_text("submit,wait,run,procs\n0,0,50,4\n1,49,5,2\n2,50,5,2\n")
    scheduler = '[[scheduler]]\norder = ["fcfs", "lcfs"]\nstart = "easy"\n'
    field.write_text(f"workloads = [{workload.format(log)}]\nplatforms = {platforms}\n{scheduler}")
    told = harness_says("tournament", field, "--out", out)
    assert told.status == 0, told.err
    assert harness.Results(out).frame()[["adequacy", "skill"]].notna().sum().tolist() == [known, known]
    notice = "adequacy is left out: jobs does not state the size of its machine, and the field has platforms of 2 sizes"
    left_out = workload == '"{}"' and not known
    assert told.out.count(notice) == left_out
    pytest.importorskip("plotly")
    warnings = tournament_page(harness.Results(out)).warnings
    assert [one.startswith(notice.capitalize()) for one in warnings] == [True] * left_out
