"""The records read the same in compiled code and in plain Python."""

import dataclasses

import numpy as np
import pytest
from numba import typeof, types
from shared.running import bundled
from shared.strategies import workload

import harness
from harness.engine import prepare_run, setup
from harness.engine.records import (
    hold_records,
    node_records,
    plan_records,
    private,
    public,
    queue_records,
    recording_records,
    request_records,
)
from harness.engine.run_state import STATE
from harness.numba_support.unsigned_index_array import Entries

LAYOUTS = {
    name: layout
    for module in (
        request_records,
        private,
        hold_records,
        plan_records,
        recording_records,
        public,
        node_records,
        queue_records,
    )
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

    bound = prepare_run.bind
    monkeypatch.setattr(prepare_run, "bind", bind)
    with_cancellations = workload([(0, 2, 5, 5), (0, 2, 5, 5, {"cancel": 3.0})])
    harness.simulate(with_cancellations, 2, timeline=True, placements=True)
    ((whole, _),) = seen
    parts = {name: getattr(whole, name) for name in STATE.parts}
    assert {name: typeof(part) for name, part in parts.items()} == {name: plain(of) for name, of in STATE.parts.items()}
    assert all(part.flags.c_contiguous for part in parts.values() if isinstance(part, np.ndarray))


def plain(of):
    """The type of an array whose entries are asked for in their own way is that of any other of numpy's."""
    return types.Array(of.dtype, of.ndim, of.layout) if isinstance(of, Entries) else of


def many_jobs(count):
    """A workload of so many jobs, no two alike, and the last submitted first."""
    made = workload([(0, 1, 0, 0)] * count)
    numbers = np.arange(count)
    given = {"submit": 1.0 * numbers[::-1], "procs": numbers + 1, "estimate": numbers + 0.5, "user": numbers % 7}
    frame = made.jobs.assign(**given, memory=numbers % 3 - 1.0, partition=numbers % 5 - 1)
    return dataclasses.replace(made, jobs=frame)


def test_records_of_jobs_are_the_rows_of_the_workload_in_order_of_submission():
    """Of more jobs than are made ready at a time."""
    count = 2 * setup.SOME + 3
    made = many_jobs(count)
    jobs = setup.queue_up(made, np.arange(count)[::-1])
    frame = made.jobs[::-1]
    for field, column in {
        "number": "job",
        "left": "estimate",
        "requested": "estimate",
        "predicted": "estimate",
    }.items():
        assert np.array_equal(jobs[field], frame[column])
    for field in ("submit", "procs", "estimate", "user", "group", "queue", "partition"):
        assert np.array_equal(jobs[field], frame[field])
    assert np.array_equal(jobs["memory"], frame["memory"].clip(lower=0))
    assert np.array_equal(jobs["index"], np.arange(count))
    assert np.isnan(jobs["start"]).all()
    assert np.isnan(jobs["end"]).all()
    assert (jobs["reserved"] == -1).all()
    assert (jobs["slices"] == -1).all()


def test_what_nobody_asks_for_takes_no_memory():
    """Neither demands nor holds: beside its record, a job has what a plan, the queue and the heap may need."""
    jobs, machine = many_jobs(2_000), harness.Platform("cores", (harness.NodeType(2_000, 1),))
    chosen = harness.Scheduler(energy="none").choose(bundled())
    ready = prepare_run.prepare_run(jobs, machine, chosen, seed=0, plain=True, extras=setup.Extras())
    for part in ("requests", "held", "held_groups", "group_of", "idle_list", "shapes", "bookings"):
        array = getattr(ready.state, part)
        assert len(array) == 0, part
        while array.base is not None:  # nor does it hold on to something larger
            array = array.base
            assert array.nbytes == 0, part
