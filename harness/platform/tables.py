"""Tables of servers, told apart by their header: SPEC's own export, or the small one of the PEAS paper."""

from pathlib import Path

from harness.errors import HarnessError
from harness.platform.platform import Platform
from harness.platform.rows import read_rows
from harness.platform.servers import Servers
from harness.platform.small_table import small_table_servers
from harness.platform.spec import is_spec, spec_servers


def read_servers(path: str | Path, *, whole_watts: bool = False) -> Servers:
    """Read a table of either kind; `whole_watts` is for the small one."""
    if Path(path).suffix == ".toml":
        raise HarnessError(f"{path}: a description in TOML; expected a table of servers, .csv or .csv.gz")
    table = read_rows(path)
    if not is_spec(table):
        return small_table_servers(table, whole_watts=whole_watts)
    if whole_watts:
        raise HarnessError(f"{path}: whole_watts is for the table of the PEAS paper; expected no such parameter here")
    return spec_servers(table)


def read_platform_table(path: str | Path, *, whole_watts: bool = False) -> Platform:
    """A platform of one node of each server in the table; if some rows could be none, its name says so."""
    servers = read_servers(path, whole_watts=whole_watts)
    name = Path(path).name.removesuffix(".gz").removesuffix(".csv") + "(whole_watts=true)" * whole_watts
    about = "one node of each server in the table"
    if servers.refused:
        name += f" ({len(servers.types)} of {len(servers.types) + len(servers.refused)} rows)"
        about += f", for the others see harness list platforms --from {path}"
    return Platform(name, tuple(servers.types.values()), about)
