"""`harness report` and `harness run --report`."""

from pathlib import Path

import pytest
from calling import Call

import harness

FIELD = """
workloads = "lublin(jobs=60, procs=16, seed=1)"

[[scheduler]]
order = ["fcfs", "spf"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small tournament."""
    field = tmp_path / "small.toml"
    field.write_text(FIELD)
    return harness.tournament(field, tmp_path / "small", workers=1).folder


def test_a_tournament_becomes_a_page(harness_says: Call, folder: Path) -> None:
    answer = harness_says("report", folder)
    assert answer.status == 0
    assert answer.out == ""
    assert "report.html" in answer.err
    assert "Tournament small" in (folder / "report.html").read_text(encoding="utf-8")


def test_one_of_several_fields_is_chosen_by_its_session(harness_says: Call, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(FIELD)
    answer = harness_says("tournament", tmp_path / "other.toml", "--out", folder, "--workers", "1")
    assert f"harness report {folder} --session 2" in answer.out
    assert f"harness.Results('{folder}', 2)" in answer.out
    answer = harness_says("report", folder)
    assert f"also has results of the field small: harness report {folder} --session 1" in answer.err
    assert "Tournament other" in (folder / "report.html").read_text(encoding="utf-8")
    answer = harness_says("report", folder, "--session", "1")
    assert "too:" not in answer.err
    assert "Tournament small" in (folder / "report.html").read_text(encoding="utf-8")
    assert harness_says("report", folder, "--session", "7").status == 2


def test_another_file_by_another_measure(harness_says: Call, folder: Path, tmp_path: Path) -> None:
    assert harness_says("report", folder, "--out", tmp_path / "page.html", "--by", "max_wait").status == 0
    assert "By max wait" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--by", "mean_wiat"], "did you mean 'mean_wait'"),
        (["--by", "jobs"], "neither less nor more of it is better"),
        (["--out", "/nonexistent/page.html"], "cannot be written"),
    ],
)
def test_mistakes_are_one_sentence(harness_says: Call, folder: Path, arguments: list[str], words: str) -> None:
    answer = harness_says("report", folder, *arguments)
    assert answer.status == 2
    assert words in answer.err
    assert not (folder / "report.html").exists()


def test_no_tournament(harness_says: Call, tmp_path: Path) -> None:
    answer = harness_says("report", tmp_path)
    assert answer.status == 2
    assert "holds no tournament" in answer.err


def test_missing_libraries_are_named_before_any_work(
    harness_says: Call, log: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.report.rendering.find_spec", lambda name: None)
    for command in (["report", folder], ["run", log, "--report", folder / "run.html"]):
        answer = harness_says(*command)
        assert answer.status == 2
        assert "pip install 'sched-harness[report]'" in answer.err


def test_a_run_becomes_a_page(harness_says: Call, log: Path, tmp_path: Path) -> None:
    answer = harness_says("run", log, "--format", "csv", "--report", tmp_path / "run.html")
    assert answer.status == 0
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "How did it go?" in text
    assert "Jobs on processors" in text
    assert harness.simulate(log).digest in text
    assert answer.out.splitlines()[0] == "measure,value,unit"
