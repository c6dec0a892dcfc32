"""`harness tune` says what it found, and whether that holds where it did not look."""

import json
from pathlib import Path

import pytest
from calling import Call

FIELD = """
workloads = ["lublin(jobs=200, procs=32, seed=1)"]
held_out = ["lublin(jobs=80, procs=32, seed=2)"]
objectives = ["mean_wait", "max_wait"]

[[scheduler]]
order = "wfp3(power=0.5..5)"
start = "easy"
"""


def test_a_search_from_a_field_to_a_verdict(
    harness_says: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("aging.toml").write_text(FIELD)
    answer = harness_says("tune", "aging.toml", "--trials", 4, "--workers", 1)
    assert answer.status == 0, answer.err
    assert "Numbers are ratios to the default" in answer.out
    assert "Outside the training data" in answer.out or "nothing to judge" in answer.out
    assert Path("tunings/aging/front.html").stat().st_size > 10_000
    again = harness_says("tune", "aging.toml", "--trials", 4, "--workers", 1, "--format", "json")
    assert all(0.5 <= row["order.power"] <= 5 for row in json.loads(again.out))


def test_a_field_that_there_is_not(harness_says: Call) -> None:
    answer = harness_says("tune", "nobody.toml")
    assert (answer.status, answer.out) == (2, "")
    assert "nobody.toml: there is no such file" in answer.err
