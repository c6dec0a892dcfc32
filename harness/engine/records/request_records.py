"""The layouts of requests, and of the resources of nodes and of the platform that serve them."""

import numpy as np

# The values of `clock.resource_model`: processors alone are counted; memory, partitions or the selection bind too; jobs
# request features, countable resources, whole nodes or licences.
COUNT, NODES, REQUESTS = range(3)

# The moments for which `available` has a record of each node: now, the time that a plan looks at, the empty machine,
# and a copy for one computation.
NOW, THEN, EMPTY, SCRATCH = range(4)

#: The number of kinds of countable resources that nodes may have, and of licences, at most.
KINDS = 8

#: The request of a job, besides its cores and their memory.
REQUEST = np.dtype(
    [
        ("procs_per_node", "i8"),  # cores on each of its nodes, fewer on the last; 0 any number
        ("exclusive", "i8"),  # 1 if no other job may use its nodes
        ("features", "i8"),  # bits of the features that each of its nodes must have
        ("any_features", "i8"),  # bits of the features of which each must have one; 0 none
        ("partition", "i8"),  # bit of its partition; 0 any
        ("admitted", "i8"),  # bits of the users of reservations that the job belongs to
        ("memory", "f8"),  # on each of its nodes, besides the memory of its cores [KB]
        ("units", "i8", (KINDS,)),  # of each countable resource, on each of its nodes
        ("licences", "i8", (KINDS,)),  # of each kind, while the job runs
    ],
    align=True,
)

#: The properties of a node that requests refer to.
PROPERTIES = np.dtype(
    [
        ("features", "i8"),  # bits
        ("partitions", "i8"),  # bits
        ("reservations", "i8"),  # number of its reservations
        ("first_reservation", "i8"),  # index of the first of them in `reservations`
    ],
    align=True,
)

#: The resources of a node that are free at a moment, besides its cores. The platform counts as one more node, whose
#: units are licences.
AVAILABLE = np.dtype(
    [
        ("memory", "f8"),  # [KB], infinite when unknown
        ("exclusive", "i8"),  # number of jobs there that share the node with no other job
        ("units", "i8", (KINDS,)),  # of each countable resource
    ],
    align=True,
)

#: A reservation of one node: an interval in which only some users, or none, may use it.
RESERVATION = np.dtype(
    [
        ("begin", "f8"),  # [s]
        ("end", "f8"),  # [s]
        ("users", "i8"),  # bit of the users who may use it; 0 none
        ("latest_end", "f8"),  # of the reservations of this node up to this one [s]
        ("ordered_end", "f8"),  # the end of some reservation: of all these ends, the one of this rank [s]
    ],
    align=True,
)
