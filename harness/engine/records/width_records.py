"""The layout of what is known of a job whose width is chosen when it starts."""

import numpy as np

#: Between which widths a job may run, and its speed-up, see `harness.workload.widths`.
SHAPE = np.dtype(
    [
        ("least", "i8"),  # processors …
        ("most", "i8"),  # … and at most
        ("law", "i8"),  # AMDAHL, DOWNEY, TABLE
        ("first", "f8"),  # the serial share of Amdahl's, the average parallelism of Downey's
        ("second", "f8"),  # the variance of Downey's
    ],
    align=True,
)
