"""Tournaments: every combination of a field, resumable, on all cores or a cluster, ranked with statistics.

`harness.tournament("classic")` runs one: the package is itself the function that people look for under this name,
`harness.tournament.runner.tournament`, where its parameters are explained.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.tournament.results import Results


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> "Results":
        from harness.tournament.runner import tournament

        return tournament(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
