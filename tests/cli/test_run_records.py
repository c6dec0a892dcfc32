"""`harness run --timeline … --events …`: what is written, what is said, what is refused."""

import json
from pathlib import Path

import pandas as pd
import pytest
from calling import Call

EVENTS = "time,event,subject\n5,node-down,0\n30,node-up,0\n31,node-up,0\n9e9,node-down,1\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(EVENTS)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_timeline_is_written(harness_says: Call, log: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"timeline.{suffix}"
    answer = harness_says("run", log, "--platform", "synthetic-11", "--timeline", path)
    assert answer.status == 0
    frame = pd.read_csv(path) if suffix == "csv" else pd.read_parquet(path)
    assert list(frame)[:4] == ["time", "queued", "running", "busy"]
    assert frame["time"].is_monotonic_increasing
    assert frame["power"].iloc[-1] == 16 * 60
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.swf", path.name]


def test_the_help_names_every_column_of_the_timeline(harness_says: Call, log: Path, tmp_path: Path) -> None:
    harness_says("run", log, "--timeline", tmp_path / "t.csv")
    words = set(harness_says("run", "--help").out.replace("│", " ").replace(",", " ").replace(":", " ").split())
    assert set(pd.read_csv(tmp_path / "t.csv")) <= words


def test_events_are_replayed_and_told(harness_says: Call, log: Path, table: Path) -> None:
    summary = json.loads(harness_says("run", log, "--events", table, "--format", "json").out)
    assert summary["events"] == {
        "path": str(table),
        "interrupted": "requeue",
        "events": 4,
        "happened": 3,
        "without_effect": 1,
    }
    assert summary["measures"]["restarts"] >= 1
    assert summary["measures"]["killed"] == 0
    killing = harness_says("run", log, "--events", table, "--interrupted", "kill", "--format", "json")
    assert json.loads(killing.out)["measures"]["killed"] >= 1
    said = (
        f"events: 4 in {table}, 3 before the end of the run, 1 of them without effect; jobs on failing nodes: requeue"
    )
    assert said in harness_says("run", log, "--events", table).out


def test_without_events_there_are_none(harness_says: Call, log: Path) -> None:
    assert "events" not in json.loads(harness_says("run", log, "--format", "json").out)
    assert "events:" not in harness_says("run", log).out


def test_stranded_jobs_are_written_to_logs(harness_says: Call, log: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.csv").write_text("time,event,subject\n" + "".join(f"5,node-down,{k}\n" for k in range(4)))
    out = tmp_path / "out.swf"
    answer = harness_says("run", log, "--events", tmp_path / "gone.csv", "--schedule", out, "--format", "json")
    assert answer.status == 0
    assert json.loads(answer.out)["measures"]["stranded"] > 0
    assert "nan" not in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--timeline", "t.swf"], "t.swf: unknown format of a timeline; expected a name ending in .csv"),
        (["--timeline", "nowhere/t.csv"], "nowhere/t.csv: cannot be written"),
        (["--timeline", "small.swf"], "unknown format"),
        (["--timeline", "events.csv", "--events", "events.csv"], "--timeline events.csv: is the --events; expected"),
        (["--schedule", "a.csv", "--timeline", "./a.csv"], "a.csv: is the --schedule; expected another file"),
        (["--schedule", "events.csv", "--events", "events.csv"], "--schedule events.csv: is the --events"),
        (["--events", "absent.csv"], "absent.csv: cannot be read as a table of events"),
        (["--events", "wrong.csv"], "wrong.csv, event 1: there is no node 99: expected 0 to 3"),
        (["--events", "events.csv", "--interrupted", "kil"], "did you mean 'kill'?"),
        (["--events", "events.csv", "--fairness", "3"], "--fairness and --events both given"),
        (["--sleep", "timeout"], "'timeout' (set_sleep) needs the sleep states of a node"),
    ],
)
def test_what_cannot_be_is_refused(
    harness_says: Call, log: Path, table: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(log.parent)
    Path("wrong.csv").write_text("time,event,subject\n1,node-down,99\n")
    before = sorted(Path().iterdir())
    answer = harness_says("run", log.name, *arguments)
    assert answer.status == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""
    assert sorted(Path().iterdir()) == before
    assert table.read_text() == EVENTS
