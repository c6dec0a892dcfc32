"""A small log, and what one call of the command gives."""

from collections.abc import Callable
from dataclasses import dataclass

#: One SWF line a job: 1 s of submit apart, 10 s long, `procs` wide, on a machine of four.
HEADER = "; MaxProcs: 4\n"


def swf_line(job: int, procs: int = 1, run: int = 10) -> str:
    """A complete line of a log."""
    return f"{job} {job} -1 {run} {procs} -1 -1 {procs} {run + 5} -1 1 {job % 3} -1 -1 -1 -1 -1 -1\n"


@dataclass(frozen=True)
class Answer:
    """What one call gave."""

    status: int
    out: str
    err: str


Call = Callable[..., Answer]
