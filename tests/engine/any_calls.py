"""Policies that call any verb with any argument: does the engine ever use an index that one of its arrays lacks?

The tests run it with nothing compiled (`NUMBA_DISABLE_JIT=1 PYTHONPATH=tests python tests/engine/any_calls.py FIRST
LAST`). The arrays of the engine are of a kind that refuses indices beyond their ends, also those below zero that numpy
would wrap, so that what would corrupt memory in compiled code is an error here. Prints one line for each seed with
which that happens.
"""

import inspect
import math
import random
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
from requesting_jobs import machine, made
from shared.running import choose
from shared.strategies import POWER, workload

import harness
from harness.engine import prepare_run
from harness.engine.faults import PolicyFault
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform
from harness.policy.kinds import KINDS
from harness.policy.vocabulary import VERBS
from harness.policy_api import readonly_views

INTS = (0, 1, 2, 5, 7, -1, -2, -7, 99, 10**6, 10**12, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.0, 12.0, 100.0, -1.0, math.inf, -math.inf, math.nan, 1e300, 1e-300, 2.0**53)
SANE = {"procs": (1, 2, 3), "spare": (1, 2), "job": (0,), "node": (0, 1), "after": (-1,), "order": (-1,), "depth": (0,)}
SANE |= {"duration": (0.0, 1.0, 5.0), "overhead": (0.0, 2.0), "rate": (0.5, 1.0), "end": (40.0, math.inf)}
SANE |= dict.fromkeys(("time", "begin", "at", "virtual", "than"), (10.0, 12.0, 15.0, 30.0)) | {"level": (0.0, 1.0)}
PLAN = ("plan_from_running", "forget_past")
BEFORE = dict.fromkeys(("earliest_fit", "reserve", "release"), PLAN)
PAIR = Platform("pair", (NodeType(2, 2, **POWER),))
MIXED = Platform("mixed", (NodeType(2, 3, 3.0, 6.0, **POWER), NodeType(3, 2, 4.0, 9.0, **POWER, partition=1)))


class BeyondError(Exception):
    """An index that the array does not have."""


class Strict(np.recarray):
    """An array whose indices are those of compiled code: from 0 up to its length."""

    def expect(self, index):
        ends = (index.start, index.stop) if isinstance(index, slice) else (index,)
        for at in ends:
            if isinstance(at, int | float | np.number) and not 0 <= at < len(self) + isinstance(index, slice):
                raise BeyondError(f"{at} of {len(self)}")

    def __getitem__(self, index):
        self.expect(index)
        return super().__getitem__(index)

    def __setitem__(self, index, value):
        self.expect(index)
        super().__setitem__(index, value)


def strict(parts):
    array = {name: isinstance(part, np.ndarray) and part.ndim == 1 for name, part in parts.items()}
    return {name: part.view(Strict) if array[name] else part for name, part in parts.items()}


bind = prepare_run.bind
prepare_run.bind = lambda chosen, seed, plain, view, inside, *rest, **more: bind(
    chosen, seed, plain, view._replace(**strict(view._asdict())), strict(inside), *rest, **more
)
readonly_views.quick_bundle = lambda bundle: bundle  # what verbs see is what the engine has


def argument(dice, name, hostile):
    """A value for a parameter of a verb, mostly one that might do."""
    if name == "in_place":
        return dice.random() < 0.5
    name = "job" if name == "reserved" else name
    whole = name in ("job", "after", "procs", "node", "order", "spare", "busy", "depth")
    return dice.choice(SANE[name] if name in SANE and dice.random() > hostile else INTS if whole else FLOATS)


def call(state, dice, verbs, hostile):
    """Call one verb, of a waiting or running job if it asks for one."""
    verb = dice.choice(verbs)
    if verb in BEFORE and dice.random() < 0.9:
        getattr(harness, dice.choice(BEFORE[verb]))(state)
    given = {}
    for name in list(inspect.signature(getattr(harness, verb)).parameters)[1:]:
        given[name] = argument(dice, name, hostile)
        if name in ("job", "reserved") and dice.random() > hostile:
            ran = dice.random() < (0.9 if verb in ("suspend", "requeue") else 0.2)
            jobs = harness.running(state) if ran else harness.waiting(state)
            if len(jobs) == 0:
                return
            given[name] = int(dice.choice(list(jobs)))
    if verb == "start" and dice.random() > hostile and not harness.fits(state, given["job"]):
        return
    getattr(harness, verb)(state, **given)


def serve(state):
    for job in harness.waiting(state):
        if state.jobs[job].status == harness.WAITING and harness.fits(state, job):
            harness.start(state, job)


def rows(dice, kind):
    """Jobs for one of the machines."""
    now, found = 10, []
    for _ in range(260 if kind == "crowd" else dice.randint(2, 14)):
        now += 0 if kind == "crowd" else dice.choice((0, 0, 1, 2, 5))
        work, least = dice.randint(1, 9), dice.randint(1, 3)
        more = {"cancel": float(now + dice.randint(0, 9))} if dice.random() < 0.1 else {}
        if kind == "moldable":
            more |= {"procs_min": least, "procs_max": dice.randint(least, 5)}
        if kind in ("mixed", "both"):
            more |= {"memory": dice.choice((-1.0, 1.0, 2.0)), "partition": dice.choice((-1, 0, 1))}
        if kind == "both":
            more |= {"procs_min": 1, "procs_max": 5}
        if kind == "asked":
            more |= {"nodes": dice.choice((-1, 1, 2)), "exclusive": dice.choice((-1, 0, 1))}
            more |= {name: dice.choice((-1, 1)) for name in ("features", "needs_gpu", "needs_licence")}
        found.append((now, dice.randint(1, 4), work, work + dice.choice((0, 0, 3, 8)), more))
    return found


def case(dice):
    """A workload and its machine, of one of the kinds for which the engine has parts of its own."""
    kind = dice.choice(("plain", "crowd", "mixed", "moldable", "both", "asked"))
    if kind == "asked":
        windows = [(30, 40, (0,), (1,))] if dice.random() < 0.5 else ()
        return made(rows(dice, kind)), machine([(4, 8.0, (0, 1), 1, 2), (2, 5.0, (0,), 3, 1)], 2, windows)
    return workload(rows(dice, kind)), MIXED if kind in ("mixed", "both") else PAIR


def wild(dice, hook):
    """A policy of the hook that calls what it may, and then or before does what it is for."""
    verbs = [verb for verb in VERBS if hook in VERBS[verb] and verb not in ("uniform", "hour", "weekday", "later")]
    verbs = [verb for verb in verbs if verb not in ("load_share", "drawn", "take") and dice.random() < 0.4] or verbs
    hostile, catches = dice.choice((0.0, 0.02, 0.2)), dice.random() < 0.2
    asked = [0]

    def calls(state):
        asked[0] += 1
        if asked[0] > 60:
            raise TimeoutError
        for _ in range(dice.randint(0, 4)):
            try:
                call(state, dice, verbs, hostile)
                if hook == "start_jobs" and dice.random() < 0.1:
                    state.jobs[dice.randrange(state.clock.next)].reserved = dice.choice(FLOATS)
            except (PolicyFault, readonly_views.Misuse):
                if not catches:
                    raise

    def start(state):
        calls(state)
        serve(state)
        calls(state)

    def rate(state):
        calls(state)
        return dice.choice((1.0, 1.0, 0.7))

    def hold(state, job):
        calls(state)
        return dice.choice((0.0, state.clock.now + 5.0))

    function = {"start_jobs": start, "set_rate": rate, "hold_jobs": hold}.get(hook, lambda state: calls(state))
    flags = {"preemptive": dice.random() < 0.7, "rejects": True} if hook == "start_jobs" else {}
    return KINDS[hook]("wild", function, **flags)


def problem(seed):
    """What goes wrong beside what a policy is told of, if anything does."""
    dice = random.Random(seed)
    jobs, platform = case(dice)
    hook = dice.choice(("start_jobs",) * 6 + ("set_rate", "set_sleep", "hold_jobs"))
    parts = {"start": dice.choice(("easy", "greedy", "conservative")), KINDS[hook].part: wild(dice, hook)}
    try:
        simulate(jobs, platform, choose(order=dice.choice(("fcfs", "spf")), **parts), seed=seed)
    except TimeoutError:
        return ""
    except Exception as error:
        wrong = error.__cause__ or error
        if isinstance(error, harness.HarnessError) and not isinstance(wrong, IndexError | BeyondError):
            return "" if "'wild'" in str(error) or "beside the rate" in str(error) else str(error)
        inside = [f"{step.name} ({Path(step.filename).name})" for step in traceback.extract_tb(wrong.__traceback__)]
        return f"{type(wrong).__name__} {wrong} in {[step for step in inside if Path(__file__).name not in step][-1]}"
    return ""


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # numbers beyond all bounds overflow, in what is only compared
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        if wrong := problem(seed):
            print(f"seed {seed}: {wrong}", flush=True)
