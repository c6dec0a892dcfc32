"""The layouts of the stocks of nodes alike, see `stocks.py`."""

import numpy as np

#: A type of nodes, which stand side by side.
TYPE = np.dtype(
    [
        ("first", "i8"),  # its first node …
        ("count", "i8"),  # … and how many there are
        ("cores", "i8"),  # of each
        ("stock", "i8"),  # the first of its stocks
    ],
    align=True,
)

#: Nodes of one type that have as many free cores and are of one status.
STOCK = np.dtype(
    [
        ("type", "i8"),
        ("words", "i8"),  # where in `words` it is written down which of the type's nodes these are
        ("count", "i8"),  # how many
        ("first", "i8"),  # the lowest-numbered of them
        ("place", "i8"),  # in the list of stocks that have nodes
    ],
    align=True,
)
