"""Check a plugin in a separate process, so that it cannot prevent a verdict."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.disk.child_process import ChildProcess
from harness.errors import HarnessError
from harness.testing import kit
from harness.testing.offered import offered_policies
from harness.testing.subject import find

#: The longest time of a case, including compilation [s].
PATIENCE = 60.0


@dataclass(frozen=True)
class Checked:
    """The result of the checks of one policy."""

    policy: str
    hook: str
    passed: int
    of: int
    failed: str = ""  # the name of the failed check
    why: str = ""


def check_plugin(what: str, examples: int, tell: Callable[[str], None], patience: float = PATIENCE) -> list[Checked]:
    """Check every policy that `what` offers in another process, and in a new one if a policy ends it.

    `tell` is called with the current check.
    """
    results: list[Checked] = []
    while True:
        now: dict[str, Any] = {"policy": "", "hook": "", "check": "", "passed": 0, "of": 0}
        for said in _said(what, examples, len(results), patience):
            match said:
                case {"refused": sentence}:
                    raise HarnessError(str(sentence))
                case {"note": note}:
                    print(note, file=sys.stderr)
                case {"checked": checked}:
                    results.append(Checked(**checked))
                case {"over": True}:
                    return results
                case {"ended": how} if not now["policy"]:
                    raise HarnessError(f"{what}: it {how} while it was loaded: expected a plugin that can be imported")
                case {"ended": how}:
                    where = f"the policy {now['policy']!r} ({now['hook']}) {how}, in the check {now['check']!r}"
                    results.append(Checked(now["policy"], now["hook"], now["passed"], now["of"], now["check"], where))
                case {"policy": policy}:
                    now = said
                    tell(f"{policy}: {said['check']} ({said['passed'] + 1} of {said['of']})")


def _said(what: str, examples: int, skip: int, patience: float) -> Iterator[dict[str, Any]]:
    """Yield the messages of the other process, and how it ended if that was before the last check."""
    with ChildProcess(__name__, what, str(examples), str(skip)) as child:
        try:
            while (line := child.line(patience)) is not None:
                said = json.loads(line)
                yield said
                if said.get("over") is True:  # a policy may have this name
                    return
            yield {"ended": child.ending(patience)}
        except TimeoutError:
            yield {"ended": f"does not return: no answer for {patience:g} s"}


def _check_here(what: str, examples: int, skip: int, say: Callable[[dict[str, Any]], None]) -> None:
    """Check the policies after the first `skip`, in the other process, and report each step."""
    plugins, policies = offered_policies(what)
    for policy in policies[skip:]:
        said = {"policy": policy.name, "hook": policy.hook, "check": "runs", "passed": 0, "of": 0}
        say(said)
        try:
            subject = find(policy.name, policy.hook, plugins)
        except (ArithmeticError, MemoryError) as error:  # for example if its memory is too large
            why = f"the policy {policy.name!r} ({policy.hook}) cannot be prepared: {type(error).__name__}: {error}"
            say({"checked": vars(Checked(policy.name, policy.hook, 0, 1, "runs", why))})
            continue
        if subject.plain:
            say({"note": f"{policy.name} runs as plain Python: {subject.plain}"})
        checks = kit.chosen_checks(subject)
        checked = Checked(policy.name, policy.hook, len(checks), len(checks))
        for passed, check in enumerate(checks):
            say(said | {"check": check.name, "passed": passed, "of": len(checks)})
            try:
                kit.run_check(subject, check, examples, lambda: say({}))
            except kit.PolicyFailure as failure:
                checked = Checked(policy.name, policy.hook, passed, len(checks), failure.check, str(failure))
                break
        say({"checked": vars(checked)})
    say({"over": True})


def main() -> None:
    """Run the checks of the command line, and write messages to the file descriptor given last."""
    what, examples, skip, number = sys.argv[1:]
    with os.fdopen(int(number), "w", encoding="utf-8") as pipe:

        def say(thing: dict[str, Any]) -> None:
            print(json.dumps(thing), file=pipe, flush=True)

        try:
            _check_here(what, int(examples), int(skip), say)
        except HarnessError as error:
            say({"refused": str(error)})


if __name__ == "__main__":
    main()
