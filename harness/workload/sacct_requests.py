"""Requests in Slurm's accounting besides processors and memory: TRES, constraints, command lines."""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.content import EXACT
from harness.workload.log import AFTER
from harness.workload.resource_columns import NEEDS, Constraints, is_request_column
from harness.workload.sacct_cells import kilobytes

Floats = npt.NDArray[np.float64]

#: Options of sbatch, srun and salloc that are used, by their long names.
_SHORT = {"N": "nodes", "c": "cpus-per-task", "C": "constraint", "L": "licenses", "d": "dependency", "G": "gpus"}
_HEEDED = (*_SHORT.values(), "ntasks-per-node", "exclusive", "mem", "gres", "gpus-per-node")

#: Options without a value: the next word is another option, or the program.
_ALONE = {"bcast", "bell", "compress", "contiguous", "disable-status", "exact", "exclusive", "get-user-env", "help"}
_ALONE |= {"hold", "ignore-pbs", "immediate", "kill-command", "kill-on-bad-exit", "label", "multi-prog", "nice"}
_ALONE |= {"no-allocate", "no-bell", "no-kill", "no-requeue", "no-shell", "overcommit", "overlap", "oversubscribe"}
_ALONE |= {"parsable", "preserve-env", "propagate", "pty", "quiet", "quit-on-interrupt", "reboot", "requeue"}
_ALONE |= {"resv-ports", "send-libs", "spread-job", "test-only", "unbuffered", "usage", "use-min-nodes", "verbose"}
_ALONE |= {"version", "wait", "x11"}
_ALONE_IN_SHORT = frozenset("EHIKOQVWXZhklsuv")

_COUNTABLE = re.compile(r"(gres|license|bb)/(.+)")
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([KMGTP]?)", re.ASCII)
#: A number, which cannot be the name of a type.
_NUMERIC = re.compile(r"[-+.\d]*(?:e[-+]?\d+)?")
_MULTIPLES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}


def options_of(line: str) -> dict[str, str]:
    """Return the used options on a command line of sbatch, srun or salloc, by their long names."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    found: dict[str, str] = {}
    waits = bool(words) and words[0].endswith("srun")  # whose --wait has a value
    name = ""
    for word in words[1:]:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name] = value
            name = "" if equals or (name in _ALONE and not (waits and name == "wait")) else name
        elif word.startswith("-") and len(word) > 1:
            name = _SHORT.get(word[1], word[1])
            found[name] = word[2:].removeprefix("=")
            name = "" if word[2:] or (word[1] in _ALONE_IN_SHORT and not (waits and word[1] == "W")) else name
        elif name:
            found[name], name = word, ""
        else:
            break  # the program and its arguments
    return {name: value for name, value in found.items() if name in _HEEDED}


def countables_of(text: str) -> Iterator[tuple[str, str, float]]:
    """Yield (kind, name, number) for each resource in a cell of TRES: `gres/gpu=2`, `license/matlab=1`, `node=2`.

    A malformed number is NaN.
    """
    for part in text.split(","):
        name, _, number = part.partition("=")
        count = _amount(number)
        if known := _COUNTABLE.fullmatch(name):
            yield known[1], known[2], count
        elif name == "node":
            yield "node", "node", count


def gres_of(text: str) -> dict[str, float]:
    """Return the number of each resource per node in `gpu:2,nvme:tesla:1`; NaN for a malformed number."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, *rest = part.removeprefix("gres:").split(":")
        found[name] = found.get(name, 0) + count_of(rest)
    return found


def count_of(parts: list[str]) -> float:
    """Return the number at the end of `gpu:a100:2`, from its parts after the name: 1 if missing, NaN if malformed."""
    number = _amount(parts[-1]) if parts else 1.0
    return 1.0 if np.isnan(number) and not _NUMERIC.fullmatch(parts[-1]) else number


def _amount(text: str) -> float:
    """Return a number such as 2, 1.5 or 4K; NaN if it is malformed or too large."""
    match = _AMOUNT.fullmatch(text)
    amount = float(match[1]) * _MULTIPLES[match[2]] if match else np.nan
    return amount if amount < EXACT else np.nan


def _gpus(text: str) -> dict[str, float]:
    """Return the number of GPUs of `--gpus=a100:2`, as the resource `gpu`; NaN for a malformed number."""
    number = text.rpartition(":")[2]
    return {"gpu": float(number) if _WHOLE.fullmatch(number) else np.nan} if number else {}


class Requests:
    """The requests of the jobs of a dump, column by column; NaN is unknown."""

    def __init__(self, table: pd.DataFrame, procs: Floats, requested_nodes: Floats, where: str) -> None:
        self.table = table
        self.procs = procs
        self.needs: dict[str, Floats] = {}
        self.malformed = 0  # jobs with a number that cannot be read
        lines = self._each("SubmitLine", options_of) or [{} for _ in procs]
        cells = self._each("ReqTRES", lambda text: list(countables_of(text))) or [[] for _ in procs]
        self.nodes = np.array([_nodes(line, width) for line, width in zip(lines, procs, strict=True)])
        counted = np.array([next((n for kind, _, n in cell if kind == "node"), np.nan) for cell in cells])
        self.requested_nodes = np.fmax(np.where(np.isnan(counted), requested_nodes, counted), 1)
        missing = np.isnan(self.nodes) & (self.requested_nodes > 1)
        self.nodes[missing] = self.requested_nodes[missing]
        self._count(lines, cells)
        self.exclusive = np.array([1.0 if line.get("exclusive", "=") == "" else np.nan for line in lines])
        self.node_memory = np.array([_memory(line.get("mem", "")) for line in lines])
        before = [_preceding(line.get("dependency", "")) for line in lines]
        self.beyond = sum(len(found) > len(AFTER) for found in before)
        dependent = np.array([line.get("dependency", "") != "" for line in lines])
        self.unsupported = int(sum(dependent & np.array([not found for found in before])))
        self.preceding = np.full((len(lines), len(AFTER)), -1.0)
        self.after = np.full((len(lines), len(AFTER)), -1.0)
        for k, found in enumerate(before):
            if 0 < len(found) <= len(AFTER):
                self.preceding[k, : len(found)], self.after[k, : len(found)] = zip(*found, strict=True)
        # Features may be separated by the character that separates cells. A repaired line has a blank instead.
        texts = self._each("Constraints", lambda text: text.strip().removeprefix("(null)").replace(" ", "|"))
        by_option = [line.get("constraint", "") for line in lines]
        self.constraints = Constraints([text or by_option[k] for k, text in enumerate(texts or by_option)], where)

    def _each(self, column: str, reader: Callable[[str], Any]) -> list[Any]:
        """Return `reader` of each cell of a column, called once per different text; empty without this column."""
        if column not in self.table:
            return []
        codes, texts = pd.factorize(self.table[column])
        read = [reader(text) for text in texts]
        return [read[code] for code in codes]

    def _count(self, lines: list[dict[str, str]], cells: list[list[tuple[str, str, float]]]) -> None:
        """Fill `needs`: resources of nodes per node, licences and burst buffers per job."""
        for k, (line, cell) in enumerate(zip(lines, cells, strict=True)):
            by_node = gres_of(line.get("gres", "")) | _gpus(line.get("gpus-per-node", ""))
            on_nodes = _gpus(line.get("gpus", "")) | {name: count for kind, name, count in cell if kind == "gres"}
            licences = gres_of(line.get("licenses", ""))
            numbers = [*by_node.values(), *on_nodes.values(), *licences.values(), *(count for _, _, count in cell)]
            self.malformed += bool(np.isnan(numbers).any())
            for name, count in on_nodes.items():
                if name not in by_node and not np.isnan(count):
                    self._put(k, name, np.ceil(count / self.requested_nodes[k]))
                    if np.isnan(self.nodes[k]):  # the total is for this number of nodes
                        self.nodes[k] = self.requested_nodes[k]
            for name, count in by_node.items():
                self._put(k, name, count)
            if not any(kind == "license" for kind, _, _ in cell):
                for name, count in licences.items():
                    self._put(k, name, count)
            for kind, name, count in cell:
                if kind != "gres":
                    self._put(k, name if kind == "license" else f"{kind}/{name}", count)

    def _put(self, job: int, name: str, count: float) -> None:
        column = NEEDS + name
        if count > 0 and name != "node" and not name.endswith("/node") and is_request_column(column):
            self.needs.setdefault(column, np.full(len(self.procs), np.nan))[job] = count

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a log in which some job requests something."""
        columns = {"nodes": self.nodes, "exclusive": self.exclusive, "node_memory": self.node_memory, **self.needs}
        requested = {name: np.where(np.isnan(v), -1, v) for name, v in columns.items() if (v > 0).any()}
        return requested | self.constraints.columns


def _nodes(line: dict[str, str], procs: float) -> float:
    """Return the number of nodes on a command line: given directly, or by tasks per node."""
    if _WHOLE.fullmatch(line.get("nodes", "")):
        return float(line["nodes"])
    if _WHOLE.fullmatch(line.get("ntasks-per-node", "")) and procs > 0:
        cores = line.get("cpus-per-task", "")
        each = int(line["ntasks-per-node"]) * (int(cores) if _WHOLE.fullmatch(cores) else 1)
        return float(np.ceil(procs / each)) if each > 0 else np.nan
    return np.nan


def _memory(text: str) -> float:
    """Return the KB of `--mem`, which is per node, with megabytes as the default unit. 0 means all memory: NaN."""
    try:
        return kilobytes(text) or np.nan
    except ValueError:
        return np.nan


#: The event of a dependency, by Slurm's word. Replays have no failed jobs, so for afternotok the end counts.
_KINDS = {"afterany": 0.0, "afternotok": 0.0, "afterok": 1.0, "aftercorr": 1.0, "after": 2.0}


def _preceding(text: str) -> list[tuple[float, float]]:
    """Return all jobs that a job depends on, with the event of each; none for dependencies of other forms."""
    found: list[tuple[float, float]] = []
    for part in text.split(","):
        if not re.fullmatch(r"after(?:any|ok|notok|corr)?(:\d+)+", part):
            return []
        kind, *numbers = part.split(":")
        found += [(float(number), _KINDS[kind]) for number in numbers]
    return found
