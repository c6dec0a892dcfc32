"""The data that policies may see, what they may write, and the words of a refusal.

The views of compiled code (`harness.numba_support.readonly_types`) and of plain Python
(`harness.policy_api.readonly_views`) follow this description. `vocabulary` has the functions that policies may call.
"""

from harness.errors import HarnessError

#: The parts of the state that policies see.
PARTS = ("jobs", "nodes", "slices", "clock", "paces", "naps")

#: The parts of which policies see only the first records, and the field of the clock with their number.
LENGTHS = {"jobs": "next"}

#: The fields of jobs that policies of a hook may write.
WRITABLE = {"start_jobs": ("reserved",)}


class Misuse(HarnessError):  # noqa: N818 - the engine makes a PolicyError of it, which names the policy and the time
    """A policy exceeded its permissions; the message continues a sentence that begins with the policy's name."""


def changed(field: str) -> str:
    """Return the words for a policy that wrote a field which it may only read."""
    return f"changed {field!r} of a record: expected it to be only read (but for job.reserved, by a start policy)"


def beyond(label: str) -> str:
    """Return the words for a policy that used an index which an array lacks."""
    return f"used an index that {label} does not have"
