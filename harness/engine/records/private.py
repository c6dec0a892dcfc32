"""The layouts of the records that no policy sees: the engine's own notes, what is true of the jobs, and the inputs.

See `state.py` for the others; `bundles.py` puts them together.
"""

import numpy as np

#: The engine's own notes, which no policy sees.
NOTES = np.dtype(
    [
        ("boots", "i8"),  # jobs that wait for a sleeping node
        ("heaped", "i8"),  # jobs in the heap of due times
        ("falling", "i8"),  # 1 if scores only fall, and jobs are scored as of a time ahead, see `falling` …
        ("ahead", "f8"),  # … which is this one [s] …
        ("span", "f8"),  # … that far ahead of when they were scored [s] …
        ("meanwhile", "f8"),  # … and what time it was when the order was asked about it last [s] …
        ("judged", "i8"),  # … how often somebody was scored singly since …
        ("at_once", "i8"),  # … and at how many decisions everybody is scored as of now, because that is cheaper
        ("shelves", "i8"),  # how many shelves the plan of the running jobs stands on
        ("served", "i8"),  # jobs that have entered service so far
        ("by_nodes", "i8"),  # 1 once there is a plan of nodes …
        ("bookings", "i8"),  # … so many entries of `bookings` have been used …
        ("spare_booking", "i8"),  # … and the first of those that are free again, −1 none …
        ("steps", "i8"),  # … so many entries of `steps` have been given to nodes …
        ("struck", "i8"),  # … how many bookings were struck out so far …
        ("struck_before", "i8"),  # … and when those were first looked for who may begin beside the others
        ("turn", "i8"),  # how often it was looked for them …
        ("struck_now", "i8"),  # … how many had been struck out then …
        ("told", "i8"),  # … of how many of these the nodes are known …
        ("ready", "i8"),  # … and how many nodes are listed
        ("version", "i8"),  # how often the profile rose …
        ("raised", "i8"),  # … and how many entries of `raised_time` are in use
        ("promises", "i8"),  # 1 once there is a promise in `promised` …
        ("first_block", "i8"),  # … before which block of jobs there is none
        ("lasting", "i8"),  # which orders give a waiting job one score for as long as it waits, flags of `overtaking`
        ("trees", "i8"),  # how often its trees were grown …
        ("stalls", "i8"),  # … how many entries of `stands` are in use, a power of two …
        ("standing", "i8"),  # … for which order …
        ("entered", "i8"),  # … and how many entries of `entries` are in use, −1 while there are no trees
        ("looked", "i8"),  # how many of the jobs that might overtake have been looked at …
        ("listed", "i8"),  # … and how many there are
        ("moldable", "i8"),  # 1 when the width of some job is chosen when it starts
    ],
    align=True,
)

#: What policies may not know, and the engine's own notes on each job.
TRUTH = np.dtype(
    [
        ("work", "f8"),  # left when it last entered service, or will enter it [s at reference speed]
        ("due", "f8"),  # virtual time at which it completes, once in service
        ("begun", "f8"),  # since when it is in service, or waits for sleeping nodes [s]
        ("turn", "i4"),  # how many entered service before it
        ("killed", "i4"),  # 1 if its end is no success: it is killed at its estimate, or the log cancels it
    ],
    align=True,
)

#: The same over all jobs: the true work left, and integrals over the run, see `harness.results.measures`.
SUMS = np.dtype(
    [
        ("backlog", "f8"),  # work of the jobs that are not in service yet [s]
        ("due_speed", "f8"),  # Σ due · speed over the jobs in service: with `clock.speed`, the work in service
        ("jobs", "f8"),
        ("queued", "f8"),
        ("busy", "f8"),
        ("work", "f8"),
        ("potential", "f8"),
        ("effective", "f8"),
        ("wasted", "f8"),
        ("least_rate", "f8"),  # the lowest rate of the run so far
        ("most_rate", "f8"),  # the highest rate of the run so far
        ("requeue", "i8"),  # 1: jobs on a node that fails wait again; 0: they are killed
        ("ignored_events", "i8"),  # external events that changed nothing
        ("samples", "i8"),  # how many entries of `samples` and of `placements` are in use
        ("placements", "i8"),
    ],
    align=True,
)

SIGNAL = np.dtype([("time", "f8"), ("value", "f8")], align=True)  # what a signal says from a time on
#: Something that happens to a node or a job, not by scheduling.
EVENT = np.dtype([("time", "f8"), ("kind", "i8"), ("subject", "i8")], align=True)

#: One entry of the heap of due times.
DUE = np.dtype([("time", "f8"), ("job", "i8")], align=True)
