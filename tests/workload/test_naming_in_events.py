"""Events name the jobs they are about without doubt."""

import numpy as np
import pandas as pd
import pytest

from harness.engine.records.private import EVENT
from harness.errors import HarnessError
from harness.workload.events import Events


def events(*rows: tuple[object, str, object]) -> Events:
    return Events(pd.DataFrame(rows, columns=["time", "event", "subject"]))


def test_numbers_may_be_written_as_text() -> None:
    (record,) = events(("10", "job-killed", "9.0")).records(np.array([8, 9]), 1, EVENT)
    assert (record["time"], record["subject"]) == (10, 1)


def test_a_number_that_several_jobs_share_names_none_of_them() -> None:
    numbers = np.array([7, 7, 9])
    assert events((1, "job-killed", 9)).records(numbers, 1, EVENT)["subject"].tolist() == [2]
    with pytest.raises(HarnessError, match="event 1: several jobs of the workload have the number 7"):
        events((1, "job-killed", 7)).records(numbers, 1, EVENT)
