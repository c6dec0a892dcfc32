"""The layout of the line of vacant nodes, see `vacancies.py`."""

import numpy as np

#: Where a node stands in the line: −1 behind it is nowhere.
VACANCY = np.dtype([("behind", "i8"), ("before", "i8")], align=True)
