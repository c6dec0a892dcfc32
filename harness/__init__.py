"""Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.

For users: `simulate`, `Scheduler`, `read_workload`, `read_platform`, …
For authors of plugins: `hookimpl`, the policy kinds (`Order`, `Start`, `Select`, `Rate`, `Sleep`, `Energy`), and the
functions that policies may call (`waiting`, `fits`, `start`, `room`, `take`, …).

`__init__.pyi` lists the public names, for type checkers and for this module. Each is loaded at its first use, so that
the import of the package is fast.
"""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
