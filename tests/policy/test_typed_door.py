"""What a type checker says of plugins: nothing of right ones, and of wrong ones on the line that is wrong."""

import ast
import re
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from string import Template

import pytest

import harness
from harness.engine.records import docs
from harness.policy import records, template
from harness.policy.kinds import KINDS

TEMPLATES = [path for path in Path(template.__file__).parent.glob("*.py.in") if path.stem[:-3] in KINDS]
STUB = Path(harness.__file__).with_suffix(".pyi")

#: Lines that must be refused end in `# refused`; no other line may be.
PLUGIN = """
from collections.abc import Sequence
from typing import Any
import math
import harness
from harness import Clock, Columns, Dice, Job, Memory, Node, State

def score(job: Job, clock: Clock, power: float = 3.0) -> float:
    wait = clock.now - job.submit
    return -power * wait / max(job.estimate, 1.0) * job.procs

def whole(job: Job, clock: Clock) -> int:
    return job.procs

def by_queue(job: Job, clock: Clock, memory: Memory, dice: Dice, priority: Sequence[float] = (0.0,)) -> float:
    memory[0] += harness.uniform(dice)
    return priority[job.queue] + float(memory[0])

@harness.jit
def late(job: Job, clock: Clock) -> float:
    return clock.now - job.submit

def start(state: State, memory: Memory, most: int = 20) -> None:
    for job in harness.waiting(state):
        record = state.jobs[job]
        record.reserved = late(record, state.clock)
        if harness.fits(state, job) and harness.start(state, job):
            memory[0] += 1

def select(state: State, job: int) -> bool:
    best = (state.nodes.speed * state.nodes.cores).max()
    harness.take(state, job, 0, int(best))
    return state.nodes[0].free > 0

def rate(state: State, dice: Dice) -> float:
    return state.paces[0].rate if harness.uniform(dice) < 0.5 else 1.0

def sleep(state: State, idle: float = 600.0) -> None:
    harness.put_to_sleep(state, 0)

def watts(node: Node, clock: Clock) -> float:
    return node.curve[10] if node.status == harness.AWAKE else harness.drawn(node, node.busy)

def tide(job: Job, clock: Clock, memory: Memory, of: Any = "fcfs", many: float = 2.0) -> float:
    return float(job.procs) if memory[0] > many else float(of)

def watch(state: State, memory: Memory, many: float = 2.0) -> None:
    memory[0] += harness.hour(state.clock) * len(harness.nodes_of(state, 0))

def dear(job: Job, clock: Clock, columns: Columns) -> float:
    return float(columns[0]) if harness.weekday(clock) < 5 else job.submit

class Model:
    known: dict[int, float] = {}

def modelled(state: State, memory: Any) -> None:
    for job in harness.waiting(state):
        if memory.known.get(state.jobs[job].user, 0.0) > 1.0:
            harness.reject(state, job)
    harness.requeue(state, 0)
    harness.suspend(state, 1, overhead=30.0)

harness.Order("tide", tide, order="of", varies=True, memory=1, learn=watch)
harness.Order("dear", dear, columns=("x_priority",))
harness.Start("modelled", modelled, compiled=False, fresh=Model, rejects=True, preemptive=True)
harness.Order("lambda", lambda job, clock: math.log(job.procs))
harness.Order("whole", whole)

@harness.hookimpl
def order_queue() -> list[harness.Order]:
    return [harness.Order("score", score, varies=True), harness.Order("by-queue", by_queue, memory=1)]

@harness.hookimpl(specname="start_jobs")
def starts() -> list[harness.Start]:
    return [harness.Start("start", start, memory=1)]

@harness.hookimpl
def select_resources() -> list[harness.Select]:
    return [harness.Select("select", select)]

@harness.hookimpl
def set_rate() -> list[harness.Rate]:
    return [harness.Rate("rate", rate)]

@harness.hookimpl
def set_sleep() -> list[harness.Sleep]:
    return [harness.Sleep("sleep", sleep)]

@harness.hookimpl
def account_energy() -> list[harness.Energy]:
    return [harness.Energy("watts", watts)]

@harness.hookimpl(trylast=True)
def read_workload(source: str, lenient: bool) -> harness.Log | None:
    return None

schedule = harness.simulate("lublin", 8, harness.Scheduler(order="fcfs"), seed=1)
starts_of_jobs = schedule.frame["start"]
reveal_type(harness.Start)  # revealed: -> harness.policy.kinds.Start
reveal_type(harness.Scheduler)  # revealed: -> harness.policy.scheduler.Scheduler
reveal_type(harness.fits)  # revealed: -> bool

# ------------------------------------------------ wrong

harness.Sart("x", start)  # refused
harness.Order("x")  # refused
harness.Order("x", score, 3)  # refused
harness.Order("x", score, vary=True)  # refused
harness.Scheduler(ordre="fcfs")  # refused
harness.simulate()  # refused
harness.simulate("lublin", sed=1)  # refused

def misspelt(job: Job, clock: Clock) -> float:
    return job.prcos * 1.0  # refused

def changed(job: Job, clock: Clock) -> float:
    job.procs = 1  # refused
    return 0.0

def late_state(state: State) -> None:
    state.clok.now  # refused
    state.clock.nwo  # refused
    harness.start(state)  # refused
    harness.fits(state, 1, 2)  # refused
    harness.fist(state, 1)  # refused
    harness.requeue(state)  # refused
    late(state.jobs[0])  # refused
    state.nodes[0].fere  # refused

def words(job: Job, clock: Clock) -> str: return ""
def alone(job: Job) -> float: return 0.0
def more(job: Job, clock: Clock, other: Clock) -> float: return 0.0
def swapped(clock: Clock, job: Job) -> float: return 0.0
def nothing(state: State, job: int) -> None: ...
def answers(state: State) -> str: return ""
def unsaid(state: State) -> None: ...
def unsaid_watts(node: Node, clock: Clock) -> None: ...

harness.Order("x", words)  # refused
harness.Order("x", alone)  # refused
harness.Order("x", more)  # refused
harness.Order("x", swapped)  # refused
harness.Order("x", score, learn=3)  # refused
harness.Order("x", score, fresh=Job.procs)  # refused
harness.Order("x", start)  # refused
harness.Start("x", answers)  # refused
harness.Start("x", score)  # refused
harness.Select("x", nothing)  # refused
harness.Select("x", answers)  # refused
harness.Rate("x", unsaid)  # refused
harness.Rate("x", answers)  # refused
harness.Sleep("x", answers)  # refused
harness.Energy("x", unsaid_watts)  # refused
harness.Energy("x", score)  # refused

@harness.hookimpl  # refused
def order_queue_2() -> list[int]: return []
@harness.hookimpl  # refused
def order_queue_3() -> harness.Order: return harness.Order("x", score)
@harness.hookimpl(specname="order_queue")  # refused
def orders() -> list[harness.Start]: return []
@harness.hookimpl(specname="start_jobs")  # refused
def starts_2() -> list[harness.Order]: return []
@harness.hookimpl(specname="select_resources")  # refused
def selects() -> list[harness.Order]: return []
@harness.hookimpl(specname="set_rate")  # refused
def rates() -> list[harness.Order]: return []
@harness.hookimpl(specname="set_sleep")  # refused
def sleeps() -> list[harness.Order]: return []
@harness.hookimpl(specname="account_energy")  # refused
def energies() -> None: return None
@harness.hookimpl(specname="read_workload")  # refused
def reads(source: str) -> str: return ""
@harness.hookimpl(specname="read_platform")  # refused
def reads_2(source: str) -> harness.Log | None: return None
@harness.hookimpl(specname="score_schedule")  # refused
def scores() -> list[float]: return []
@harness.hookimpl(specname="order_que")  # refused
def orders_2() -> list[harness.Order]: return []
"""


def aliases() -> dict[str, str]:
    """Public name → the module that the stub takes it from."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    lines = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    return {alias.asname: f"harness.{line.module}" for line in lines for alias in line.names if alias.asname}


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    """What mypy says of the plugin: line → messages."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("door")
    (folder / "plugin.py").write_text(PLUGIN)
    for path in TEMPLATES:
        text = Template(path.read_text(encoding="utf-8")).substitute(name="mine", function="mine")
        (folder / f"template_{path.name.partition('.')[0]}.py").write_text(text)
    words = ["-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={folder}"]
    done = subprocess.run([sys.executable, *words, "."], cwd=folder, capture_output=True, text=True)
    said: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if match := re.match(r"plugin\.py:(\d+): (.*)", line):
            said[int(match[1])] = said.get(int(match[1]), "") + match[2]
    assert said, done.stdout + done.stderr
    return said | {0: "\n".join(line for line in done.stdout.splitlines() if line.startswith("template_"))}


@pytest.mark.slow
def test_wrong_lines_are_refused_and_no_others(judged):
    lines = PLUGIN.splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith("# refused")}
    refused = {number for number, words in judged.items() if "error:" in words}
    assert {lines[number - 1] for number in wrong - refused} == set()
    assert {lines[number - 1]: judged[number] for number in refused - wrong} == {}


@pytest.mark.slow
def test_what_new_plugins_begin_with_is_right(judged):
    assert len(TEMPLATES) == len(KINDS)
    assert judged[0] == ""


@pytest.mark.slow
def test_the_classes_are_known_as_themselves(judged):
    for number, line in enumerate(PLUGIN.splitlines(), start=1):
        if "# revealed: " in line:
            assert judged[number].endswith(line.partition("# revealed: ")[2] + '"')


def test_every_name_of_the_stub_is_the_thing_itself():
    found = aliases()
    assert set(found) | {"__version__"} == set(harness.__all__) | {"__version__"}
    for name, home in found.items():
        try:
            thing = getattr(import_module(home), name)
        except AttributeError:
            thing = import_module(f"{home}.{name}")
        assert getattr(harness, name) is thing, name


def test_the_records_are_written_down_as_they_are_laid_out():
    assert Path(records.__file__).read_text(encoding="utf-8") == docs.source(), docs.__doc__


@pytest.mark.slow
def test_the_wheel_carries_the_stub(tmp_path):
    root = STUB.parent.parent
    builder = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", builder, str(tmp_path)], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert {"harness/__init__.pyi", "harness/py.typed"} <= set(names)
