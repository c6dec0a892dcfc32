"""The layouts of allocation, node classes, idle nodes and sleep. No policy sees them."""

import numpy as np

#: The allocation that the selection is making, and what all allocations share.
ALLOCATION = np.dtype(
    [
        ("cores_taken", "i8"),  # cores that the selection has taken for the job so far
        ("nodes_taken", "i8"),  # nodes on which it has taken them
        ("nodes_asleep", "i8"),  # nodes of these that are not awake
        ("awake_at", "f8"),  # time at which all of them are awake if they are woken now [s]
        ("slowest", "f8"),  # speed of the slowest of them
        ("declined", "i8"),  # number of times that the selection declined a job
        ("placement_restricted", "i8"),  # 1 while a job may take only the cores that `then.room` allows
        ("suspended_in_place", "i8"),  # number of jobs that wait suspended in place
        ("free_slice_head", "i8"),  # first unused slice
        ("resource_kinds", "i8"),  # number of kinds of countable resources of nodes
        ("licence_kinds", "i8"),  # number of kinds of licences
        ("classes_listed", "i8"),  # number of node classes that have nodes
        ("ranks_classes", "i8"),  # 1 if the selection gives all nodes of a class the same score
    ],
    align=True,
)

#: Nodes that sleep, wake and change their status.
SLEEP_CONTROL = np.dtype(
    [
        ("moving", "i8"),  # number of nodes in a transition that is an event
        ("waking", "i8"),  # number of these that wake, or will wake once they are asleep
        ("lazy_sleep", "i8"),  # 1 if no policy observes when a node falls asleep: this is then no event
        ("track_node_status", "i8"),  # 1 if nodes may sleep or node classes are kept
        ("keep_idle_list", "i8"),  # 1 if idle nodes are listed by the time at which they became idle
        ("max_idle_time", "f8"),  # time after which an idle node falls asleep [s]; infinity if the policy decides
        ("idle_depth", "i8"),  # sleep state into which it falls then
        ("next_sleep_time", "f8"),  # earliest time at which an idle node falls asleep, where that is an event [s]
        ("max_boot_time", "f8"),  # longest time to fall asleep and wake again [s]; 0 where no node sleeps
    ],
    align=True,
)

#: An entry of the list of idle nodes; `behind` is −1 for a node that is not listed.
IDLE_NODE = np.dtype([("behind", "i8"), ("before", "i8")], align=True)

#: A type of nodes: nodes with consecutive numbers.
TYPE = np.dtype(
    [
        ("first", "i8"),  # its first node
        ("count", "i8"),  # number of nodes
        ("cores", "i8"),  # cores of each
        ("stock", "i8"),  # its first node class
    ],
    align=True,
)

#: A node class: nodes of one type with the same number of free cores and the same status.
NODE_CLASS = np.dtype(
    [
        ("type", "i8"),  # the type of its nodes
        ("words", "i8"),  # index in `words` of the bits of its nodes
        ("count", "i8"),  # number of nodes
        ("first", "i8"),  # the node with the lowest number
        ("place", "i8"),  # index in the list of classes that have nodes
    ],
    align=True,
)
