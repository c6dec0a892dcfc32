"""Tournaments: every run once, the same results whoever does them, and nothing lost when they are stopped."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from shared.small_fields import FIELD, SLEEPY, SLOW_FIELD, Write

import harness
from harness.errors import HarnessError
from harness.experiment.execution import Stopped, Task, execute
from harness.experiment.field_reading import read_field
from harness.experiment.pool import Progress
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.runner import tournament
from harness.experiment.store import schedule_path
from harness.results.measures import MEASURES

SHARED = ["workload", "platform", "variation", "seed", "scheduler", "order", "start", "select", "rate", "sleep"]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Two tournaments gave the same, but for the time they took."""
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True)


@pytest.fixture
def sleepy(tmp_path: Path) -> Path:
    path = tmp_path / "sleepy_plugin.py"
    path.write_text(SLEEPY)
    return path


def test_the_frame_has_what_was_promised(write: Write, tmp_path: Path) -> None:
    results = harness.tournament(write(), out=tmp_path / "out", workers=2)
    frame = results.frame()
    assert list(frame) == [
        *SHARED,
        *("energy_policy", "predict", "hold", "status", "error", "jobs", "seconds"),
        *(name for name in MEASURES if name != "jobs"),
        *("plugins", "schedule_digest", "identity"),
    ]


def test_workers_do_not_change_results(write: Write, tmp_path: Path, turned: None) -> None:
    field = write("resamples = 2\n" + FIELD)
    one = tournament(field, tmp_path / "one", workers=1).frame()
    three = tournament(field, tmp_path / "three", workers=3).frame()
    same(one, three)
    assert len(one) == 2 * 3 * 2 * 3
    assert (one["status"] == "done").all()
    assert set(one["variation"]) == {0, 1, 2}
    assert one["schedule_digest"].nunique() > 2 * 3 * 2


def test_a_run_is_what_simulate_gives(write: Write, tmp_path: Path) -> None:
    results = tournament(write(), tmp_path / "out", keep_schedules=True)
    for _, row in results.frame().iterrows():
        scheduler = harness.Scheduler(row["order"], row["start"], row["select"])
        schedule = harness.simulate(row["workload"], 16, scheduler, seed=row["seed"])
        assert row["schedule_digest"] == schedule.digest
        assert {name: float(row[name]) for name in ("mean_wait", "utilisation", "makespan")}.items() <= (
            schedule.measures().items()
        )
        pd.testing.assert_frame_equal(results.schedule(row["identity"]), schedule.frame)
    schedule_path(results.folder, row["identity"]).write_bytes(b"no schedule")
    with pytest.raises(HarnessError, match=r"\.parquet: cannot be read as Parquet"):
        results.schedule(row["identity"])


def test_what_is_there_is_not_repeated_and_what_is_new_is_added(write: Write, tmp_path: Path) -> None:
    seen: list[Progress] = []
    first = tournament(write(), tmp_path / "out", watch=seen.append).frame()
    assert (seen[0].found, seen[-1].done, seen[-1].runs) == (0, 12, 12)
    again = tournament(write(), tmp_path / "out", watch=seen.append).frame()
    assert (seen[-1].found, seen[-1].done) == (12, 0)
    pd.testing.assert_frame_equal(first, again)
    more = tournament(write(FIELD.replace("[0, 1]", "[0, 1, 2]")), tmp_path / "out", watch=seen.append).frame()
    assert (seen[-1].found, seen[-1].done) == (12, 6)
    assert len(more) == 18
    fewer = tournament(write(FIELD.replace("[0, 1]", "1")), tmp_path / "out", watch=seen.append)
    assert set(fewer.frame()["seed"]) == {1}  # the field that ran last, and no other
    assert seen[-1].done == 0


def test_a_failing_policy_is_recorded_and_the_rest_goes_on(write: Write, tmp_path: Path, sleepy: Path) -> None:
    field = write('workloads = "lublin(jobs=30, procs=16)"\n[[scheduler]]\norder = ["fcfs", "failing", "spf"]\n')
    frame = tournament(field, tmp_path / "out", plugins=[sleepy]).frame()
    assert frame["status"].tolist() == ["done", "failed", "done"]
    error = frame["error"][1]
    assert "LookupError: no seven" in error
    assert "'failing'" in error
    assert frame.loc[1, "mean_wait"] != frame.loc[1, "mean_wait"]
    seen: list[Progress] = []
    tournament(field, tmp_path / "out", plugins=[sleepy], watch=seen.append)
    assert (seen[-1].found, seen[-1].done) == (2, 1)  # tried again


def test_names_of_schedulers_say_what_varies_or_is_unusual(write: Write, tmp_path: Path) -> None:
    def names(text: str) -> list[str]:
        path = write(f'workloads = "lublin(jobs=5, procs=16)"\nplatforms = [16, "peas-table2"]\n{text}')
        frame = tournament(path, tmp_path / "out").frame()
        assert frame["energy_policy"].nunique() == 2  # which alone says nothing
        return sorted(set(frame["scheduler"]))

    assert names("[[scheduler]]\n") == ["fcfs + easy"]
    assert names('[[scheduler]]\norder = ["spf", "fcfs"]\n') == ["fcfs", "spf"]
    assert names('[[scheduler]]\norder = ["spf", "fcfs"]\nselect = "random"\n') == ["fcfs + random", "spf + random"]
    assert names('[[scheduler]]\nstart = "none"\nrate = "fixed(rate=0.5)"\n') == ["none + fixed(rate=0.5)"]


def test_what_made_the_results_is_kept(write: Write, tmp_path: Path) -> None:
    about = tournament(write(), tmp_path / "out", command="harness tournament field").about
    assert about["field"]["text"] == FIELD
    assert about["command"] == "harness tournament field"
    assert [workload["jobs"] for workload in about["workloads"]] == [200, 150]
    assert about["workloads"][0]["preparation"]
    assert about["platforms"] == [
        {"name": "16 processors", "digest": harness.plain(16).digest, "nodes": 16, "procs": 16, "windows": 0}
    ]
    assert about["versions"]["harness"] == harness.__version__
    assert about["machine"]["cores"] == os.cpu_count()


def test_numbers_out_of_range_are_refused(write: Write, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="workers = 0"):
        tournament(write(), tmp_path / "out", workers=0)
    with pytest.raises(HarnessError, match="resamples = -1"):
        tournament(write(), tmp_path / "out", resamples=-1)
    assert not (tmp_path / "out").exists()


def task(text: str, write: Write, **changes: object) -> tuple[Task, harness.Workload]:
    run = make_run_matrix(read_field(write(text))).runs[0]
    parts = {"versions": run.versions, **changes}
    return Task(run.variation, run.platform, run.scheduler, run.seed, (), **parts), run.workload  # type: ignore[arg-type]


def test_a_run_stops_when_it_is_told_to(write: Write) -> None:
    asked = iter([False, True])  # before it begins, and after the first slice
    long = 'workloads = "poisson(jobs=30000, procs=64, load=3)"\n[[scheduler]]\norder = "lpf"\nstart = "preempt"\n'
    with pytest.raises(Stopped):
        execute(*task(long, write), stop=lambda: next(asked))


def test_adequacy_is_known_where_the_log_has_waits(write: Write, tmp_path: Path) -> None:
    lines = [f"{k} {9 * k} {7 * k} 50 3 -1 -1 3 60 -1 1 {k % 3} -1 -1 -1 -1 -1 -1\n" for k in range(1, 30)]
    (log := tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + "".join(lines))
    (waitless := tmp_path / "waitless.swf").write_text("; MaxProcs: 4\n" + "".join(lines).replace(" 14 50 ", " -1 50 "))
    field = f"""
resamples = 1
workloads = ["{log}", "{waitless}", {{source = "{log}", load = 2.0, name = "crowded"}}]

[[scheduler]]
order = ["fcfs", "lcfs"]
"""
    frame = tournament(write(field), tmp_path / "out").frame()
    assert list(frame["status"]) == ["done"] * 12
    known = frame[frame["adequacy"].notna()]
    assert list(zip(known["workload"], known["variation"], strict=True)) == [("log", 0), ("log", 0)]
    for order, found in zip(known["order"], known["adequacy"], strict=True):
        schedule = harness.simulate(harness.prepare(harness.read_workload(str(log))), None, harness.Scheduler(order))
        assert found == harness.adequacy(schedule).P > 0


def test_adequacy_is_of_the_machine_of_the_log_alone(write: Write, tmp_path: Path) -> None:
    lines = [f"{k} {9 * k} {7 * k} 50 3 -1 -1 3 60 -1 1 {k % 3} -1 -1 -1 -1 -1 -1\n" for k in range(1, 30)]
    (log := tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + "".join(lines))
    field = f'workloads = "{log}"\nplatforms = ["log", 8, "synthetic-11"]\n[[scheduler]]\norder = ["fcfs", "lcfs"]\n'
    frame = tournament(write(field), tmp_path / "out").frame()
    assert set(frame[frame["adequacy"].notna()]["platform"]) == {"4 processors"}
    assert set(frame[frame["skill"].notna()]["platform"]) == {"4 processors"}
    assert frame["mean_wait"].notna().all()


def test_a_worker_of_another_version_is_found_out(write: Write) -> None:
    done = execute(*task(FIELD, write, versions={"engine": "another"}))
    assert done.error is not None
    assert "has another version of the harness" in done.error


# ---------------------------------------------------------------- processes that end before they are done

#: Many short lives of one tournament, each ended by kill -9 after a few runs, and one that is left alone.
LIVES = """
import os, random, signal, sqlite3, sys, time
from harness.experiment.runner import tournament
folder, field, plugin = sys.argv[1:]

def done():
    try:
        store = sqlite3.connect(f"file:{folder}/killed/store.sqlite?mode=ro", uri=True)
        return dict(store.execute("SELECT identity, finished FROM runs WHERE status = 'done'").fetchall())
    except sqlite3.OperationalError:
        return {}  # killed before there was a table

tournament(field, folder + "/whole", plugins=[plugin], workers=2)
dice, kills, finished = random.Random(1), 0, {}
while kills < 20:
    child = os.fork()
    if not child:
        tournament(field, folder + "/killed", plugins=[plugin], workers=2)
        os._exit(0)
    goal = len(finished) + dice.randint(0, 8)
    while len(done()) < goal:
        time.sleep(0.01)
    time.sleep(dice.uniform(0.0, 0.05))
    os.kill(child, signal.SIGKILL)
    kills += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    rows = done()
    assert finished.items() <= rows.items(), "something finished was lost, or done again"
    finished = rows
print(kills, len(finished))
tournament(field, folder + "/killed", plugins=[plugin], workers=2)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process that is quickly made needs fork")
def test_twenty_kills_lose_nothing(write: Write, tmp_path: Path, sleepy: Path) -> None:
    field = write(SLOW_FIELD.format(seeds=list(range(100)), pause=0.02))
    done = subprocess.run(
        [sys.executable, "-c", LIVES, tmp_path, field, sleepy], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    kills, finished = map(int, done.stdout.split())
    assert kills == 20
    assert 0 < finished < 200, "the kills came too late, or too early"
    same(harness.Results(tmp_path / "killed").frame(), harness.Results(tmp_path / "whole").frame())
    assert list((tmp_path / "killed" / "sessions").iterdir()) in ([], [tmp_path / "killed" / "sessions" / "making"])


ONE = """
import sys
from harness.experiment.runner import tournament
done = []
tournament(sys.argv[2], sys.argv[1], plugins=[sys.argv[3]], workers=2, watch=lambda p: done.append(p.done))
print(done[-1])
"""


@pytest.mark.slow
def test_two_processes_share_the_work(write: Write, tmp_path: Path, sleepy: Path) -> None:
    field = write(SLOW_FIELD.format(seeds=list(range(40)), pause=0.05))
    command = [sys.executable, "-c", ONE, tmp_path / "both", field, sleepy]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    done = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(done) == 80, "a run was done twice"
    same(
        harness.Results(tmp_path / "both").frame(),
        tournament(field, tmp_path / "alone", plugins=[sleepy], workers=4).frame(),
    )


HOLD = """
import sys, time
from harness.experiment.field_reading import read_field
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.runner import _about, _wanted
from harness.experiment.store import Store
plan = make_run_matrix(read_field(sys.argv[2]))
store = Store(sys.argv[1])
store.begin(_about(plan, "", "1 threads"), _wanted(plan))
assert all([store.claim(run.identity) for run in plan.runs[1:]])
print("claimed", flush=True)
time.sleep(600)
"""


def test_a_stopped_process_that_holds_claims_is_named(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the process, the machine, the number of runs, and how to go on; and that is done here."""
    field, said = write(FIELD.replace("200", "20").replace("150", "20")), list[str]()
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path / "out", field], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"claimed\n"
        process.send_signal(signal.SIGSTOP)

        def heard(message: str, **how: object) -> None:
            said.append(message)
            process.kill()

        monkeypatch.setattr("harness.experiment.runner.SILENCE", 0.0)
        monkeypatch.setattr("harness.experiment.runner.warnings.warn", heard)
        frame = tournament(field, tmp_path / "out", workers=1).frame()
    assert frame["status"].tolist() == ["done"] * 12
    (message,) = said
    assert message.startswith(f"waiting for 11 runs that process {process.pid} on {socket.gethostname()} has claimed")
    assert f"since {time.strftime('%Y-')}" in message
    assert f"kill -CONT {process.pid} continues it" in message
    assert f"kill -9 {process.pid}" in message


def test_two_tournaments_in_one_folder_at_once_keep_apart(write: Write, tmp_path: Path) -> None:
    one = write('workloads = "lublin(jobs=20, procs=8)"\n[[scheduler]]\norder = ["fcfs", "spf"]\n', "one")
    two = write('workloads = "lublin(jobs=30, procs=8)"\n[[scheduler]]\norder = ["lpf", "saf", "lcfs"]\n', "two")
    inner: list[harness.Results] = []

    def meanwhile(progress: Progress) -> None:
        if not inner:  # begun later, and over earlier
            inner.append(tournament(two, tmp_path / "out", workers=1))

    outer = tournament(one, tmp_path / "out", workers=1, watch=meanwhile)

    def shown(results: harness.Results) -> tuple[str, list[str]]:
        return results.about["field"]["name"], results.frame()["scheduler"].tolist()

    first, second = ("one", ["fcfs", "spf"]), ("two", ["lpf", "saf", "lcfs"])
    assert (shown(outer), shown(inner[0])) == (first, second)
    assert shown(harness.Results(tmp_path / "out")) == second  # was started last
    assert shown(harness.Results(tmp_path / "out", outer.session)) == first
    same = tournament(two, tmp_path / "out", workers=1)
    assert shown(harness.Results(tmp_path / "out", inner[0].session)) == shown(same) == second
    assert shown(harness.Results(tmp_path / "out", outer.session)) == first
    less = tournament(one, tmp_path / "out", workers=1, jobs=10)  # the same field of fewer jobs is another one
    assert set(less.frame()["jobs"]) == {10}
    assert set(harness.Results(tmp_path / "out", outer.session).frame()["jobs"]) == {20}
    with pytest.raises(HarnessError, match="there is no session 99; known: "):
        harness.Results(tmp_path / "out", 99)


def test_ctrl_c_stops_within_seconds_and_leaves_what_is_done(write: Write, tmp_path: Path, sleepy: Path) -> None:
    """Even in the middle of a run that would take minutes."""
    field = write(
        'workloads = ["poisson(jobs=100000, procs=64, load=3)", "poisson(jobs=40, procs=8)"]\n'
        '[[scheduler]]\norder = ["lpf", "fcfs"]\nstart = "preempt"\n'
        '[[exclude]]\nworkload = "poisson(jobs=100000, procs=64, load=3)"\norder = "fcfs"\n'
    )
    command = [sys.executable, "-c", ONE, tmp_path / "out", field, sleepy]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: len(finished(tmp_path / "out")) == 2)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        assert time.monotonic() - began < 20
    assert "KeyboardInterrupt" in errors.splitlines()[-1]
    assert len(finished(tmp_path / "out")) == 2
    assert [path.name for path in (tmp_path / "out" / "sessions").iterdir()] in ([], ["making"])


def finished(folder: Path) -> pd.DataFrame:
    """What is in the store so far, if there is one."""
    try:
        return harness.Results(folder).frame()
    except HarnessError:
        return pd.DataFrame()


def wait_until(condition: "object", seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
