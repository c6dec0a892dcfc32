"""Each field of the engine's state is written by one subsystem. Writers are derived from the source.

`RECORDS` names the subsystem that owns a private record. The fields of the other records are shared: each of them has
one subsystem that writes it. `SHARED` lists the fields that several subsystems still write. It may only shrink: a field
that no longer needs its entry fails a test here.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np

import harness.engine
from harness.engine.records import (
    hold_records,
    loop_records,
    node_records,
    plan_records,
    private,
    public,
    queue_records,
    recording_records,
    request_records,
)
from harness.engine.run_state import STATE

ENGINE = Path(harness.engine.__file__).parent

#: Modules outside folders, and the subsystem of each; a folder is a subsystem of its own.
SUBSYSTEMS = {
    "loop": ("decisions", "decisions_with_holds", "loop", "runtime_estimates", "samples", "stepping", "events"),
    "service": ("service", "verbs"),
    "running_jobs": ("running_jobs",),
    "faults": ("faults", "decorators", "policy_errors"),
}

#: Modules that write the state before the first instant. They may write every field.
PREPARATION = {"extra_columns", "policy_analysis", "policy_kernels", "prepare_run", "setup", "simulate", "warm_start"}

#: The subsystem that owns each private record.
RECORDS = {
    "allocation": "resources",
    "estimates": "loop",
    "hold_state": "queue",
    "loop": "loop",
    "sleep_control": "power",
    "timing": "loop",
    "usage_sums": "queue",
    "waitlist": "queue",
}

#: The fields that several subsystems write, and these subsystems.
SHARED = {
    "allocation.placement_restricted": "plan resources",
    "clock.asking": "plan resources",
    "clock.completed": "loop service",
    "clock.corrected": "loop queue",
    "clock.culprit": "faults loop queue resources",
    "clock.decision_due": "loop power",
    "clock.demand": "loop plan queue service",
    "clock.departed": "loop queue service",
    "clock.free": "loop service",
    "clock.hook": "faults loop power queue resources",
    "clock.level": "loop service",
    "clock.next": "loop resources",
    "clock.now": "loop queue",
    "clock.promised": "loop service",
    "clock.rate_timer": "loop service",
    "clock.running": "loop service",
    "clock.sleep_timer": "loop service",
    "clock.start_timer": "loop service",
    "clock.started": "queue service",
    "clock.suspended": "loop service",
    "clock.upset": "loop service",
    "hold_state.departed_before": "loop",
    "hold_state.fruitless_checks": "loop",
    "hold_state.stop_starting": "loop plan queue",
    "hold_state.unchecked_arrivals": "loop",
    "jobs.end": "loop queue service",
    "jobs.estimate": "loop plan queue",
    "jobs.left": "loop plan queue service",
    "jobs.planned": "loop service",
    "jobs.predicted": "loop plan",
    "jobs.procs": "plan queue",
    "jobs.requested": "plan queue",
    "jobs.reserved": "loop plan queue service",
    "jobs.service": "loop service",
    "jobs.status": "loop queue service",
    "near.booked": "plan queue",
    "nodes.free": "loop resources",
    "nodes.resting": "loop power",
    "nodes.status": "loop power",
    "nodes.until": "loop power",
    "nodes.vacant": "power resources",
    "notes.looked": "plan queue",
    "sleep_control.next_sleep_time": "power resources",
    "slices.next": "power resources",
    "slices.node": "power resources",
    "sums.backlog": "loop plan queue service",
    "sums.ignored_events": "loop queue",
    "then.free": "plan resources",
    "then.room": "plan resources",
    "truth.work": "plan service",
    "waitlist.new_in_queue": "plan queue",
    "waitlist.tail": "loop queue",
}

#: The number of fields that three or more modules write, at most. It may only shrink.
MOST_SHARED = 30

#: The number of fields of the largest private record, at most. It may only shrink.
LARGEST_RECORD = 52


def subsystem(module: str) -> str:
    """Return the subsystem of a module such as `loop` or `queue.scoring`."""
    first = module.split(".")[0]
    return next((name for name, modules in SUBSYSTEMS.items() if first in modules), first)


@cache
def layouts() -> dict[str, np.dtype]:
    """Return the layout of each record and of each array of records of the state, by its name there."""
    found = {}
    for name, kind in STATE.parts.items():
        record = getattr(kind, "dtype", kind)
        if hasattr(record, "fields"):
            found[name] = set(record.fields)
    return found


def record_of(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """Return the name of the record that an expression stands for: `state.clock`, `state.jobs[3]`, an alias."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    return node.attr if isinstance(node, ast.Attribute) and node.attr in layouts() else None


def targets(node: ast.AST) -> list[ast.AST]:
    """Return the expressions to which a statement assigns."""
    if isinstance(node, ast.AugAssign):
        return [node.target]
    if not isinstance(node, ast.Assign):
        return []
    return [one for target in node.targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def written_in(function: ast.AST) -> set[str]:
    """Return the fields that a function writes, such as `clock.now`."""
    aliases: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            record = record_of(node.value, {})
            if record:
                aliases[node.targets[0].id] = record
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    aliases |= {name: name for name in arguments & set(layouts())}
    found = set()
    for node in ast.walk(function):
        for target in targets(node):
            if isinstance(target, ast.Attribute):
                record = record_of(target.value, aliases)
                if record and target.attr in layouts()[record]:
                    found.add(f"{record}.{target.attr}")
    return found


@cache
def writers() -> dict[str, set[str]]:
    """Return the modules that write each field, but for those that prepare a run."""
    found = defaultdict(set)
    for path in sorted(ENGINE.rglob("*.py")):
        module = ".".join(path.relative_to(ENGINE).with_suffix("").parts)
        if module in PREPARATION or module.startswith("records"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for field in written_in(node):
                    found[field].add(module)
    return dict(found)


def test_writers_are_found():
    assert writers()["clock.now"] >= {"loop"}
    assert writers()["waitlist.head"] >= {"queue.waiting_jobs"}
    assert {"clock.free", "jobs.status", "nodes.status", "truth.work", "sums.backlog"} <= set(writers())


def test_a_private_record_is_written_by_its_owner():
    others = {
        field: sorted(module for module in modules if subsystem(module) != RECORDS[field.split(".")[0]])
        for field, modules in writers().items()
        if field.split(".")[0] in RECORDS
    }
    others = {field: modules for field, modules in others.items() if modules and field not in SHARED}
    assert others == {}


def test_a_field_is_written_by_one_subsystem_but_for_the_list():
    """An entry of the list that is no longer needed fails too."""
    found = {field: " ".join(sorted({*map(subsystem, modules)})) for field, modules in writers().items()}
    several = {
        field: names
        for field, names in found.items()
        if " " in names or RECORDS.get(field.split(".")[0], names) != names
    }
    new = {field: names for field, names in several.items() if set(names.split()) - set(SHARED.get(field, "").split())}
    assert new == {}, "a second subsystem writes these fields: call a function of their owner"
    assert {field: several.get(field, "") for field in SHARED} == SHARED, "the list is longer than it need be"


def test_few_fields_have_many_writers():
    many = sorted(field for field, modules in writers().items() if len(modules) >= 3)
    assert len(many) <= MOST_SHARED, many


def private_sizes() -> dict[str, int]:
    """Return the number of fields of each record that no policy sees."""
    known = {id(layout) for layout in vars(public).values()}
    modules = (
        hold_records,
        loop_records,
        node_records,
        plan_records,
        private,
        queue_records,
        recording_records,
        request_records,
    )
    return {
        name: len(layout.names)
        for module in modules
        for name, layout in vars(module).items()
        if isinstance(layout, np.dtype) and layout.names and id(layout) not in known
    }


def test_no_private_record_is_large():
    assert max(private_sizes().values()) <= LARGEST_RECORD, private_sizes()
