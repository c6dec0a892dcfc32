"""Arrays of the engine hold in compiled code what they hold in Python, entry by entry."""

from hypothesis import given
from hypothesis import strategies as st
from numba import types
from shared.running import choose
from shared.strategies import workload

from harness.engine import run_state
from harness.engine.decorators import entrance, inner
from harness.engine.prepare_run import prepare_run
from harness.engine.setup import Extras
from harness.numba_support.unsigned_index_array import Entries
from harness.platform.machine import plain

JOBS = 9


def exchange(state, k, value):
    """Write a number of jobs, of places and of scores, and read what was there before."""
    before = state.jobs[k].procs + 10 * state.queue[k] + 100 * int(state.scores[k])
    state.jobs[k].procs = value
    state.queue[k] = value
    state.scores[k] = value
    return before


def made():
    jobs = workload([(k, 1 + k % 3, 5, 5) for k in range(JOBS)])
    state = prepare_run(jobs, plain(3), choose(), seed=0, plain=False, extras=Extras()).state
    state.queue[:] = state.scores[:] = 0  # else whatever the memory held
    return state


compiled = entrance(inner(exchange), types.int64(run_state.INDICES, types.int64, types.int64))


@given(st.lists(st.tuples(st.integers(0, JOBS - 1), st.integers(0, 9)), max_size=20))
def test_what_is_written_is_read_and_nothing_else_changes(exchanges):
    ours, theirs = made(), made()
    for k, value in exchanges:
        assert compiled(ours, k, value) == exchange(theirs, k, value)
    for name in ("jobs", "queue", "scores"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes(), name


def test_those_that_are_asked_about_a_number_that_is_not_known_are_as_in_python():
    """The user −1 is the last entry."""
    parts = run_state.STATE.parts
    assert isinstance(parts["jobs"], Entries)
    assert not any(isinstance(parts[name], Entries) for name in ("users", "groups", "queues", "firsts"))
