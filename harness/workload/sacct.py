"""Slurm's accounting as printed by `sacct --parsable2`: one line per job and one per step of a job.

Format: https://slurm.schedmd.com/sacct.html. Columns may have any order. Required are the submission time, the runtime,
the width and the final state of the jobs.
"""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.disk.size_limit import TABLE
from harness.disk.stored import first_line
from harness.errors import HarnessError, shortened
from harness.workload.content import canonical, content_digest
from harness.workload.delimited import names_of, numbered, read_delimited
from harness.workload.log import AFTER, ALSO_PRECEDING, BEGIN, NO_LIMIT, SWF_COLUMNS, WITHOUT_LIMIT, Log, Step
from harness.workload.log_cache import CachedReading
from harness.workload.log_files import read_file
from harness.workload.sacct_cells import READERS, STATUS, STEP, UNFINISHED, attempt, repair_with, state_word
from harness.workload.sacct_requests import Requests

Floats = npt.NDArray[np.float64]

#: Columns of names → the header field that lists the names.
_NAMED = {"Cluster": "Computer", "QOS": "Queue", "User": "User", "Group": "Group"}
_NAMED |= {name: name for name in ("Partition", "Account")}


def is_sacct(path: str) -> bool:
    """Return whether the first line of the file has column names of sacct, separated by `|`.

    Output of squeue, and of sacct without the right options, is accepted too. Its reader names the missing parts.
    """
    head = first_line(path)
    words = set(re.split(r"[|\s]+", head))
    return {"Submit", "State"} <= set(names_of(head, "|")) or bool(
        words & {"State", "STATE", "ST"} and words & {"JobID", "JobIDRaw", "JOBID"}
    )


def read_sacct(path: str | os.PathLike[str], *, lenient: bool = False, cache: bool = True) -> Log:
    """Read the jobs of a dump of sacct. Steps of jobs are left out and counted.

    Processors are CPUs: `ReqCPUS` as requested, `AllocCPUS` or `NCPUS` as used; without these columns, nodes. Other
    requests (`resource_columns.py`) come from `Constraints`, `ReqTRES`, `ReqNodes` and `SubmitLine`: nodes, features,
    GPUs and other resources, licences, exclusive nodes, and dependencies. Submit times count from the first. Names of
    users, groups, queues (QOS) and partitions become numbers in order of appearance. A malformed line is an error that
    names it; with `lenient` it is skipped.
    """
    path = Path(path)
    return read_file(
        path,
        lambda content: _parse(content, path, lenient),
        kind="-sacct-lenient" if lenient else "-sacct",
        expected="output of sacct --parsable2",
        cache=cache,
        divisor=TABLE,
    )


def _parse(content: bytes, path: Path, lenient: bool) -> CachedReading:
    head = content.partition(b"\n")[0]
    if b"JOBID" in head:
        raise HarnessError(f"{path}: is output of squeue, the state of a machine: expected it as --state {path}")
    if b"|" not in head:
        raise HarnessError(f"{path}: its columns are separated by blanks and cells are cut: expected sacct --parsable2")
    table, steps = read_delimited(content, path, "|", lenient=lenient, only=READERS, repair=repair_with)
    missing = [name for name in ("Submit", "State") if name not in table]
    if missing or not (set(table) & {"Elapsed", "ElapsedRaw"} or {"Start", "End"} <= set(table)):
        raise HarnessError(
            f"{path}: has no column {(missing or ['Elapsed'])[0]!r}; needed, by sacct --format: Submit, State, Elapsed "
            "(or Start and End)"
        )
    return Dump(table, path, lenient, list(steps)).reading()


class Dump:
    """The cells of a dump, converted to numbers column by column, and the steps that this took."""

    def __init__(self, table: pd.DataFrame, path: Path, lenient: bool, steps: list[Step]) -> None:
        self.table, self.path, self.lenient, self.steps = table, path, lenient, steps
        self.numbers: dict[str, Floats] = {}

    def reading(self) -> CachedReading:
        """Return the jobs of the dump as those of a log. Afterwards `table` has only the lines of jobs."""
        self.leave_out_steps()
        self.read_cells()
        jobs = _jobs(self)
        requests = _requests(self, jobs)
        frame = pd.DataFrame({name: canonical(values) for name, values in jobs.items()})
        header = (*_header(self), *requests.constraints.header)
        return CachedReading(frame, header, tuple(self.steps), content_digest(frame, header))

    def note(self, name: str, jobs: int | np.integer[Any], detail: str) -> None:
        if jobs:
            self.steps.append(Step(name, int(jobs), detail))

    def leave_out_steps(self) -> None:
        name = next((name for name in ("JobID", "JobIDRaw") if name in self.table), None)
        if name is not None:
            steps = self.table[name].str.fullmatch(STEP.pattern).to_numpy(dtype=np.bool_)
            self.note("job steps", steps.sum(), "lines of the steps of jobs: left out")
            self.table = self.table[~steps]

    def read_cells(self) -> None:
        """Fill `numbers` with every column that is used; NaN is unknown."""
        faulty = np.zeros(len(self.table), dtype=np.bool_)
        first = ""
        for name in self.table.columns:
            reader = READERS[name]
            if reader is None:
                continue
            codes, texts = pd.factorize(self.table[name])
            read = [attempt(reader, text) for text in texts]
            wrong = np.array([value is None for value in read], dtype=np.bool_)[codes]
            self.numbers[name] = np.array([np.nan if v is None else v for v in read], dtype=np.float64)[codes]
            if wrong.any():
                row = int(np.argmax(wrong))
                fault = f"line {self.table.index[row]}: {name} is '{shortened(self.table[name].iloc[row], 30)}'"
                if not self.lenient:
                    raise HarnessError(f"{self.path}: {fault}, which sacct does not print there")
                first = first or fault
                faulty |= wrong
        self.note("skipped malformed cells", faulty.sum(), f"first: {first}")
        known = ~faulty & np.isfinite(self.numbers["Submit"])
        self.note("no submit time", (~known & ~faulty).sum(), "left out")
        self.table = self.table[known]
        self.numbers = {name: values[known] for name, values in self.numbers.items()}
        if not len(self.table):
            raise HarnessError(f"{self.path}: has no jobs; expected lines of jobs with a submit time")

    def first_of(self, *names: str) -> Floats:
        """Return for each job the first known value of these columns."""
        values = np.full(len(self.table), np.nan)
        for name in names:
            if name in self.numbers:
                values = np.where(np.isnan(values), self.numbers[name], values)
        return values

    def numbered(self, *names: str) -> npt.NDArray[Any]:
        """Return the first of these columns that exists, as numbers from 1 in order of appearance."""
        for name in names:
            if name in self.table:
                return numbered(self.table[name])
        return np.full(len(self.table), -1)


def _jobs(dump: Dump) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a log."""
    states = dump.table["State"].map(state_word)
    unfinished = states.isin(UNFINISHED).to_numpy(dtype=np.bool_)
    dump.note("unfinished", unfinished.sum(), "still pending or running: runtime unknown")
    elapsed = dump.first_of("ElapsedRaw", "Elapsed")
    elapsed = np.where(np.isnan(elapsed), dump.first_of("End") - dump.first_of("Start"), elapsed)
    run = np.where(unfinished, np.nan, elapsed)
    nodes, used = dump.first_of("AllocNodes", "NNodes"), dump.first_of("AllocCPUS", "NCPUS")
    requested = dump.first_of("ReqCPUS")
    if not set(dump.numbers) & {"ReqCPUS", "AllocCPUS", "NCPUS"}:
        if not set(dump.numbers) & {"AllocNodes", "NNodes"}:
            raise HarnessError(f"{dump.path}: has no widths; expected a column NCPUS, AllocCPUS, ReqCPUS or NNodes")
        used = requested = nodes
        dump.note("width", len(nodes), "no column of CPUs: whole nodes")
    submit = dump.numbers["Submit"]
    jobs = {name: np.full(len(submit), -1.0) for name in SWF_COLUMNS} | {
        "job": _job_numbers(dump),
        "submit": submit - submit.min(),
        "wait": dump.first_of("Start") - submit,
        "run": run,
        "used_procs": used,
        "procs": requested,
        "estimate": dump.first_of("TimelimitRaw", "Timelimit"),
        "memory": _memory(dump, np.where(requested > 0, requested, used), nodes),
        "status": states.map(STATUS).to_numpy(),
        "user": dump.numbered("User", "UID"),
        "group": dump.numbered("Group", "GID", "Account"),
        "queue": dump.numbered("QOS"),
        "partition": dump.numbered("Partition"),
    }
    eligible = dump.first_of("Eligible")
    without = _without_limit(dump)
    if (without > 0).any():
        jobs[NO_LIMIT] = without
    if (eligible > submit).any():  # jobs with a begin time or a dependency
        jobs[BEGIN] = np.where(eligible > submit, eligible - submit.min(), -1.0)
    return {name: np.where(np.isnan(values), -1, values) for name, values in jobs.items()}


def _without_limit(dump: Dump) -> npt.NDArray[Any]:
    """Return for each job without a limit of its own the reason, as a number of `WITHOUT_LIMIT`; else −1."""
    kinds = np.full(len(dump.table), -1)
    for name in ("TimelimitRaw", "Timelimit"):
        if name in dump.table:
            named = dump.table[name].str.strip().str.lower().map(WITHOUT_LIMIT).fillna(-1).to_numpy(np.int64)
            kinds = np.where(kinds > 0, kinds, named)
    return np.where(np.isnan(dump.first_of("TimelimitRaw", "Timelimit")), kinds, -1)


def _requests(dump: Dump, jobs: dict[str, npt.NDArray[Any]]) -> Requests:
    """Add further requests, dependencies, accounts and arrays to the columns of a log."""
    procs = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"])
    requests = Requests(dump.table, procs, dump.first_of("ReqNodes"), str(dump.path))
    jobs |= requests.columns
    if "node_memory" in jobs:
        jobs["memory"] = np.where(jobs["node_memory"] > 0, -1, jobs["memory"])  # the same request, counted once
    before = requests.preceding
    waiting = int((before > 0).any(axis=1).sum())
    if waiting and not _keeps_numbers(dump):
        dump.note("dependencies", waiting, "refer to Slurm's job numbers, which are not kept: ignored")
    else:
        gone = (before > 0) & ~np.isin(before, jobs["job"])
        dump.note("dependencies", gone.any(axis=1).sum(), "on jobs that are not in the dump: ignored")
        jobs["preceding"], *others = before.T
        jobs |= {name: numbers for name, numbers in zip(ALSO_PRECEDING, others, strict=True) if (numbers > 0).any()}
        jobs |= {name: kinds for name, kinds in zip(AFTER, requests.after.T, strict=True) if (kinds >= 0).any()}
    dump.note("dependencies", requests.beyond, f"on more than {len(before.T)} others: ignored")
    dump.note("dependencies", requests.unsupported, "on any of several jobs, on a job name, or the like: ignored")
    dump.note("resources", requests.malformed, "request a number of resources that cannot be read: ignored")
    if "Account" in dump.table and set(dump.table) & {"Group", "GID"}:
        jobs["x_account"] = dump.numbered("Account")
    if (arrays := dump.first_of("ArrayJobID")).size and (arrays > 0).any():
        jobs["x_array"] = np.where(arrays > 0, arrays, -1)
    constraints = requests.constraints
    dump.note("constraints", constraints.beyond, f"with other operators, as {constraints.example!r}: ignored")
    return requests


def _keeps_numbers(dump: Dump) -> bool:
    """Return whether jobs keep their Slurm numbers."""
    plain = "JobIDRaw" in dump.table or "JobID" not in dump.table or dump.table["JobID"].str.isdigit().all()
    return bool(plain and not np.isnan(dump.first_of("JobIDRaw", "JobID")).any())


def _job_numbers(dump: Dump) -> npt.NDArray[Any]:
    """Return Slurm's job numbers, or numbers from 1 if jobs of an array share one."""
    if _keeps_numbers(dump):
        return dump.first_of("JobIDRaw", "JobID")
    numbers = dump.first_of("JobIDRaw", "JobID")
    dump.note("numbered", len(numbers), "Slurm's numbers are missing, or shared within arrays: from 1 instead")
    return np.arange(1, len(numbers) + 1)


def _memory(dump: Dump, procs: Floats, nodes: Floats) -> Floats:
    """Return requested memory per processor in KB. Slurm has it per CPU (…c), per node (…n), or per job."""
    requested = dump.first_of("ReqMem")
    if "ReqMem" not in dump.table:
        return requested
    per = dump.table["ReqMem"].str.rstrip("?").str[-1:].to_numpy()
    share = np.where(per == "c", 1.0, np.where(per == "n", np.fmax(nodes, 1.0), 1.0) / np.fmax(procs, 1.0))
    return np.where(requested > 0, np.floor(requested * share), np.nan)


def _header(dump: Dump) -> tuple[str, ...]:
    """Return the header lines of an SWF file with these jobs."""
    lines = [f"; UnixStartTime: {dump.numbers['Submit'].min():.0f}", "; TimeZoneString: UTC"]
    lines.append("; Note: read from sacct, whose local times are taken as they are")
    for name, field in _NAMED.items():
        if name in dump.table:
            texts = [text for text in pd.unique(dump.table[name]) if text]
            numbered = field != "Computer"
            lines += [f"; {field}: {f'{i} ' if numbered else ''}{text}" for i, text in enumerate(texts, start=1)]
            if not numbered and len(texts) > 1:
                dump.note("clusters", len(dump.table), f"of {len(texts)} clusters, treated as one: {', '.join(texts)}")
    return tuple(lines)
