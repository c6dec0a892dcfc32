"""Thirty small faults of the scheduling rules, each located by its function and its syntax tree.

A fault survives that its function moves to another file, is formatted anew, or changes elsewhere. It names the function
and the expression or statement to replace. The expression must occur exactly once in the function.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

#: The folders in which a fault may lie. Files directly below them and in their subfolders are searched.
PLUGINS, ENGINE = "plugins", "harness/engine"


@dataclass(frozen=True)
class Fault:
    """A replacement of one expression or statement, and the policy that is put to the checks."""

    what: str
    folder: str
    function: str
    old: str  # an expression or a statement
    new: str  # the same kind of code; empty: the statement is deleted
    policy: str


FAULTS = (
    # start policies
    Fault(
        "in-order starts jobs behind the first that does not fit",
        PLUGINS,
        "start_in_order",
        "job >= 0 and harness.fits(state, job) and harness.start(state, job)",
        "job >= 0 and (not harness.fits(state, job) or harness.start(state, job))",
        "none",
    ),
    Fault(
        "greedy leaves one processor unused",
        PLUGINS,
        "greedy",
        "harness.fits(state, job)",
        "state.jobs[job].procs < state.clock.free",
        "greedy",
    ),
    Fault(
        "easy: < for ≤ at the shadow time",
        ENGINE,
        "ends_by",
        "later(end, time)",
        "not later(time, end)",
        "easy",
    ),
    Fault(
        "easy omits the present time",
        ENGINE,
        "ends_by",
        "state.clock.virtual + state.jobs[job].left",
        "state.jobs[job].left",
        "easy",
    ),
    Fault(
        "easy: < for ≤ of the spare processors",
        ENGINE,
        "start_behind_head",
        "needed > planning.spare",
        "needed >= planning.spare",
        "easy",
    ),
    Fault("easy uses spare processors twice", ENGINE, "start_behind_head", "planning.spare -= needed", "", "easy"),
    Fault(
        "easy leaves one processor unused",
        ENGINE,
        "may_overtake",
        "procs <= clock.free",
        "procs < clock.free",
        "easy",
    ),
    Fault(
        "easy counts one spare processor too many",
        ENGINE,
        "start_behind_head",
        "needed = burden(state, job, planning.head)",
        "needed = burden(state, job, planning.head) - 1",
        "easy",
    ),
    Fault(
        "easy(reservations=2) makes three reservations",
        PLUGINS,
        "easy",
        "shadow, left = harness.INFINITY, reservations",
        "shadow, left = harness.INFINITY, reservations + 1",
        "easy(reservations=2)",
    ),
    Fault(
        "conservative does not release a reservation that it moves",
        ENGINE,
        "compress",
        "if gap < np.inf:\n    change(state, procs, 1, gap, over)",
        "",
        "conservative",
    ),
    Fault(
        "conservative releases one second too little",
        ENGINE,
        "give_back_unused",
        "record.planned",
        "record.planned - 1.0",
        "conservative",
    ),
    Fault(
        "conservative never compresses",
        PLUGINS,
        "conservative",
        "plan.refresh(replan)",
        "plan.refresh(replan) and replan",
        "conservative",
    ),
    Fault(
        "conservative: ≥ for > when a reservation is due",
        ENGINE,
        "_list_due",
        "when(state, state.promised[job]) > now",
        "when(state, state.promised[job]) >= now",
        "conservative",
    ),
    Fault(
        "conservative reserves one second for every job",
        ENGINE,
        "reserved_duration",
        "state.jobs[job].left",
        "1.0",
        "conservative",
    ),
    Fault(
        "conservative requests no call at the next reservation",
        ENGINE,
        "call_at_next_start",
        "if soonest < np.inf:\n    call_again(state, when(state, soonest))",
        "",
        "conservative",
    ),
    Fault(
        "preempt serves no job as wide as the machine",
        ENGINE,
        "find_prefix",
        "state.jobs[first].procs > procs",
        "state.jobs[first].procs >= procs",
        "preempt",
    ),
    Fault(
        "preempt(at=departure) starts new jobs while others wait",
        PLUGINS,
        "preempt",
        "clock.queued == clock.arrived",
        "clock.queued >= clock.arrived",
        "preempt(at=departure)",
    ),
    # orders
    Fault(
        "wfp3 does not declare that it varies",
        PLUGINS,
        "order_queue",
        'harness.Order("wfp3", wfp3, varies=True, falls=True, least={"power": 0.0}, reads=WAIT)',
        'harness.Order("wfp3", wfp3, least={"power": 0.0}, reads=WAIT)',
        "wfp3",
    ),
    Fault("spf ignores the work that a suspended job has done", PLUGINS, "spf", "job.left", "job.estimate", "spf"),
    Fault("unicef takes the logarithm of 1", PLUGINS, "unicef", "max(job.procs, 2)", "max(job.procs, 1)", "unicef"),
    Fault("lcfs without its sign", PLUGINS, "lcfs", "-job.submit", "job.submit", "lcfs"),
    # selections and energy
    Fault("first-fit skips the first node", PLUGINS, "first_fit", "node = -1", "node = 0", "first-fit"),
    Fault(
        "selections ignore memory",
        PLUGINS,
        "take_some",
        "harness.room(state, job, node)",
        "state.nodes[node].free",
        "first-fit",
    ),
    Fault(
        "worst-fit skips a node of a node class",
        ENGINE,
        "leave_class",
        "bit_from(state, stock.words, size, node - first)",
        "bit_from(state, stock.words, size, node - first + 2)",
        "worst-fit",
    ),
    Fault(
        "cores counts idle power twice",
        PLUGINS,
        "cores",
        "node.idle * (node.cores - node.busy)",
        "node.idle * node.cores",
        "cores",
    ),
    # the engine below the start policies
    Fault(
        "queue: of two equal scores the later job goes first",
        ENGINE,
        "place_in_queue",
        "other < job",
        "other > job",
        "none",
    ),
    Fault(
        "the shadow time counts completions only up to the first sufficient one",
        ENGINE,
        "reservation",
        "free >= need and later(when_planned(state, left), at)",
        "free >= need",
        "easy",
    ),
    Fault("a node does not get its cores back", ENGINE, "release_slice", "record.free += cores", "", "easy"),
    Fault(
        "a job runs for its requested time",
        ENGINE,
        "begin_service",
        "duration_at(clock, truth.work, record.speed)",
        "duration_at(clock, record.left, record.speed)",
        "none",
    ),
    Fault(
        "a suspended job keeps its stale estimate",
        ENGINE,
        "release_job",
        "record.left = max(0.0, (record.planned - clock.virtual) * record.speed)",
        "",
        "gang",
    ),
)


class NotPlantedError(AssertionError):
    """The code that a fault replaces no longer exists, or exists more than once."""


def file_of(fault: Fault, root: Path) -> Path:
    """Return the one file below the fault's folder that defines its function, relative to `root`."""
    examples = root / "plugins" / "examples"
    paths = [path for path in sorted((root / fault.folder).rglob("*.py")) if not path.is_relative_to(examples)]
    found = [path for path in paths if _functions(ast.parse(path.read_text(encoding="utf-8")), fault.function)]
    if len(found) != 1:
        raise NotPlantedError(f"{fault.what}: {len(found)} files of {fault.folder} define {fault.function}")
    return found[0].relative_to(root)


def plant(fault: Fault, root: Path) -> None:
    """Replace the code of the fault in the copy of the harness at `root`."""
    path = root / file_of(fault, root)
    path.write_text(planted(fault, path.read_text(encoding="utf-8")), encoding="utf-8")


def planted(fault: Fault, text: str) -> str:
    """Return the module's text with the fault."""
    tree = ast.parse(text)
    (function,) = _functions(tree, fault.function)
    old, new = _code(fault.old), _code(fault.new or "pass")
    assert old is not None
    replace = _Replace(old, new)
    replace.visit(function)
    if replace.count != 1:
        raise NotPlantedError(f"{fault.what}: {fault.old!r} occurs {replace.count} times in {fault.function}")
    return ast.unparse(ast.fix_missing_locations(tree))


def _functions(tree: ast.Module, name: str) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]


def _code(text: str) -> ast.AST:
    """Return the one statement of the text, or its expression."""
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement


class _Replace(ast.NodeTransformer):
    """Replace each occurrence of one piece of code by another, and count them."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new, self.count = ast.dump(old), new, 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the replacement if the node is the code to replace, or the node with its children visited."""
        if ast.dump(node) == self.old:
            self.count += 1
            return self.new
        return self.generic_visit(node)
