"""The layouts of the records of holds and of the jobs that they hold."""

import numpy as np

#: A job that is held, and when it is asked about again; infinity: when something ends.
HELD_JOB = np.dtype([("job", "i8"), ("until", "f8")], align=True)

#: One of the holds in use: where its kernel lies, where its numbers begin and end, and what may change its answers.
HOLD = np.dtype([("kernel", "i8"), ("begin", "i8"), ("end", "i8"), ("because", "i8")], align=True)
