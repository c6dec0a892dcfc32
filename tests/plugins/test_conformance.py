"""Every bundled policy passes every check of the shipped suite that applies to it."""

import pytest

from harness.policy.registry import Plugins
from harness.testing.declared_checks import CHECKS
from harness.testing.kit import run_check
from harness.testing.subject import find

POLICIES = [policy for offered in Plugins().policies.values() for policy in offered.values()]
PAIRS = [(policy, check) for policy in POLICIES for check in CHECKS.values() if check.applies(policy)]


@pytest.mark.quick_cases(30)
@pytest.mark.parametrize(
    ("policy", "check"), PAIRS, ids=[f"{policy.hook}-{policy.name}-{check.name}" for policy, check in PAIRS]
)
def test_bundled_policy_passes(policy, check):
    subject = find(policy.name, policy.hook)
    assert subject.plain == ""  # it is compiled
    run_check(subject, check, examples=2 if check.name == "fresh" else 6)  # that one runs in plain Python, five times
