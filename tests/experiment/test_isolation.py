"""Plugins that change the process they are loaded into, or never return: what they do to other runs."""

import os
import sqlite3
import sys
from pathlib import Path

import pandas as pd
import pytest
from shared.small_fields import SLEEPY, Write

import harness
from harness.errors import HarnessError
from harness.experiment import isolation
from harness.experiment.isolation import limit_seconds
from harness.experiment.pool import Progress
from harness.experiment.runner import tournament
from harness.policy import registry

PLUGIN = """
import atexit, json, os, sqlite3, sys

import numpy as np

import harness

def {name}(job, clock):
    {inside}
    return -job.submit

@harness.hookimpl
def order_queue():
    return [harness.Order("{name}", {name}, compiled={compiled})]

{outside}
"""

#: What a plugin does when it is imported. None of these may change the runs of other schedulers.
PATCHES = {
    "results": """
import harness.ranking.ranking
from harness.experiment.store import Store
from harness.results.measures import MEASURES
from harness.results.schedule import Schedule
Schedule.measures = lambda self, extra=(): {"mean_wait": 0.0}
Schedule.digest = "0"
Store.finish = lambda *_, **__: None
for one in MEASURES.values():
    object.__setattr__(one, "function", lambda schedule: 0.0)
for name in vars(harness.ranking.ranking).copy():
    setattr(harness.ranking.ranking, name, None)
atexit.register(sys.exit, 7)
""",
    "arrays": "np.mean = np.sum = np.where = np.isnan = lambda *_, **__: 0.0",
    "text": "json.dumps = json.loads = lambda *_, **__: {}",
    "engine": """
import harness.engine.simulate
harness.engine.simulate.drive = lambda *_: None
""",
}

#: What a policy does in the middle of a run, and the reason in the store.
FAULTS = {
    "leaving": ("os._exit(0)", r"the run ended the process \(0\)"),
    "leaving_with_three": ("os._exit(3)", r"the run ended the process \(3\)"),
    "killed": ("os.kill(os.getpid(), 9)", "the run ended the process by signal 9"),
}

FIELD = """
workloads = "poisson(jobs=30, procs=8, load=2, seed=1)"
[[scheduler]]
order = [{orders}]
"""


def plugin(folder: Path, name: str, inside: str = "pass", outside: str = "", compiled: bool = False) -> Path:
    path = folder / f"{name}.py"
    text = PLUGIN.replace("{name}(", f"{name.replace('-', '_')}(").replace(
        '", {name},', f'", {name.replace("-", "_")},'
    )
    path.write_text(text.format(name=name, inside=inside, outside=outside, compiled=compiled))
    return path


def field(write: Write, *orders: str) -> Path:
    return write(FIELD.format(orders=", ".join(f'"{one}"' for one in orders)))


def by_order(results: harness.Results) -> pd.DataFrame:
    return results.frame().drop(columns=["seconds", "scheduler"]).set_index("order")


def test_no_plugin_reaches_the_runs_of_another_scheduler(
    write: Write, tmp_path: Path, children_not_compiled: None
) -> None:
    (folder := tmp_path / "plugins").mkdir()
    for name, outside in PATCHES.items():
        plugin(folder, name, outside=outside)
    for name, (inside, _) in FAULTS.items():
        plugin(folder, name, inside=inside)
    plain = by_order(tournament(field(write, "fcfs", "spf"), tmp_path / "plain"))
    hostile = field(write, "fcfs", *PATCHES, *FAULTS, "spf")
    found = by_order(tournament(hostile, tmp_path / "out", plugins=[folder], isolate=True, workers=2))
    assert list(found.index) == ["fcfs", *PATCHES, *FAULTS, "spf"]
    ours = found.loc[["fcfs", "spf"]]
    pd.testing.assert_frame_equal(ours, plain, check_exact=True, check_dtype=False)  # identities too
    for name, (_, why) in FAULTS.items():
        assert found.loc[name, "status"] == "failed"
        assert pd.Series([found.loc[name, "error"]]).str.fullmatch(why).all(), found.loc[name, "error"]
    # Measures are computed where no plugin is: a plugin that patches them has the same as an honest one.
    honest = tournament(field(write, "honest"), tmp_path / "honest", plugins=[plugin(tmp_path, "honest")]).frame()
    assert found.loc["results", "status"] == "done", found.loc["results", "error"]
    assert found.loc["results", "mean_wait"] == honest["mean_wait"][0] > 0
    assert found.loc["results", "schedule_digest"] == honest["schedule_digest"][0]
    assert found.loc["results", "plugins"].startswith("results.py ")
    assert (found.loc[["fcfs", "spf"], "plugins"] == "").all()


def test_an_isolated_plugin_can_write_any_file_of_its_user(
    write: Write, tmp_path: Path, children_not_compiled: None
) -> None:
    """Isolation protects the runs of others from mistakes; a plugin has the rights of its user all the same."""
    written = tmp_path / "written"
    path = plugin(tmp_path, "writing", outside=f"open({str(written)!r}, 'w').write(str(os.getuid()))")
    tournament(field(write, "writing"), tmp_path / "out", plugins=[path], isolate=True)
    assert written.read_text() == str(os.getuid())


@pytest.mark.slow
def test_runs_that_do_not_end_are_ended_at_the_limit(write: Write, tmp_path: Path) -> None:
    """Compiled, in plain Python, and asleep; the tournament goes on, and tries them again the next time."""
    plain, compiled = "while True: pass", "x = 0.0\n    while x >= 0.0: x += job.submit * 0.0"
    paths = [plugin(tmp_path, "plain", plain), plugin(tmp_path, "loop", compiled, compiled=True)]
    (tmp_path / "sleepy_plugin.py").write_text(SLEEPY)
    orders = ["plain", "loop", "sleepy(pause=9999)"]
    given = {"plugins": [*paths, tmp_path / "sleepy_plugin.py"], "limit": "20s", "workers": 4, "isolate": True}
    results = tournament(field(write, *orders, "fcfs"), tmp_path / "out", **given)
    frame = by_order(results)
    assert frame["status"].tolist() == ["failed", "failed", "failed", "done"]
    assert set(frame["error"][:3]) == {"given up: the simulation did not end within 20 s (--limit)"}
    with sqlite3.connect(tmp_path / "out" / "store.sqlite") as store:
        (stored,) = store.execute("SELECT DISTINCT error FROM runs WHERE status = 'failed'").fetchall()
    assert stored == (frame["error"].iloc[0],)


def test_plugins_are_loaded_in_the_processes_of_runs_with_a_limit(write: Write, tmp_path: Path) -> None:
    """Without isolation, too: of several plugins, one of them unused, and of the results of a run without a plugin."""
    paths = [plugin(tmp_path, "own"), plugin(tmp_path, "unused")]
    given = field(write, "own", "fcfs")
    limited = by_order(tournament(given, tmp_path / "limited", plugins=paths, limit="600s"))
    plain = by_order(tournament(given, tmp_path / "plain", plugins=paths))
    assert limited["status"].tolist() == ["done", "done"]
    assert limited["schedule_digest"].tolist() == plain["schedule_digest"].tolist()
    assert limited["mean_wait"].tolist() == plain["mean_wait"].tolist()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM runs",
        "UPDATE runs SET measures = '{}' WHERE status = 'done'",
        "UPDATE runs SET status = 'failed' WHERE status = 'done'",
        "UPDATE runs SET schedule_digest = 'another' WHERE status = 'done'",
    ],
)
def test_another_writer_to_the_store_is_noticed(
    write: Write, tmp_path: Path, children_not_compiled: None, change: str
) -> None:
    out = tmp_path / "out"
    first = tournament(field(write, "fcfs", "lcfs"), out).frame()
    inside = f"""with sqlite3.connect({str(out / "store.sqlite")!r}, timeout=60) as store: store.execute({change!r})"""
    path = plugin(tmp_path, "writer", inside)
    both = field(write, "fcfs", "lcfs", "writer")
    with pytest.raises(HarnessError, match=r"another program, perhaps a plugin, changed [23] finished runs"):
        tournament(both, out, plugins=[path], isolate=True)
    seen: list[Progress] = []
    again = tournament(field(write, "fcfs", "lcfs"), out, watch=seen.append).frame()
    assert seen[0].found == 0  # changed results are not used
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), first.drop(columns="seconds"), check_exact=True)


def test_runs_with_other_plugins_loaded_are_other_runs(write: Write, tmp_path: Path) -> None:
    """A plugin that no policy of the run is from may have changed the process all the same."""
    seen: list[Progress] = []
    one = plugin(tmp_path, "one")
    only_ours = field(write, "fcfs")

    def found(*plugins: Path) -> int:
        registry.loaded.clear()  # as in a process of its own
        registry._plugins.cache_clear()
        sys.modules.pop("helper_of_two", None)
        tournament(only_ours, tmp_path / "out", plugins=plugins, watch=seen.append)
        return seen[-1].found

    assert (found(), found()) == (0, 1)
    assert (found(one), found(one)) == (0, 1)
    assert harness.Results(tmp_path / "out").frame()["plugins"][0].split()[0] == "one.py"
    one.write_text(one.read_text() + "\n# another version\n")
    assert (found(one), found(one)) == (0, 1)
    helper = tmp_path / "helper_of_two.py"
    helper.write_text("number = 1\n")
    two = tmp_path / "two.py"
    two.write_text(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport helper_of_two\n" + one.read_text())
    assert (found(two), found(two)) == (0, 1)
    helper.write_text("number = 2\n")
    assert found(two) == 0
    assert found() == 1


def test_a_plugin_loaded_earlier_in_the_process_counts(write: Write, tmp_path: Path) -> None:
    tournament(field(write, "fcfs"), tmp_path / "out", plugins=[plugin(tmp_path, "one")])
    seen: list[Progress] = []
    results = tournament(field(write, "fcfs"), tmp_path / "out", watch=seen.append)
    assert seen[0].found == 1  # it is still loaded
    assert results.frame()["plugins"][0].startswith("one.py ")
    with pytest.raises(HarnessError, match=r"one\.py: this process has imported it already"):
        tournament(field(write, "fcfs"), tmp_path / "out", isolate=True)


def test_measures_of_a_plugin_and_parameters_are_known_without_it(
    write: Write, tmp_path: Path, children_not_compiled: None
) -> None:
    path = tmp_path / "measuring.py"
    path.write_text(
        """
import harness

def tilted(job, clock, power=2.0, first="narrow", weights=(1.0, 2.0)):
    return job.submit * power

def twice(schedule):
    '''Twice the number of jobs.'''
    return 2.0 * len(schedule.frame)

@harness.hookimpl
def order_queue():
    return [harness.Order("tilted", tilted, choices={"first": ("wide", "narrow")}, least={"power": 1}, compiled=False)]

@harness.hookimpl
def score_schedule():
    return [harness.Measure("twice", "jobs", "more", "2 n", twice)]
""".replace('first="narrow"', "first=0")
    )
    schedulers = field(write, "fcfs", "tilted", "tilted(power=3.5, first=narrow, weights=[3, 4])")
    frames = [
        tournament(schedulers, tmp_path / name, plugins=[path], isolate=isolate).frame().drop(columns="seconds")
        for name, isolate in (("apart", True), ("together", False))
    ]
    assert [set(frame["error"]) for frame in frames] == [{None}, {None}]
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    assert (frames[0]["twice"] == 60).all()
    registry.loaded.clear()  # as in a process of its own
    with pytest.raises(HarnessError, match="expected at least 1"):
        tournament(field(write, "tilted(power=0.5)"), tmp_path / "apart", plugins=[path], isolate=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys; sys.exit(0)", "fails: SystemExit: 0"),
        ("import os; os._exit(0)", r"its import ended the process \(0\)"),
        ("while True: pass", "its import did not end within 5 s"),
        ("1 / 0", "fails: ZeroDivisionError"),
        ("def broken(:", "fails: SyntaxError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_refused(
    write: Write, tmp_path: Path, text: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "LOADING", 5.0 if "while" in text else isolation.LOADING)
    (path := tmp_path / "bad.py").write_text(text + "\n")
    with pytest.raises(HarnessError, match=rf"bad\.py.*{why}"):
        tournament(field(write, "fcfs"), tmp_path / "out", plugins=[path], isolate=True)


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60), ("60s", 60), ("1.5 min", 90), ("2h", 7200), (3, 3), (0.5, 0.5), ("1d", 86400)]
)
def test_limits_have_units(text: str, seconds: float) -> None:
    assert limit_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1s", "1m", "60 seconds", "nan", "inf", "1e3", "9" * 400, 0, -1, "1h30"])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(HarnessError, match="expected a time above 0, such as 60s"):
        limit_seconds(text)
