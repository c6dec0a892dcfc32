"""The layouts of the records of holds and of the jobs that they hold."""

import numpy as np

#: A held job, and when the holds are asked about it again; infinity: when a job leaves its processors or the system.
HELD_JOB = np.dtype([("job", "i8"), ("until", "f8")], align=True)

#: A hold in use: the address of its kernel, the range of its numbers in `holds_own`, and the causes of other answers.
HOLD = np.dtype([("kernel", "i8"), ("begin", "i8"), ("end", "i8"), ("because", "i8")], align=True)

#: The state of all holds. The modules of holds write it (`queue/holds.py` and its neighbours, `hold_releases`).
HOLD_STATE = np.dtype(
    [
        ("count", "i8"),  # holds in use
        ("asked_hold", "i8"),  # the hold that was asked last, for messages
        ("causes", "i8"),  # causes that may change the answers, flags of `holds.py`
        ("next_release", "f8"),  # when the first held job is asked about again, infinity if none has a time [s]
        ("departed_before", "i8"),  # jobs that had left before this instant and are still listed in `leavers`
        ("rounds", "i8"),  # rounds of questions about jobs so far
        ("groups", "i8"),  # groups with a held job, if jobs are held in groups …
        ("released_groups", "i8"),  # … of which released, and not in the queue yet
        ("stop_starting", "i8"),  # 1 after a start that makes a job held: no further starts in this decision
        ("unchecked_arrivals", "i8"),  # 1 if jobs have joined the queue about which the holds were not asked
        ("fruitless_checks", "i8"),  # questions in a row that released no job while nothing else happened
    ],
    align=True,
)

#: Jobs for which all holds give the same answer.
HELD_GROUP = np.dtype(
    [
        ("asked", "i8"),  # round in which a job of the group was last asked about …
        ("answer", "f8"),  # … and the answer
        ("first", "i8"),  # the held jobs of the group, in queue order: the first …
        ("last", "i8"),  # … the last …
        ("count", "i8"),  # … and how many …
        ("until", "f8"),  # … held until then [s]; −∞ if they are released
        ("score", "f8"),  # the score of the first when the group was released
        ("listed", "i8"),  # a group with a held job; in the first `hold_state.groups` records
    ],
    align=True,
)

#: Of each job, its group, and the next held job of the group, −1 if there is none.
GROUP_OF = np.dtype([("group", "i8"), ("next", "i8")], align=True)
