"""The layouts of what is recorded of a run on request."""

import numpy as np

#: The system between one instant and the next, for the timeline.
SAMPLE = np.dtype(
    [
        ("time", "f8"),  # [s]
        ("queued", "i8"),  # jobs
        ("running", "i8"),  # jobs
        ("busy", "i8"),  # processors in service
        ("free", "i8"),  # processors nobody holds, asleep or not
        ("up", "i8"),  # processors of nodes that are not down
        ("rate", "f8"),
        ("work", "f8"),  # left in the system [s at reference speed]
        ("power", "f8"),  # of all nodes [W]
        ("asleep", "i8"),  # nodes
        ("switching", "i8"),  # nodes falling asleep or waking
        ("down", "i8"),  # nodes
    ],
    align=True,
)

#: A job's stay on a node.
PLACEMENT = np.dtype([("job", "i8"), ("node", "i8"), ("cores", "i8"), ("begin", "f8"), ("end", "f8")], align=True)
