"""The layouts of the records of holds and of the jobs that they hold."""

import numpy as np

#: A job that is held, and when it is asked about again; infinity: when something ends.
HELD_JOB = np.dtype([("job", "i8"), ("until", "f8")], align=True)

#: One of the holds in use: where its kernel lies, where its numbers begin and end, and what may change its answers.
HOLD = np.dtype([("kernel", "i8"), ("begin", "i8"), ("end", "i8"), ("because", "i8")], align=True)

#: Jobs that all holds answer alike about.
KIN = np.dtype(
    [
        ("asked", "i8"),  # in which round one of them was last asked about …
        ("answer", "f8"),  # … and what the answer was
        ("first", "i8"),  # who of them is held, in the order of the queue: the first …
        ("last", "i8"),  # … and the last …
        ("count", "i8"),  # … so many …
        ("until", "f8"),  # … until then; −∞ if they are let go
        ("score", "f8"),  # what the order gave the first of them when they were let go
        ("listed", "i8"),  # of the kins of whom somebody is held, one; in the first `notes.kins` records
    ],
    align=True,
)

#: Of each job, which kin it is of, and who of them is held after it, −1 nobody.
OF_KIN = np.dtype([("kin", "i8"), ("next", "i8")], align=True)
