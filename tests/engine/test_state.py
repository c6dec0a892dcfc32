"""The records read the same in compiled code and in plain Python."""

import numpy as np
import pytest

from harness.engine import state

LAYOUTS = ["JOB", "NODE", "PACE", "NAP", "SLICE", "CLOCK", "TRUTH", "SUMS", "EVENT", "SAMPLE", "PLACEMENT", "DUE"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_field_hides_behind_an_attribute_of_numpys_records(name):
    """`clock.base` would be numpy's own in plain Python, and the field in compiled code."""
    assert [field for field in getattr(state, name).names if hasattr(np.record, field)] == []


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_field_is_read_back_as_it_was_written(name):
    layout = getattr(state, name)
    record = np.zeros(1, layout).view(np.recarray)[0]
    for number, field in enumerate(layout.names):
        setattr(record, field, number)
        assert np.shape(getattr(record, field)) == layout[field].shape
        assert np.all(record[field] == number)
