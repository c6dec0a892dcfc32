"""The records read the same in compiled code and in plain Python."""

import numpy as np
import pytest
from numba import typeof, types
from strategies import workload

import harness
from harness.engine import demand_state, hold_state, plan_state, recorded_state, simulate, state
from harness.engine.bundles import STATE
from harness.engine.entries import Entries

LAYOUTS = {
    name: layout
    for module in (demand_state, hold_state, plan_state, recorded_state, state)
    for name, layout in vars(module).items()
    if isinstance(layout, np.dtype) and layout.names
}


def test_the_layouts_are_found():
    assert {"JOB", "NODE", "PACE", "NAP", "SLICE", "CLOCK", "TRUTH", "SUMS", "EVENT", "SAMPLE", "DUE"} < set(LAYOUTS)


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_field_hides_behind_an_attribute_of_numpys_records(name):
    """`clock.base` would be numpy's own in plain Python, and the field in compiled code."""
    assert [field for field in LAYOUTS[name].names if hasattr(np.record, field)] == []


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_field_is_read_back_as_it_was_written(name):
    layout = LAYOUTS[name]
    record = np.zeros(1, layout).view(np.recarray)[0]
    for number, field in enumerate(layout.names):
        setattr(record, field, number)
        assert np.shape(getattr(record, field)) == layout[field].shape
        assert np.all(record[field] == number)


def test_compiled_code_finds_in_the_table_what_it_takes_for_it(monkeypatch):
    """Nothing checks the types of what lies behind the one pointer that compiled code is given, but this."""
    seen = []

    def bind(*arguments, **named):
        seen.append(bound(*arguments, **named))
        return seen[-1]

    bound = simulate.bind
    monkeypatch.setattr(simulate, "bind", bind)
    with_cancellations = workload([(0, 2, 5, 5), (0, 2, 5, 5, {"cancel": 3.0})])
    harness.simulate(with_cancellations, 2, timeline=True, placements=True)
    ((whole, _),) = seen
    parts = {name: getattr(whole, name) for name in STATE.parts}
    assert {name: typeof(part) for name, part in parts.items()} == {name: plain(of) for name, of in STATE.parts.items()}
    assert all(part.flags.c_contiguous for part in parts.values() if isinstance(part, np.ndarray))


def plain(of):
    """The type of an array whose entries are asked for in their own way is that of any other of numpy's."""
    return types.Array(of.dtype, of.ndim, of.layout) if isinstance(of, Entries) else of
