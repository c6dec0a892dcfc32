"""Study of the thirty planted faults: which checks detect each of them.

Each fault of `planted_faults` is planted alone in a copy of the harness. The copy is put to the checks of
`harness.testing`. Its schedules of a few fixed workloads are compared with those of the sound harness.
`python tests/testing/mutations.py` writes reports/mutations.md. With numbers, `mutations.py 15 30`, it runs only these
rows of the table. Each row names the commit at which it was run.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planted_faults import FAULTS, Fault, file_of, plant

ROOT = Path(__file__).resolve().parent.parent.parent
REPORT = ROOT / "reports" / "mutations.md"
JUDGE = Path(__file__).with_name("judge.py")
MOST_SECONDS = 3600  # for one fault, on whatever machine
HEADING = "\n## Faults of every kind outside the engine\n"  # the rest of the page is rooms.py's


@dataclass(frozen=True)
class Verdict:
    """What the checks and the comparison of schedules say about one copy."""

    check: str  # the one that fails, or nothing
    schedules: dict[str, str]  # scheduler → digest, or what stopped it


def judge(fault: Fault | None, policy: str) -> Verdict:
    """Copy the harness, plant the fault, and look from another process, with nothing compiled."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        for folder in ("harness", "plugins", "policies", "platforms", "workloads", "reports"):
            shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
        if fault:
            plant(fault, tree)
        environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, str(JUDGE), policy]
        done = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, timeout=MOST_SECONDS)
        assert done.returncode == 0, f"{fault}\n{done.stderr}"
        return Verdict(**json.loads(done.stdout))


@dataclass(frozen=True)
class Row:
    """What the study says of one fault."""

    what: str
    where: str
    check: str  # that fails, or nothing
    differ: str  # how many schedules differ, or nothing
    commit: str  # as of which

    def cells(self) -> tuple[str, ...]:
        """Return what stands in the table."""
        return (self.what, self.where, self.check or "—", self.differ or "—", self.commit)


def study(faults: Sequence[Fault] = FAULTS) -> list[Row]:
    """Look at some of the faults, one after the other."""
    asked = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    sound = judge(None, "none")
    assert sound.check == ""
    rows = []
    for number, fault in enumerate(faults, 1):
        verdict = judge(fault, fault.policy)
        rows.append(
            Row(fault.what, file_of(fault, ROOT).as_posix(), verdict.check, _difference(sound, verdict), commit)
        )
        print(f"{number} of {len(faults)}: {rows[-1]}", file=sys.stderr, flush=True)
    return rows


def _difference(sound: Verdict, verdict: Verdict) -> str:
    """How many of the schedules are not what they were."""
    differ = sum(sound.schedules[name] != digest for name, digest in verdict.schedules.items())
    return f"{differ} of {len(sound.schedules)}" if differ else ""


def published() -> dict[str, Row]:
    """Fault → its row, as the page has it."""
    lines = REPORT.read_text(encoding="utf-8").partition(HEADING)[0].splitlines()
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines if line.startswith("|")][2:]
    rows = [Row(*(cell.strip("| ").replace("\\", "").replace("—", "") for cell in row)) for row in cells]
    return {row.what: row for row in rows}


def report(rows: Sequence[Row]) -> str:
    """The published page."""
    from harness.present.tables import render

    caught = sum(bool(row.check or row.differ) for row in rows)
    missed = [row.what for row in rows if not (row.check or row.differ)]
    by_kit = sum(bool(row.check) for row in rows)
    table = render(
        ("fault", "in", "check that fails", "schedules that differ", "as of"), [row.cells() for row in rows], "markdown"
    )
    return (
        "# Planted faults, and the checks that detect them\n\n"
        f"{len(rows)} small faults, each planted alone in a copy of the harness. `harness.testing` puts the policy "
        "concerned to its\nchecks. A regression check compares the schedules of fixed workloads with those of the "
        "sound harness. Only the\nregression check can detect a legal but different policy. Regenerate (15 "
        "minutes; with numbers, only these rows):\n\n"
        "    python tests/testing/mutations.py\n\n"
        f"{caught} of {len(rows)} are detected, {by_kit} of them by the checks alone. "
        f"Missed: {'; '.join(missed) if missed else 'none'}.\nThe last column is the commit at which a row "
        f"was run.\n\n{table}\n"
    )


def main(numbers: Sequence[int]) -> None:
    """Run some rows, or all, and write the page."""
    asked = [FAULTS[number - 1] for number in numbers] or FAULTS
    found = (published() if numbers else {}) | {row.what: row for row in study(asked)}
    _, heading, rest = REPORT.read_text(encoding="utf-8").partition(HEADING)
    REPORT.write_text(report([found[fault.what] for fault in FAULTS]) + heading + rest, encoding="utf-8")
    print(REPORT)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main([int(number) for number in sys.argv[1:]])
