"""Small faults of every kind, drawn room by room: does a test see them?

`python tests/testing/rooms.py` runs the study and writes its part of reports/mutations.md; `rooms.py ROOM … COUNT`
looks at COUNT faults of each room named, and prints those that nobody sees. Interrupted, it goes on where it was.
"""

import hashlib
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import numba  # noqa: F401 - what is slow to import is imported once, before the forks
import pandas as pd  # noqa: F401
import pydantic  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
import typer  # noqa: F401
from equivalent import EQUIVALENT
from mutants import Mutant, mutants, planted
from mutations import HEADING, REPORT, ROOT

ROOMS = ("workload", "results", "ranking", "gate", "theory", "report", "platform")

#: Faults drawn from each room.
COUNT = 15

#: Tests of one fault take so much processor time at most, one test so much [s].
BUDGET, LONGEST = 20.0, 4.0

#: What was found so far: the study takes long, and goes on where it was interrupted.
KEPT = ROOT / ".faults"

_QUIET = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--hypothesis-seed=0",
    "-Wignore::pytest.PytestAssertRewriteWarning",
    "--ignore=tests/report/test_browser.py",
]
_WHICH = ["-m", "not study and not slow and not data"]

#: All tests pass, or there are none.
_UNSEEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

#: What a process ends with where it is this study that fails, and no test.
_OUR_FAULT = 70


class Chosen:
    """Keeps the tests that are named, in that order."""

    def __init__(self, names: list[str]) -> None:
        self.place = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda item: self.place[item.nodeid])


class Tracing:
    """Writes down which test executes which line, and how long it takes."""

    def __init__(self, room: str) -> None:
        import coverage

        self.coverage = coverage.Coverage(data_file=None, source=[str(ROOT / "harness" / room)], config_file=False)
        self.took: dict[str, float] = defaultdict(float)
        self.coverage.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.took[report.nodeid] += math.inf  # nobody can tell by it

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        before = time.process_time()
        result = yield
        self.took[item.nodeid] += time.process_time() - before
        return result

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()

    def lines(self) -> dict[str, dict[int, list[str]]]:
        data = self.coverage.get_data()
        return {
            str(Path(path).relative_to(ROOT)): {
                line: sorted(filter(None, contexts)) for line, contexts in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }


@dataclass(frozen=True)
class Coverage:
    """Which test executes which line, and how long it takes [s]."""

    lines: dict[str, dict[str, list[str]]]
    took: dict[str, float]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Those that execute the line first, then others of their files, which may share what was executed once."""
        lines = self.lines.get(mutant.file, {})
        near = set(lines.get(str(mutant.line)) or {test for tests in lines.values() for test in tests})
        files = {test.split("::")[0] for test in near}
        tests = sorted(
            (test for test in self.took if test in near or test.split("::")[0] in files),
            key=lambda test: (test not in near, self.took[test]),
        )
        chosen, spent = [], 0.0
        for test in tests:
            if self.took[test] <= min(LONGEST, BUDGET - spent):
                chosen.append(test)
                spent += self.took[test]
        return chosen


def apart(work: Callable[[Path], int], scratch: Path) -> int:
    """Do `work` in a process of its own, in silence; return how that ended."""
    if pid := os.fork():
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert ended != _OUR_FAULT, (scratch / "said").read_text(encoding="utf-8")
        return ended
    try:
        os.setsid()
        scratch.mkdir()
        said = os.open(scratch / "said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(scratch)
        hypothesis.settings.register_profile(
            "faults",
            database=None,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        )
        hypothesis.settings.load_profile("faults")
        code = work(scratch)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        code = _OUR_FAULT
    sys.stdout.flush()
    os._exit(code)


def traced(room: str, target: Path) -> Callable[[Path], int]:
    def work(scratch: Path) -> int:
        tracing = Tracing(room)
        pytest.main([*_QUIET, *_WHICH, f"--basetemp={scratch / 'tests'}", f"tests/{room}"], plugins=[tracing])
        target.write_text(json.dumps({"lines": tracing.lines(), "took": tracing.took}), encoding="utf-8")
        return 0

    return work


def copied(mutant: Mutant, copy: Path) -> None:
    """Make a copy of the house, with the fault, to be in, and to be imported from by whatever process."""
    copy.mkdir()
    for path in ROOT.iterdir():
        if path.name in ("harness", "tests"):
            shutil.copytree(path, copy / path.name)
        elif not path.name.startswith("."):
            (copy / path.name).symlink_to(path)
    text = (copy / mutant.file).read_text(encoding="utf-8")
    (copy / mutant.file).write_text(planted(text, mutant), encoding="utf-8")
    os.environ["PYTHONPATH"] = str(copy)
    sys.path.insert(0, str(copy))
    os.chdir(copy)


def tried(mutant: Mutant, tests: list[str]) -> Callable[[Path], int]:
    def work(scratch: Path) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        signal.alarm(900)
        copied(mutant, scratch / "copy")
        files = sorted({test.split("::")[0] for test in tests})
        return int(
            pytest.main(["-x", *_QUIET, *_WHICH, f"--basetemp={scratch / 'tests'}", *files], plugins=[Chosen(tests)])
        )

    return work


def look(room: str, kept: Path) -> Coverage:
    """Run the tests of a room once, to see which execute what."""
    target = kept / f"{room}.json"
    if not target.exists():
        with tempfile.TemporaryDirectory() as scratch:
            apart(traced(room, target), Path(scratch) / room)
    return Coverage(**json.loads(target.read_text(encoding="utf-8")))


def drawn(room: str, count: int) -> list[Mutant]:
    """Faults of a room, by lot."""
    files = sorted((ROOT / "harness" / room).rglob("*.py"))
    every = [m for path in files for m in mutants(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))]
    return sorted(every, key=lambda mutant: mutant.lot)[:count]


def seen(mutant: Mutant, tests: list[str]) -> bool:
    """Plant a fault; return whether a test fails, or does not come to an end. Where no test is run, none sees it."""
    if not tests:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        return apart(tried(mutant, tests), Path(scratch) / "fault") not in _UNSEEN


def kept_of(room: str) -> Path:
    """The folder of what was found in a room, as it and its tests are now."""
    texts = [path.read_bytes() for part in ("harness", "tests") for path in sorted((ROOT / part / room).rglob("*.py"))]
    kept = KEPT / f"{room}-{hashlib.sha256(b''.join(texts)).hexdigest()[:12]}"
    kept.mkdir(parents=True, exist_ok=True)
    return kept


@dataclass(frozen=True)
class Found:
    """What became of the faults of one room."""

    room: str
    harmless: list[Mutant]
    missed: list[Mutant]
    seen: int


def study(room: str, count: int = COUNT) -> Found:
    """Draw so many faults of a room, plant them one at a time, and say which are seen."""
    os.environ.pop("HARNESS_DATA", None)  # anybody gets the same
    kept = kept_of(room)
    coverage = look(room, kept)
    faults = drawn(room, count)
    missed = []
    for fault in faults:
        verdict = kept / fault.lot
        if fault.key in EQUIVALENT:
            continue
        if not verdict.exists():
            verdict.write_text("seen" if seen(fault, coverage.tests_of(fault)) else "not seen", encoding="utf-8")
        if verdict.read_text(encoding="utf-8") != "seen":
            missed.append(fault)
            print(f"{fault.file}:{fault.line}", *fault.told, sep="\n    ", flush=True)
    harmless = [fault for fault in faults if fault.key in EQUIVALENT]
    return Found(room, harmless, missed, len(faults) - len(harmless) - len(missed))


def report(found: list[Found], commit: str) -> str:
    """The part of the published page."""
    from harness.present.tables import render

    rows: list[tuple[object, ...]] = [
        (one.room, one.seen + len(one.missed) + len(one.harmless), one.seen, len(one.harmless), len(one.missed))
        for one in found
    ]
    planted, seen, harmless, missed = (sum(row[place] for row in rows) for place in range(1, 5))  # type: ignore[misc]
    rows.append(("together", planted, seen, harmless, missed))
    text = (
        f"{HEADING}\n{planted} of {COUNT * len(found)} random faults in the folders outside the engine,\n"
        f"as of commit {commit}. Each was planted alone. Kinds of faults:\n\n"
        "- a comparison with or without equality, a condition negated;\n"
        "- plus for minus, min for max, sum for mean, and for or;\n"
        "- a number one more or less;\n"
        "- a statement removed, arguments or branches exchanged.\n\n"
        "The tests of the folder that execute the changed line are run, and other tests of their files. Tests that\n"
        "take longer than a few seconds are left out. A fault is not seen if all these tests pass. Regenerate (an\n"
        "hour; results are stored in .faults, and an interrupted study continues):\n\n"
        "    python tests/testing/rooms.py\n\n"
        f"{seen} of the {planted - harmless} that change anything are seen, {seen / (planted - harmless):.1%}.\n\n"
        + render(("room", "faults", "seen", "change nothing", "not seen"), rows, "markdown")
    )
    for title, faults in (
        ("Not seen", [fault for one in found for fault in one.missed]),
        ("Change nothing", [fault for one in found for fault in one.harmless]),
    ):
        if faults:
            told = [
                (
                    fault.file.removeprefix("harness/"),
                    *fault.told,
                    EQUIVALENT.get(fault.key, ""),
                )
                for fault in faults
            ]
            text += f"\n\n{title}:\n\n" + render(("file", "statement", "with the fault", "why"), told, "markdown")
    return text + "\n"


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word in ROOMS]
    limits = [int(word) for word in sys.argv[1:] if word.isdigit()]
    outcome = [study(room, *limits) for room in chosen or ROOMS]
    if len(sys.argv) == 1:
        sys.path.insert(0, str(ROOT))
        commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
        page = REPORT.read_text(encoding="utf-8").partition(HEADING)[0] + report(outcome, commit)
        REPORT.write_text(page, encoding="utf-8")
