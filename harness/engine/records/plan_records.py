"""The layouts of the records that plans are made of; see `state.py` for the others."""

import numpy as np

#: A running job in the plan of ends.
ONGOING = np.dtype([("end", "f8"), ("job", "i8")], align=True)

#: The state of the plan as a whole. Only modules of `engine/plan` write it.
PLANNING = np.dtype(
    [
        ("form", "i8"),  # of the profile: nothing, one shadow time, or steps; see count_plan.py
        ("anew", "i8"),  # 1 if the policy plans anew at every decision
        ("reservations", "i8"),  # of waiting jobs, at most
        ("head", "i8"),  # the job that holds the one reservation, …
        ("shadow", "f8"),  # … its virtual time …
        ("spare", "i8"),  # … and the processors that are free then and not needed
        ("passed", "i8"),  # the last job of the walk through the queue, −1 none …
        ("candidate", "i8"),  # … and of the walk through the backfill candidates, …
        ("order", "i8"),  # … in this order …
        ("until", "f8"),  # … that end by this virtual time
    ],
    align=True,
)

#: Some cores of one node in the plan of nodes: held by a running job, or promised to a waiting one.
BOOKING = np.dtype(
    [
        ("job", "i8"),  # who holds them
        ("node", "i8"),  # on which node
        ("cores", "i8"),  # how many
        ("along", "i8"),  # the job's next booking, −1 none
        ("before", "i8"),  # the node's booking before …
        ("after", "i8"),  # … and after it, −1 none
        ("begin", "f8"),  # from when on, in virtual time …
        ("end", "f8"),  # … and until when
    ],
    align=True,
)

#: Where the entries of a node stand among all that say what is left of nodes; see timelines.py.
LINE = np.dtype(
    [
        ("first", "i8"),  # window that is in use …
        ("last", "i8"),  # … and where it ends
        ("begin", "i8"),  # room that is the node's own …
        ("end", "i8"),  # … and where that ends
        ("turn", "i8"),  # when it was last listed in `ready`
    ],
    align=True,
)

#: What is known of a job in the plan of nodes; little, for when it is looked who may begin early many are passed by.
NEAR = np.dtype(
    [
        ("booked", "i8"),  # first of its bookings, −1 none
        ("turn", "i8"),  # when it was last found to be promised some of a node that somebody gave back
        ("procs", "i4"),  # it needs, once it was promised a start
        ("alike", "i4"),  # where in `rooms` stands what is known of jobs like it, and 1 more; 0 nowhere
    ],
    align=True,
)

#: How much room there is now for jobs of a length and memory, when it was last looked who may begin.
ROOM = np.dtype(
    [
        ("left", "f8"),  # [s]; −1: of nobody yet
        ("memory", "f8"),  # per processor [KB]
        ("partition", "i8"),
        ("turn", "i8"),  # when that was …
        ("struck", "i8"),  # … how many bookings had been struck out …
        ("started", "i8"),  # … and how many jobs had started
        ("helped", "i8"),  # 1 if they could have processors of a node that somebody gave something back of
        ("total", "i8"),  # what they could have of all nodes, if so
    ],
    align=True,
)

#: Before when nobody like a job fits beside the bookings, and how many had been struck out then.
BESIDE = np.dtype(
    [
        ("procs", "i8"),  # 0: there is no answer here
        ("lasting", "f8"),  # [s]
        ("memory", "f8"),  # per processor [KB]
        ("partition", "i8"),
        ("time", "f8"),  # virtual
        ("struck", "i8"),
    ],
    align=True,
)

#: Where a waiting job stands in the trees of those who may overtake.
STAND = np.dtype(
    [
        ("job", "i8"),
        ("score", "f8"),  # by the order of the trees
        ("least", "f8"),  # length of this job and those below it [s]
        ("narrowest", "i8"),  # width of the same
        ("before", "i8"),  # who is below it and before it, −1 nobody …
        ("behind", "i8"),  # … and behind it
        ("tree", "i4"),  # which it stands in
        ("since", "i4"),  # which growth of the trees, 0 none
    ],
    align=True,
)

#: A walk through the queue, see walks.py; most of it is for where scores only fall, see falling.py.
WALK = np.dtype(
    [
        ("count", "i8"),  # how many were scored and not passed …
        ("scored", "i8"),  # … how many were scored in it …
        ("looked", "i8"),  # … how much of the queue was looked at, or …
        ("last", "i8"),  # … up to whom in the trees …
        ("floor", "f8"),  # … and the score and …
        ("passed", "i8"),  # … the job up to which everybody was passed before, −1 nobody
        ("until", "f8"),  # what was asked for: who ends by then, in virtual time …
        ("spare", "i8"),  # … or needs no more than that …
        ("free", "i8"),  # … and how many processors were free
    ],
    align=True,
)

#: Before when nobody of a width and length fits into the profile.
ANSWER = np.dtype(
    [
        ("procs", "i8"),  # 0: there is no answer here
        ("left", "f8"),  # [s]
        ("time", "f8"),  # virtual
        ("version", "i8"),  # of the profile
    ],
    align=True,
)
