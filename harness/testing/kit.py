"""`check_policy` and `PolicyTests`: run every check on corner cases and generated ones, and explain failures."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from harness.errors import HarnessError, did_you_mean
from harness.policy.kinds import Policy
from harness.testing import checks as _checks  # noqa: F401 - declares them
from harness.testing.cases import Case, cases, corner_cases
from harness.testing.declared_checks import CHECKS, GUARANTEES, Check
from harness.testing.resource_cases import ASKED
from harness.testing.subject import CheckError, RunStopped, Subject, find

#: The number of generated cases for a check.
EXAMPLES = 30


class PolicyFailure(AssertionError):  # noqa: N818 - as pytest says it
    """A policy fails a check; the message has the error, its importance, and the way to reproduce it."""

    def __init__(self, subject: Subject, check: Check, wrong: CheckError, case: Case, corner: str = "") -> None:
        if isinstance(wrong, RunStopped):
            check = CHECKS["runs"]
        self.check = check.name
        self.wrong = str(wrong)
        self.case = case
        name, hook = subject.policy.name, subject.policy.hook
        where = f", case {corner!r}" if corner else ""
        log = case.swf() if case.in_swf else _in_memory(case)
        super().__init__(
            f"the policy {name!r} ({hook}) fails the check {self.check!r}: {wrong}\n\n"
            f"why it matters: {check.why}.\n\n"
            f"the smallest workload that shows it (save it as failing.swf{where}):\n{log}\n"
            f"replayed by:\n{subject.command(case)}"
        )


def _in_memory(case: Case) -> str:
    columns = ["job", "submit", "procs", "work", "estimate", "cancel", *(ASKED if case.asking else ())]
    table = case.workload().jobs[columns].to_string(index=False)
    return f"{table}\n({'requests of jobs' if case.asking else 'jobs of 0 s'}: only a workload made in Python)\n"


def check_policy(
    policy: Policy | str,
    *,
    hook: str | None = None,
    plugins: Iterable[str | Path] = (),
    checks: Collection[str] | None = None,
    examples: int = EXAMPLES,
) -> None:
    """Run every check for the kind of a policy, or those in `checks`; raise `PolicyFailure` at the first failure.

    `policy` is a policy, or a specification such as `easy(reservations=2)` of a bundled or installed policy or one in
    `plugins`. `hook` distinguishes policies of the same name. Parameters that are words, truth values or orders are
    varied unless they are fixed in the specification.
    """
    subject = find(policy, hook, plugins)
    for check in chosen_checks(subject, checks):
        run_check(subject, check, examples)


def chosen_checks(subject: Subject, names: Collection[str] | None = None) -> list[Check]:
    """Return the checks that apply to the policy, limited to `names` if given."""
    for name in names or ():
        if name not in CHECKS:
            raise HarnessError(f"there is no check {name!r}; {did_you_mean(name, CHECKS)}")
    return [c for name, c in CHECKS.items() if (names is None or name in names) and c.applies(subject.policy)]


def run_check(
    subject: Subject, check: Check, examples: int = EXAMPLES, alive: Callable[[], None] = lambda: None
) -> None:
    """Run one check, on the corner cases first. Raise `PolicyFailure` with the smallest case that fails.

    `alive` is called before each case.
    """
    fixed = dict(subject.fixed)
    if check.name in GUARANTEES:  # guarantees hold for default switches: `conservative(replan=true)` has none
        switches = {name: value for name, value in subject.policy.parameters.items() if isinstance(value, bool)}
        fixed = switches | fixed
    kind = {name: check.cases[name] for name in ("equal", "bound") if name in check.cases}
    listed = corner_cases(subject.policy, fixed, crowds=check.crowds, **kind)
    seen = False  # whether the effect required by `check.never` was seen
    for corner, case in listed.items():
        alive()
        wrong, shown = _verdict(subject, check, case)
        if wrong:
            raise _explained(subject, check, wrong, case, corner)
        seen = seen or shown
    failures: list[tuple[CheckError, Case]] = []

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )
    @given(cases(subject.policy, fixed, **check.cases))
    def attempt(case: Case) -> None:
        alive()
        nonlocal seen
        if check.never and seen:
            return
        wrong, shown = _verdict(subject, check, case)
        seen = seen or shown
        if wrong:
            failures.append((wrong, case))
            raise wrong

    try:
        attempt()
    except Exception:  # the failure, or hypothesis's own error if it is not reproducible
        if not failures:
            raise
        raise _explained(subject, check, *failures[-1]) from None
    if check.never and not seen:
        corner, case = listed.popitem()
        raise PolicyFailure(subject, check, CheckError(check.never), case, corner)


def _verdict(subject: Subject, check: Check, case: Case) -> tuple[CheckError | None, bool]:
    """Return the failure of the check on the case, and whether the case shows the required effect."""
    try:
        return None, bool(check.run(subject, case))
    except CheckError as wrong:
        return wrong, False


def _explained(subject: Subject, check: Check, wrong: CheckError, case: Case, corner: str = "") -> PolicyFailure:
    """Return the failure for the smallest subset of the jobs that still shows it."""
    number = len(case.jobs)
    while number > 0 and len(case.jobs) > 1:
        number -= 1
        smaller = replace(case, jobs=case.jobs[:number] + case.jobs[number + 1 :])
        again, _ = _verdict(subject, check, smaller)
        if type(again) is type(wrong):
            wrong, case = again, smaller
    failure = PolicyFailure(subject, check, wrong, case, corner)
    failure.__cause__ = wrong.__cause__
    return failure


class PolicyTests:
    """Tests of one policy for pytest: inherit and set `policy`. Each check becomes a test.

        class TestMyPolicy(harness.testing.PolicyTests):
            policy = "my-policy"

    `policy`, `hook`, `plugins` and `examples` are as in `check_policy`.
    """

    policy: ClassVar[Policy | str]
    hook: ClassVar[str | None] = None
    plugins: ClassVar[Iterable[str | Path]] = ()
    examples: ClassVar[int] = EXAMPLES

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make a test of each check that applies."""
        if "check" in metafunc.fixturenames:
            names = [check.name for check in chosen_checks(find(self.policy, self.hook, self.plugins))]
            metafunc.parametrize("check", names)

    def test_policy(self, check: str) -> None:
        """Require that the policy passes this check."""
        check_policy(self.policy, hook=self.hook, plugins=self.plugins, checks=[check], examples=self.examples)
