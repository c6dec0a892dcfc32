"""The layouts of the queue and of the usage of users, groups and queues. No policy sees them."""

import numpy as np

#: The number of waiting jobs for which the array `queue` has room at first.
QUEUE = 4096

#: The part of the array `queue` that holds the waiting jobs.
WAITLIST = np.dtype(
    [
        ("head", "i8"),  # index of the first waiting job
        ("tail", "i8"),  # index behind the last waiting job
        ("aside", "i8"),  # number of waiting jobs behind `tail`, of other queues, where queues have policies
        ("capacity", "i8"),  # number of entries of `queue` in use
        ("new_in_queue", "i8"),  # number of entries of `joined` in use; −1 while no plan reads them
    ],
    align=True,
)

#: The factors of usage that decays; all users, groups and queues share them.
USAGE_SUMS = np.dtype(
    [
        ("counted", "i8"),  # 1 if a policy of the run reads usage
        ("half_life", "f8"),  # age at which usage counts half [s]; infinity: usage does not decay
        ("decay_origin", "f8"),  # time from which ages are counted [s]
        ("decay_age", "f8"),  # age of the origin at the last update [s]
        ("decay_factor", "f8"),  # weight of usage at the origin
        ("decay_growth", "f8"),  # usage of one processor since the origin, in units at the origin
    ],
    align=True,
)
