"""Tables of policies in which names of a log stand for its numbers: what they are in a workload."""

from collections.abc import Mapping
from dataclasses import replace

from harness.policy.spec import Choice
from harness.policy.table import Table
from harness.workload.log import Workload
from harness.workload.names import number_of


def with_numbers(chosen: Mapping[str, Choice], workload: Workload) -> Mapping[str, Choice]:
    """Return the choices with the workload's numbers in the place of names of its users, queues and the like."""
    return {part: _numbered(choice, workload) for part, choice in chosen.items()}


def _numbered(choice: Choice, workload: Workload) -> Choice:
    """Return a choice with numbers in its tables, and in those of what it wraps; itself, if no table has names."""

    def number(column: str, name: str) -> float:
        return float(number_of(workload, column, name, str(replace(choice, inner=None))))

    tables = {name: value for name, value in choice.values.items() if isinstance(value, Table)}
    made = {name: table.with_numbers(number) for name, table in tables.items()}
    inner = choice.inner and _numbered(choice.inner, workload)
    if inner is choice.inner and all(made[name] is tables[name] for name in tables):
        return choice
    return replace(choice, values=choice.values | made, inner=inner)
