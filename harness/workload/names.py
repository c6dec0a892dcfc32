"""The names of users, groups, queues and partitions in a workload, which contains only numbers for them."""

from harness.errors import HarnessError, did_you_mean
from harness.workload.log import Workload
from harness.workload.resource_columns import names_in

#: Messages list at most this many names.
MANY = 20

#: The column of accounts, in logs that have other groups.
_ACCOUNT = "x_account"


def numbers_of(workload: Workload, column: str) -> dict[str, int]:
    """Return the numbers in a column by their names in the log."""
    names = names_in(workload.header, column.capitalize())
    if column == "group" and not names and _ACCOUNT not in workload.jobs:
        names = names_in(workload.header, "Account")  # its groups are accounts
    return {name: number for number, name in names.items()}


def number_of(workload: Workload, column: str, name: str, where: str) -> int:
    """Return the number of a name in a column. Refuse a name that the log does not have."""
    numbers = numbers_of(workload, column)
    if name not in numbers:
        many = f"it has {len(numbers):,} other names" if len(numbers) > MANY else ""
        otherwise = many if numbers else f"it has no names of {column}s: expected a number"
        nearest = did_you_mean(name, numbers, otherwise)
        raise HarnessError(f"{where}: {workload.name} has no {column} {name!r}; {nearest}")
    return numbers[name]
