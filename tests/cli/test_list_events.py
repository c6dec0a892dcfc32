"""`harness list events` and `harness list measures`: generated from the declarations, and complete."""

import json
from pathlib import Path

import pandas as pd
from calling import Call

from harness import Events
from harness.results.measures import MEASURES
from harness.workload.events import WORDS


def test_every_event_is_listed_with_its_subject_and_can_be_replayed(harness_says: Call, log: Path) -> None:
    listed = json.loads(harness_says("list", "events", "--format", "json").out)
    assert [row["event"] for row in listed] == list(WORDS)
    assert all(row["meaning"] for row in listed)
    subjects = {row["event"]: row["subject"] for row in listed}
    assert set(subjects.values()) == {"node", "job"}
    assert all(event.startswith(subject) for event, subject in subjects.items())
    Events(pd.DataFrame({"time": 1.0, "event": list(subjects), "subject": 1}))


def test_the_option_names_the_list(harness_says: Call) -> None:
    assert "list events" in harness_says("run", "--help").out


def test_every_measure_is_listed_with_its_unit_direction_and_formula(harness_says: Call) -> None:
    listed = json.loads(harness_says("list", "measures", "--format", "json").out)
    assert [row["name"] for row in listed][: len(MEASURES)] == list(MEASURES)
    for row in listed:
        measure = MEASURES[row["name"]]
        found = (row["unit"], row["better"], row["formula"], row["meaning"])
        assert found == (measure.unit, measure.better, measure.formula, measure.meaning)
        assert row["formula"]
