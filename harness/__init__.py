"""Benchmark batch-scheduling policies of supercomputers: every decision a plugin, at compiled speed.

For users: `simulate`, `Scheduler`, `read_workload`, `read_platform`, …
For plugin authors: `hookimpl`, the policy kinds (`Order`, `Start`, `Select`, `Rate`, `Sleep`, `Energy`), and what
their functions may call (`waiting`, `fits`, `start`, `room`, `take`, …).

What is public is listed once, in `__init__.pyi`, for type checkers and for this file: names are loaded when they are
first used, so that importing the package stays quick.
"""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
