"""Workloads of moldable jobs."""

from hypothesis import strategies as st
from shared.strategies import workload

#: Works are multiples of it, so that they take whole seconds on whatever width up to 6.
EVEN = 60


@st.composite
def cases(draw, most=9):
    """Rows of (submit, procs, work, estimate, least, most) and a number of processors; all divide their work evenly."""
    procs = draw(st.integers(2, 6))
    now, rows = 0, []
    for _ in range(draw(st.integers(1, most))):
        now += draw(st.sampled_from((0, 0, 10, 30, 60)))
        least = draw(st.integers(1, procs))
        widest = draw(st.integers(least, 6))
        asked = draw(st.integers(least, widest))
        work = EVEN * draw(st.integers(1, 4))
        rows.append((now, asked, work, work + EVEN * draw(st.sampled_from((0, 0, 1, 5))), least, widest))
    return rows, procs


def moldable(rows):
    return workload([(*row[:4], {"procs_min": least, "procs_max": most}) for *row, least, most in rows])
