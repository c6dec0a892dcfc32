"""Check of the state that policies declare to read, against what they read in plain Python."""

import itertools

from harness.policy.reads import covers
from harness.policy_api.readonly_views import recording
from harness.testing.cases import Case
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Subject


@check(
    "reads",
    "the engine keeps up to date only what policies declare to read: one that reads more decides by old values",
    applies=lambda policy: policy.reads is not None,
)
def reads_as_declared(subject: Subject, case: Case) -> None:
    """Require of a policy with reads= that it reads nothing else."""
    with recording() as found:
        subject.run(case, plain=True)
    for policies, names in found.items():
        declared = [one.reads for one in policies if policies[0].hook == subject.policy.hook]
        reads = tuple(itertools.chain(*(one or () for one in declared)))
        for name in sorted(names) if declared and None not in declared else ():
            if not covers(reads, name):
                raise CheckError(
                    f"it reads {name}, which its reads= does not name: expected {name!r} there, or no reads="
                )
