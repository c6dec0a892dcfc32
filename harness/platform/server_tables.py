"""Tables of servers, in three formats with different headers: SPEC's export, the PEAS paper's, and lists of nodes."""

from pathlib import Path

from harness.disk.stored import suffix_of, unpacked_name
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.platform.node_lists import is_node_list, node_list
from harness.platform.rows import read_rows
from harness.platform.servers import Servers
from harness.platform.small_table import small_table_servers
from harness.platform.specpower import is_spec, spec_servers


def is_platform_table(path: str) -> bool:
    """Return whether `path` has the suffix of a table of servers, packed or not."""
    return suffix_of(path) == ".csv"


def read_servers(path: str | Path, *, whole_watts: bool = False, whole_ops: bool = False) -> Servers:
    """Read a table of SPEC or the PEAS paper; `whole_watts` and `whole_ops` are for the latter."""
    if suffix_of(path) == ".toml":
        raise HarnessError(f"{path}: a description in TOML; expected a table of servers, .csv, packed or not")
    table = read_rows(path)
    if not is_spec(table):
        return small_table_servers(table, whole_watts=whole_watts, whole_ops=whole_ops)
    if whole_watts or whole_ops:
        option = "whole_numbers" if whole_ops else "whole_watts"
        raise HarnessError(f"{path}: {option} is for the table of the PEAS paper; expected no such parameter here")
    return spec_servers(table)


def read_platform_table(path: str | Path, *, whole_watts: bool = False, whole_numbers: bool = False) -> Platform:
    """Return a platform with one node of each server in the table. Its name mentions refused rows.

    For the PEAS paper's table, `whole_watts` rounds the watts of a core down. `whole_numbers` also rounds the
    operations per second of a core and their mean down, and runtimes to the nearest second, like the paper.
    """
    name = unpacked_name(path).removesuffix(".csv")
    for option, value in (("whole_watts", whole_watts), ("whole_numbers", whole_numbers)):
        if not isinstance(value, bool):
            raise HarnessError(f"{path}: {option} = {value!r}: expected true or false")
    if suffix_of(path) == ".csv" and not whole_watts and not whole_numbers and is_node_list(table := read_rows(path)):
        return node_list(table, name)
    servers = read_servers(path, whole_watts=whole_watts or whole_numbers, whole_ops=whole_numbers)
    if whole_watts or whole_numbers:
        name += f"({'whole_numbers' if whole_numbers else 'whole_watts'}=true)"
    about = "one node of each server in the table"
    if servers.refused:
        name += f" ({len(servers.types)} of {len(servers.types) + len(servers.refused)} rows)"
        about += f", for the others see harness list platforms --from {path}"
    return Platform(name, tuple(servers.types.values()), about, whole_numbers)
