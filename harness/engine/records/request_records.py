"""The layouts of what jobs ask for besides cores, memory and one partition, and of what there is of it."""

import numpy as np

#: The value of `clock.constrained` where jobs ask for what is here.
DEMANDING = 2

#: How many kinds of countable resources nodes may have, and the platform.
KINDS = 8

#: What a job asks for.
WANT = np.dtype(
    [
        ("portion", "i8"),  # cores it takes of each of its nodes, fewer of the last; 0 any number
        ("alone", "i8"),  # 1 if it shares its nodes with nobody
        ("features", "i8"),  # bits of those that its nodes must have …
        ("either", "i8"),  # … and of those of which they must have one; 0 none
        ("partition", "i8"),  # bit of its own; 0 anywhere
        ("admitted", "i8"),  # bits of the windows that it may use
        ("memory", "f8"),  # on each of its nodes, besides that of its processors [KB]
        ("units", "i8", (KINDS,)),  # of each kind, on each of its nodes
        ("licences", "i8", (KINDS,)),  # of each kind, for as long as it runs
    ],
    align=True,
)

#: What a node has.
OFFER = np.dtype(
    [
        ("features", "i8"),  # bits
        ("partitions", "i8"),  # bits
        ("closures", "i8"),  # in how many windows it is kept for somebody …
        ("first_closure", "i8"),  # … and where they begin in `closures`
        ("alone", "i8"),  # 1 while it is held by a job that shares it with nobody
        ("then_alone", "i8"),  # the same at the instant that a plan looks at
        ("whole", "i8", (KINDS,)),  # units of each kind, when nobody holds any
        ("free", "i8", (KINDS,)),  # units that nobody holds
        ("then", "i8", (KINDS,)),  # the same at the instant that a plan looks at
        ("left", "i8", (KINDS,)),  # scratch
    ],
    align=True,
)

#: Countable resources of the platform.
LICENCE = np.dtype(
    [
        ("whole", "i8"),  # how many there are
        ("free", "i8"),  # how many nobody holds
        ("then", "i8"),  # the same at the instant that a plan looks at
    ],
    align=True,
)

#: When a node is kept for some, or for nobody.
CLOSURE = np.dtype(
    [
        ("begin", "f8"),  # [s]
        ("end", "f8"),  # [s]
        ("who", "i8"),  # bit of those who may use it; 0 nobody
        ("until", "f8"),  # the latest end of the windows of this node up to this one [s]
        ("opening", "f8"),  # of all ends of windows, the one that has this place by time [s]
    ],
    align=True,
)
