"""Thirty small faults, planted one at a time: does anybody notice?

Each fault is one replacement of text in a copy of the harness. The copy is put to the checks of `harness.testing`, and
its schedules of a few fixed workloads are compared with those of the sound harness, as a regression check would.
`python tests/testing/mutations.py` writes reports/mutations.md; with numbers, `mutations.py 15 30`, it runs these rows
of the table again and leaves the others as they are. Each row says as of which commit it is.
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

ROOT = Path(__file__).resolve().parent.parent.parent
REPORT = ROOT / "reports" / "mutations.md"
JUDGE = Path(__file__).with_name("judge.py")
MOST_SECONDS = 3600  # for one fault, on whatever machine
HEADING = "\n## Faults of every kind outside the engine\n"  # the rest of the page is rooms.py's


@dataclass(frozen=True)
class Fault:
    """One replacement, and the policy that is put to the checks."""

    what: str
    file: str
    old: str
    new: str
    policy: str


STARTS, ORDERS, SELECTIONS = "plugins/start_jobs.py", "plugins/order_queue.py", "plugins/select_resources.py"
GREEDY = "plugins/start_jobs_greedily.py"
CONSERVATIVE, PREEMPTION = "plugins/start_jobs_promised.py", "plugins/start_jobs_by_preemption.py"
OVERTAKING, COMPRESSION, PROMISED = (
    f"harness/engine/{name}.py" for name in ("overtaking", "compression", "promised_starts")
)
QUEUE, SCORING, BLOCKED, NODES, SERVICE, STOCKS = (
    f"harness/engine/{name}.py" for name in ("queue", "scoring", "blocked", "nodes", "service", "stocks")
)

FAULTS = (
    # start policies
    Fault(
        "none looks behind the first that does not fit",
        STARTS,
        "while job >= 0 and harness.fits(state, job) and harness.start(state, job):",
        "while job >= 0 and (not harness.fits(state, job) or harness.start(state, job)):",
        "none",
    ),
    Fault(
        "greedy wants a processor left over",
        GREEDY,
        "if harness.fits(state, job):",
        "if state.jobs[job].procs < state.clock.free:",
        "greedy",
    ),
    Fault(
        "easy: < for ≤ at the reservation",
        STARTS,
        "if not harness.later(now + state.jobs[job].left, at):",
        "if harness.later(at, now + state.jobs[job].left):",
        "easy",
    ),
    Fault(
        "easy forgets what time it is",
        STARTS,
        "if not harness.later(now + state.jobs[job].left, at):",
        "if not harness.later(state.jobs[job].left, at):",
        "easy",
    ),
    Fault(
        "easy: < for ≤ of the spare processors",
        STARTS,
        "            if burden <= spare and harness.fits(state, job) and",
        "            if burden < spare and harness.fits(state, job) and",
        "easy",
    ),
    Fault(
        "easy gives spare processors away twice",
        STARTS,
        "                spare -= burden\n\n\ndef easy_molding",
        "                pass\n\n\ndef easy_molding",
        "easy",
    ),
    Fault(
        "easy leaves one processor unused",
        OVERTAKING,
        "return procs <= clock.free and",
        "return procs < clock.free and",
        "easy",
    ),
    Fault(
        "easy counts one spare processor too many",
        STARTS,
        "            burden = harness.burden(state, job, head)\n",
        "            burden = harness.burden(state, job, head) - 1\n",
        "easy",
    ),
    Fault(
        "easy(reservations=2) protects one more",
        STARTS,
        "left = reservations\n    job = harness.next_waiting(state, -1)\n    while job >= 0 and left > 0:\n"
        "        record = state.jobs[job]\n        at",
        "left = reservations + 1\n    job = harness.next_waiting(state, -1)\n    while job >= 0 and left > 0:\n"
        "        record = state.jobs[job]\n        at",
        "easy(reservations=2)",
    ),
    Fault(
        "conservative does not lift a reservation that it moves",
        COMPRESSION,
        "    if gap < np.inf:\n        change(state, procs, 1, gap, over)\n",
        "",
        "conservative",
    ),
    Fault(
        "conservative gives a second too little back",
        CONSERVATIVE,
        "begin, end = now, record.planned\n",
        "begin, end = now, record.planned - 1.0\n",
        "conservative",
    ),
    Fault(
        "conservative never compresses",
        CONSERVATIVE,
        "if give_back_unused(state):",
        "if not state.clock:",
        "conservative",
    ),
    Fault(
        "conservative: ≥ for > when a job is due",
        PROMISED,
        "due = not when(state, state.promised[job]) > now",
        "due = not when(state, state.promised[job]) >= now",
        "conservative",
    ),
    Fault(
        "conservative reserves a second for everybody",
        CONSERVATIVE,
        "    harness.promise_at(state, job, harness.earliest_fit(state, record.procs, record.left))\n",
        "    harness.promise_at(state, job, harness.earliest_fit(state, record.procs, 1.0))\n",
        "conservative",
    ),
    Fault(
        "conservative does not ask to be woken",
        CONSERVATIVE,
        "    if soonest < harness.INFINITY:\n        harness.call_again(state, harness.when(state, soonest))\n"
        "    return upset\n\n\ndef conservative_by_nodes",
        "    return upset\n\n\ndef conservative_by_nodes",
        "conservative",
    ),
    Fault(
        "preempt serves nobody who fills the machine",
        SCORING,
        "state.jobs[first].procs > procs:",
        "state.jobs[first].procs >= procs:",
        "preempt",
    ),
    Fault(
        "preempt(at=departure) lets newcomers in while others wait",
        PREEMPTION,
        "clock.queued == clock.arrived:",
        "clock.queued >= clock.arrived:",
        "preempt(at=departure)",
    ),
    # orders
    Fault("wfp3 does not say that it varies", ORDERS, "varies=True, falls=True, least", "least", "wfp3"),
    Fault(
        "spf forgets what a suspended job has done",
        ORDERS,
        "    return job.left\n\n\ndef lpf",
        "    return job.estimate\n\n\ndef lpf",
        "spf",
    ),
    Fault("unicef takes the logarithm of 1", ORDERS, "max(job.procs, 2)", "max(job.procs, 1)", "unicef"),
    Fault("lcfs without its sign", ORDERS, "return -job.submit", "return job.submit", "lcfs"),
    # selections and energy
    Fault(
        "first-fit forgets the first node",
        SELECTIONS,
        'processors."""\n    need = state.jobs[job].procs\n    node = -1\n    while',
        'processors."""\n    need = state.jobs[job].procs\n    node = 0\n    while',
        "first-fit",
    ),
    Fault(
        "first-fit and others ignore memory",
        SELECTIONS,
        "    procs = min(need, harness.room(state, job, node))\n    if procs",
        "    procs = min(need, state.nodes[node].free)\n    if procs",
        "first-fit",
    ),
    Fault(
        "worst-fit passes by a node of a stock",
        STOCKS,
        "stock.first = first + bit_from(state, stock.words, size, node - first)",
        "stock.first = first + bit_from(state, stock.words, size, node - first + 2)",
        "worst-fit",
    ),
    Fault(
        "cores charges idle power twice",
        "plugins/account_energy.py",
        "node.idle * (node.cores - node.busy)",
        "node.idle * node.cores",
        "cores",
    ),
    # the engine under the start rules
    Fault(
        "the queue: the later of two equals goes first",
        QUEUE,
        "if before < score or (before == score and other < job):",
        "if before < score or (before == score and other > job):",
        "none",
    ),
    Fault(
        "a reservation counts completions only up to the first sufficient one",
        BLOCKED,
        "while left >= 0 and not (free >= need and later(when_planned(state, left), at)):",
        "while left >= 0 and not free >= need:",
        "easy",
    ),
    Fault(
        "a node does not get its cores back",
        NODES,
        "    record.free += cores\n",
        "",
        "easy",
    ),
    Fault(
        "a job is served for as long as it asked for",
        SERVICE,
        "truth.due = clock.virtual + stretched(clock, truth.work, record.speed)",
        "truth.due = clock.virtual + stretched(clock, record.left, record.speed)",
        "none",
    ),
    Fault(
        "a suspended job keeps its stale estimate",
        SERVICE,
        "    record.left = max(0.0, (record.planned - clock.virtual) * record.speed)\n",
        "",
        "gang",
    ),
)


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
            path = tree / fault.file
            text = path.read_text(encoding="utf-8")
            assert text.count(fault.old) == 1, f"{fault.what}: its text is no longer there once; plant it elsewhere"
            path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
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
        rows.append(Row(fault.what, fault.file, verdict.check, _difference(sound, verdict), commit))
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
        "# Planted faults, and who notices\n\n"
        f"{len(rows)} small faults, each planted alone in a copy of the harness. `harness.testing` puts the policy "
        "concerned to its\nchecks; a regression check compares the schedules of fixed workloads with those of the "
        "sound harness. A legal but different\npolicy can only be seen by the second. Regenerate (a quarter of an "
        "hour; with numbers of rows behind it, these alone):\n\n"
        "    python tests/testing/mutations.py\n\n"
        f"{caught} of {len(rows)} are caught, {by_kit} of them by the checks alone. "
        f"Missed: {'; '.join(missed) if missed else 'none'}.\nThe last column is the commit as of which a row "
        f"was found.\n\n{table}\n"
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
