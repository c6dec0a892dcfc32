"""Test a policy with the checks that the harness uses for its own policies: one call, or one class with one line.

    import harness.testing

    harness.testing.check_policy("my-policy", plugins=["my_policy.py"])  # raises PolicyFailure, which explains

    class TestMyPolicy(harness.testing.PolicyTests):  # or, for pytest: one test for every check
        policy = "my-policy"

Hypothesis generates small workloads. A failure prints the smallest workload that shows it, with the command that
replays it. The same policy always gets the same cases.
"""

from harness.errors import HarnessError

try:
    import hypothesis  # noqa: F401
except ImportError:
    raise HarnessError("harness.testing needs hypothesis: pip install 'sched-harness[testing]'") from None

from harness.testing.kit import PolicyFailure, PolicyTests, check_policy
from harness.testing.subject import Subject

__all__ = ["PolicyFailure", "PolicyTests", "Subject", "check_policy"]
