"""Compiled kernels on disk: found again, never confused, never stale."""

import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core import config

import harness
from harness.engine import policy_kernels
from harness.engine.loop import compiled_loop
from harness.errors import HarnessError
from harness.numba_support import code_cache
from harness.policy.spec import Choice

needs_numba = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

PLUGIN = """
import harness

def score(job, clock):
    return {score}

@harness.hookimpl
def order_queue():
    return [harness.Order("{name}", score)]
"""

RUN = """
import sys, warnings
import harness
warnings.simplefilter("error", harness.PlainPython)
log = harness.lublin(jobs=300, procs=64, seed=3)
for order, plugins in zip(sys.argv[1::2], sys.argv[2::2]):
    schedule = harness.simulate(log, 64, harness.Scheduler(order=order, start="none"), plugins=plugins.split(","))
    print(schedule.digest)
"""


@pytest.fixture
def run(tmp_path):
    """Run the given orders in a process of their own that keeps kernels in `tmp_path`; their schedules' digests.

    What is kept of the engine already is there from the start: compiling it takes half a minute.
    """
    compiled_loop()
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(mode=0o700, parents=True)
    for kept in code_cache.kernel_folder().glob("*.kernel"):
        if not kept.name.startswith("order_queue_"):
            shutil.copy(kept, folder)

    def runner(*arguments):
        environment = {**os.environ, "HARNESS_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", RUN, *map(str, arguments)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return runner


def plugin(folder, name, score):
    path = folder / f"{name}.py"
    path.write_text(PLUGIN.format(name=name, score=score))
    return path


@pytest.mark.slow
def test_kernels_of_different_processes_stay_apart(run, tmp_path):
    """Functions are linked by name: two cached kernels must not become one when a third process loads both."""
    narrow = plugin(tmp_path, "narrow", "float(job.procs)")
    wide = plugin(tmp_path, "wide", "-float(job.procs)")
    alone = run("narrow", narrow) + run("wide", wide)
    assert alone[0] != alone[1]
    assert run("narrow", narrow, "wide", wide) == alone
    assert run("wide", wide, "narrow", narrow) == alone[::-1]


@pytest.mark.slow
def test_kept_code_that_wants_more_of_numba_than_most_finds_it(run, tmp_path):
    """Numba tells where its hash function lies only when it gets ready to compile, which kept code avoids."""
    hashing = plugin(tmp_path, "hashing", "float(hash(job.submit + 0.5) % 7)")
    assert run("hashing", hashing) == run("hashing", hashing)


PLACES = """
import importlib, pkgutil
from harness.engine import loop
from harness.engine.run_state import STATE
before = sorted(STATE.kernels)
import harness.engine
for room in pkgutil.iter_modules(harness.engine.__path__):
    importlib.import_module(f"harness.engine.{room.name}")
assert before == sorted(STATE.kernels), set(STATE.kernels) - set(before)
"""


def test_the_loop_knows_every_verb_that_policies_call_through_it():
    """Whoever asks for the loop first compiles it: a verb unknown then would be no address in every later run."""
    subprocess.run([sys.executable, "-c", PLACES], check=True, timeout=100)


#: Code that raises keeps the name of its module.
REFUSING = """
from numba import njit

@njit
def refuse(x):
    if x < 0:
        raise ValueError(x)
    return x
"""

WRAPS = """
import harness

def score(job, clock, of="inner"):
    return -of

@harness.hookimpl
def order_queue():
    return [harness.Order("outer", score, order="of")]
"""


@pytest.mark.slow
def test_what_a_wrapped_order_was_compiled_from_may_lie_elsewhere_now(run, tmp_path):
    """Kept code names the modules of all its functions: one of them in another folder is another module."""
    outer = tmp_path / "outer.py"
    outer.write_text(WRAPS)
    found = set()
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        inner = plugin(tmp_path / place, "inner", "refuse(job.procs)")
        inner.write_text(REFUSING + inner.read_text())
        found.add(tuple(run("outer", f"{outer},{inner}")))
    assert len(found) == 1


@pytest.mark.slow
def test_kept_code_that_names_a_module_that_is_gone_is_compiled_anew(run, tmp_path):
    """What a plugin calls has moved to another file: the same code, but kept code looks for it by its old name."""
    found = set()
    for name in ("former", "present"):
        for old in tmp_path.glob("*.py"):
            old.unlink()
        (tmp_path / f"{name}_helpers.py").write_text(REFUSING)
        path = plugin(tmp_path, "mine", "refuse(job.procs)")
        path.write_text(
            f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom {name}_helpers import refuse\n{path.read_text()}"
        )
        found.add(tuple(run("mine", path)))
    assert len(found) == 1


@pytest.mark.slow
def test_an_edited_plugin_is_compiled_anew(run, tmp_path):
    first = run("mine", plugin(tmp_path, "mine", "float(job.procs)"))
    helper = "import harness\n\nSIGN = {sign}\n\ndef score(job, clock):\n    return SIGN * job.procs\n"
    implementation = PLUGIN[PLUGIN.index("@harness") :].format(name="mine", score="")
    path = tmp_path / "mine.py"
    path.write_text(helper.format(sign="1.0") + "\n" + implementation)
    same = run("mine", path)
    path.write_text(helper.format(sign="-1.0") + "\n" + implementation)  # only a constant it refers to changes
    assert same == first
    assert run("mine", path) != first
    kernels = len(list((tmp_path / "cache" / "kernels").glob("order_queue_*.kernel")))
    assert run("mine", path) != first
    assert len(list((tmp_path / "cache" / "kernels").glob("order_queue_*.kernel"))) == kernels


def test_a_fingerprint_changes_with_what_numba_would_freeze():
    from harness.numba_support.fingerprint import fingerprint

    def make(weights, factor):
        def score(job, clock):
            return weights[0] * factor

        return score

    first = fingerprint(make(np.array([1.0, 0.0]), np.int64(1)))
    assert first == fingerprint(make(np.array([1.0, 0.0]), np.int64(1)))
    assert first != fingerprint(make(np.array([0.0, 1.0]), np.int64(1)))
    assert first != fingerprint(make(np.array([1.0, 0.0]), np.int64(-1)))


SMALL = "def kernel(x):\n    return x + {more}\n"


def small(more):
    """A kernel, compiled or loaded anew each time: it is not remembered in this process."""
    return code_cache.compile_and_keep("small", SMALL.format(more=more), {}, types.int64(types.int64))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where kernels are kept, and what was compiled for it."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return tmp_path / "kernels"


@needs_numba
def test_a_kept_kernel_is_loaded_and_not_compiled(folder, monkeypatch):
    compiled = []
    monkeypatch.setattr(code_cache, "on_compiling", [compiled.append])
    assert (small(1)(1), small(1)(1), small(2)(1)) == (2, 2, 3)
    assert compiled == ["small", "small"]
    assert len(list(folder.iterdir())) == 2


@needs_numba
@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_kernel_is_compiled_anew_and_said(folder, seed):
    """Flipped bytes, a file cut short or grown, or nothing at all: never is any of it loaded."""
    assert small(seed)(1) == seed + 1
    (path,) = folder.iterdir()
    content = bytearray(path.read_bytes())
    draw = random.Random(seed)
    if seed % 4 == 0:
        del content[draw.randrange(len(content)) :]
    elif seed % 4 == 1:
        content += b"more"
    else:
        for _ in range(seed):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="is damaged: this kernel is compiled anew"):
        assert small(seed)(1) == seed + 1
    assert small(seed)(1) == seed + 1  # kept again, without a word


@needs_numba
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such permissions")
def test_the_folder_and_its_files_are_their_users_alone(folder):
    before = os.umask(0)
    try:
        small(1)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@needs_numba
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such permissions")
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_code_that_others_may_have_written_is_refused(folder, mode):
    small(1)
    (path,) = folder.iterdir()
    for place in (path, folder):
        place.chmod(stat.S_IMODE(place.stat().st_mode) | mode)
        with pytest.raises(HarnessError, match=r"may be written by others.*chmod go-w .*HARNESS_CACHE"):
            small(1)
        place.chmod(stat.S_IMODE(place.stat().st_mode) & ~mode)
        assert small(1)(1) == 2


@needs_numba
def test_a_folder_of_somebody_else_is_refused(folder, monkeypatch):
    small(1)
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    os.chown(folder, mine + 2, -1) if mine == 0 else None
    with pytest.raises(HarnessError, match="belongs to another user"):
        small(1)


@needs_numba
def test_nothing_is_kept_by_numba_itself(tmp_path):
    """It would believe whatever lies there."""
    command = [sys.executable, "-m", "harness", "theory", "delays", "lublin(jobs=9, procs=8)", "--servers", "8"]
    subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, check=True, stdout=subprocess.DEVNULL)
    assert list(tmp_path.rglob("*")) == []


def test_nowhere_to_keep_kernels_is_no_obstacle(monkeypatch, tmp_path):
    import harness
    from harness.policy_api import compiled_policies

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("not a folder")
    compiled_policies.compiled.cache_clear()
    log = harness.lublin(jobs=50, procs=16)
    assert harness.simulate(log, 16, harness.Scheduler(order="lcfs", start="none")).measures()["accepted"] == 50
    compiled_policies.compiled.cache_clear()


def test_what_another_version_kept_is_not_read(folder, monkeypatch):
    """How code is kept may change while the engine does not."""
    assert small(1)(2) == 3
    (kept,) = folder.iterdir()
    kept.write_bytes(b"another format")
    monkeypatch.setattr(code_cache, "compiler_version", lambda: "another")
    with warnings.catch_warnings(action="error"):
        assert small(1)(2) == 3
    assert len(list(folder.iterdir())) == 2


def test_slow_compiling_names_the_policy_and_the_time(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """While it goes on, again and again, and when it is over; what is quick is not worth a line."""
    from harness.cli.console import show_compilation

    monkeypatch.setattr(code_cache, "SLOW", 0.05)
    with show_compilation():
        with code_cache._progress_reported("the order policy 'mine'"):
            time.sleep(0.6)
        with code_cache._progress_reported("the order policy 'quick'"):
            pass
    lines = [line for line in capsys.readouterr().err.splitlines() if "policy" in line]
    assert len(lines) > 2
    assert all(re.fullmatch(r"compiling the order policy 'mine': \d+ s", line) for line in lines[:-1])
    assert re.fullmatch(r"compiled the order policy 'mine' in \d+ s", lines[-1])


def test_kernels_are_called_by_their_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, bool]] = []
    monkeypatch.setattr(code_cache, "on_progress", [lambda words, seconds, over: said.append((words, over))])

    def by_number(job: Any, clock: Any) -> float:
        return float(job.number)

    policy_kernels.kernel_of(Choice.plain(harness.Order("numbered", by_number)), 0)
    assert said == [("the order policy 'numbered'", False), ("the order policy 'numbered'", True)]
