"""Reading accounts, users and QOS, with their shares and limits, as `sacctmgr` prints them."""

import re
from collections.abc import Iterator
from pathlib import Path

from harness.disk.stored import read_text
from harness.errors import HarnessError, shortened
from harness.slurm.fair_tree import PARENT, ROOT, Shares
from harness.slurm.limits import Limits
from harness.slurm.slurm_names import NAME, checked_name

_LINE = re.compile(r"(Cluster|Parent|Account|User) - '?([^':]+)'?(?::(.*))?")

#: `Key=value`, where a value may be quoted, and is of things as in `GrpTRES=cpu=10,gres/gpu:a100=2`: the colon before a
#: type does not end it.
_PAIR = re.compile(r"(?<!\w)(\w{1,60})=('[^']*'|(?:gres/[\w.-]+:|[^:]|:(?!\w+=))*+)")

#: How deep accounts may lie in each other.
_DEEPEST = 100


def read_shares(path: Path) -> Shares:
    """Read what `sacctmgr dump` writes, with the tables of `sacctmgr -P show qos` and `sshare -a -P` beside it."""
    shares = Shares()
    parent = ROOT
    content = read_text(path, "what sacctmgr dump writes")
    for number, said in qos_rows(content):
        _add_qos(shares, said, f"{path}, line {number}")
    for number, said in _rows(content, "account"):
        _add_usage(shares, said, f"{path}, line {number}")
    for where, kind, name, said in association_lines(content, path):
        if kind == "Parent":
            parent = name
        elif kind == "User" and _value(said, "partition"):
            shares.limits.unmodelled["Partition="] = "the shares and limits of a user in one partition"
        else:
            _add(shares, kind, name, parent, said, where)
    for account in shares.accounts:
        _check_depth(account, shares.parent, path)
    return shares


def _check_depth(account: str, parents: dict[str, str], path: Path) -> None:
    """Refuse an account that is far below the root account, or below itself."""
    above = account
    for _ in range(_DEEPEST):
        if above == ROOT:
            return
        above = parents.get(above, ROOT)
    raise HarnessError(
        f"{path}: the account {shortened(account)}: expected fewer than {_DEEPEST} accounts above it, and not itself"
    )


def association_lines(content: str, path: Path) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Yield the place, the kind, the name and the values of each line that describes a cluster, account or user.

    A line of another form is not quoted: it may be any file's.
    """
    for number, line in enumerate(content.split("\n"), start=1):
        text, where = line.strip(), f"{path}, line {number}"
        if not text or text.startswith("#") or "|" in text:
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise HarnessError(f"{where}: expected a line such as Account - 'name':Fairshare=1")
        kind, name, rest = match.groups()
        said = {key: value.strip("'") for key, value in _PAIR.findall(rest or "")}
        yield where, kind, checked_name(name, f"the {kind.lower()}", where), said


def qos_rows(content: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line that tells of a QOS, and its cells by their columns."""
    return _rows(content, "name")


def _rows(content: str, first: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the cells of each line of the tables whose first column is called so."""
    columns = ["Name", "Priority"]
    for number, line in enumerate(content.splitlines(), start=1):
        text = line.strip()
        if "|" not in text or text.startswith("#"):
            continue
        cells = [cell.strip() for cell in text.split("|")]
        if cells[0].lower() in ("name", "account"):
            columns = cells
        elif columns[0].lower() == first:
            yield number, dict(zip(columns, cells, strict=False))


def _add(shares: Shares, kind: str, name: str, parent: str, said: dict[str, str], where: str) -> None:
    """Take in what is said of one account or user, or of the cluster, which is above all accounts."""
    text = _value(said, "fairshare") or "1"
    known = re.fullmatch(r"\d{1,12}", text)
    if not known and text.lower() != "parent":
        shares.limits.unmodelled[f"Fairshare={shortened(text)}"] = "who comes first, by shares"
    amount = float(text) if known else PARENT if text.lower() == "parent" else 1.0
    if kind == "Account":
        shares.accounts[name], shares.parent[name] = amount, parent
    elif kind == "User":
        shares.users[parent, name] = amount
    limits = _limits(shares, said, where)
    if kind == "User":
        shares.limits.users[parent, name] = limits
    else:
        shares.limits.accounts[ROOT if kind == "Cluster" else name] = limits


def _add_qos(shares: Shares, said: dict[str, str], where: str) -> None:
    """Take in what a table says of one QOS."""
    name, priority = _value(said, "name"), _value(said, "priority") or "0"
    if not re.fullmatch(NAME, name) or not re.fullmatch(r"[0-9]{1,12}", priority):
        raise HarnessError(f"{where}: expected the name of a QOS and its priority, as in normal|0")
    shares.qos[name] = float(priority)
    shares.limits.qos[name] = _limits(
        shares, {key: value for key, value in said.items() if value and key.lower() != "priority"}, where
    )


def _add_usage(shares: Shares, said: dict[str, str], where: str) -> None:
    """Take in what a user of an account has used until now; accounts have used what their users have."""
    account, user, used = (_value(said, name) for name in ("account", "user", "rawusage"))
    if not user:
        return
    if not re.fullmatch(r"\d{1,15}", used):
        raise HarnessError(f"{where}: RawUsage {shortened(used)}: expected CPU seconds, as `sshare -a -P` prints them")
    shares.use(account, user, float(used))


def _value(said: dict[str, str], key: str) -> str:
    """Return what is said of something, whatever the case of its name."""
    return next((value for name, value in said.items() if name.lower() == key), "")


def _limits(shares: Shares, said: dict[str, str], where: str) -> Limits:
    """Return the limits among what is said; note what is left out."""
    found = Limits()
    for key, value in said.items():
        if what := found.add(key, value, where):
            shares.limits.unmodelled.setdefault(shortened(f"{key}={value}"), what)
    return found
