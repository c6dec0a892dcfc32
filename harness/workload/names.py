"""What the numbers of users, groups, queues and partitions stand for in a workload: names, where its log has them."""

from harness.errors import HarnessError, did_you_mean
from harness.workload.log import Workload
from harness.workload.resource_columns import names_in

#: More names than that are not listed.
MANY = 20

#: The column that readers make of accounts where groups are something else.
_ACCOUNT = "x_account"


def numbers_of(workload: Workload, column: str) -> dict[str, int]:
    """Return the numbers of a workload's column by the names that its log has for them."""
    names = names_in(workload.header, column.capitalize())
    if column == "group" and not names and _ACCOUNT not in workload.jobs:
        names = names_in(workload.header, "Account")  # its groups are accounts
    return {name: number for number, name in names.items()}


def number_of(workload: Workload, column: str, name: str, where: str) -> int:
    """Return the number of a name in a workload's column; refuse one that its log does not have."""
    numbers = numbers_of(workload, column)
    if name not in numbers:
        many = f"it has names for {len(numbers):,} others" if len(numbers) > MANY else ""
        otherwise = many if numbers else f"it names no {column}s: expected a number"
        nearest = did_you_mean(name, numbers, otherwise)
        raise HarnessError(f"{where}: {workload.name} has no {column} {name!r}; {nearest}")
    return numbers[name]
