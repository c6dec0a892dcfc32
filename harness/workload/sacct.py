"""The accounting of Slurm, as `sacct --parsable2` prints it: one line per job and one per step of a job.

Format: https://slurm.schedmd.com/sacct.html. Any columns in any order will do, as long as they say when a job was
submitted, how long it ran, how wide it was and how it ended.
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
from harness.workload.sacct_cells import READERS, STATUS, STEP, UNFINISHED, attempt, mend_with, state_word
from harness.workload.sacct_requests import Asked

Floats = npt.NDArray[np.float64]

#: Columns of names → what the header calls what their numbers stand for.
_NAMED = {"Cluster": "Computer", "QOS": "Queue", "User": "User", "Group": "Group"}
_NAMED |= {name: name for name in ("Partition", "Account")}


def is_sacct(path: str) -> bool:
    """Say whether the first line of the file `path` names columns of sacct, `|` between them.

    So does what sacct prints without the right options, and squeue: they are refused by what is missing, and not as
    some other format.
    """
    head = first_line(path)
    words = set(re.split(r"[|\s]+", head))
    return {"Submit", "State"} <= set(names_of(head, "|")) or bool(
        words & {"State", "STATE", "ST"} and words & {"JobID", "JobIDRaw", "JOBID"}
    )


def read_sacct(path: str | os.PathLike[str], *, lenient: bool = False, cache: bool = True) -> Log:
    """Read the jobs of a dump of sacct; steps of jobs are left out and counted.

    Processors are CPUs: `ReqCPUS` as requested, `AllocCPUS` or `NCPUS` as used; nodes where there is nothing else.
    What jobs ask for besides (`asked.py`) is in `Constraints`, `ReqTRES`, `ReqNodes` and `SubmitLine`: so many nodes,
    features, GPUs and other resources, licences, nodes to themselves; and the job after which they may begin.
    Submit times count from the first. Names of users, groups, queues (QOS) and partitions become numbers, in the
    order in which they appear. A malformed line stops the reading with its number; with `lenient` it is skipped.
    """
    path = Path(path)
    return read_file(
        path,
        lambda content: _parse(content, path, lenient),
        kind="-sacct-lenient" if lenient else "-sacct",
        expected="what sacct --parsable2 prints",
        cache=cache,
        divisor=TABLE,
    )


def _parse(content: bytes, path: Path, lenient: bool) -> CachedReading:
    head = content.partition(b"\n")[0]
    if b"JOBID" in head:
        raise HarnessError(f"{path}: what squeue prints, the state of a machine: expected it as --state {path}")
    if b"|" not in head:
        raise HarnessError(f"{path}: columns set apart by blanks, in which cells are cut: expected sacct --parsable2")
    table, steps = read_delimited(content, path, "|", lenient=lenient, only=READERS, mend=mend_with)
    missing = [name for name in ("Submit", "State") if name not in table]
    if missing or not (set(table) & {"Elapsed", "ElapsedRaw"} or {"Start", "End"} <= set(table)):
        raise HarnessError(
            f"{path}: has no column {(missing or ['Elapsed'])[0]!r}; needed, by sacct --format: Submit, State, Elapsed "
            "(or Start and End)"
        )
    dump = Dump(table, path, lenient, list(steps))
    return dump.reading()


class Dump:
    """The cells of a dump as they turn into numbers, and what had to be done."""

    def __init__(self, table: pd.DataFrame, path: Path, lenient: bool, steps: list[Step]) -> None:
        self.table, self.path, self.lenient, self.steps = table, path, lenient, steps
        self.numbers: dict[str, Floats] = {}

    def reading(self) -> CachedReading:
        """Return the jobs of the dump as those of a log; the table keeps their lines alone, without those of steps."""
        self.leave_out_steps()
        self.read_cells()
        jobs = _jobs(self)
        asked = _asked(self, jobs)
        frame = pd.DataFrame({name: canonical(values) for name, values in jobs.items()})
        header = (*_header(self), *asked.constraints.header)
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
        """Fill `numbers` with every column that has a meaning; NaN is unknown."""
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
            raise HarnessError(f"{self.path}: holds no jobs; expected lines of jobs with a submit time")

    def first_of(self, *names: str) -> Floats:
        """Return the first of these columns that is known, job by job."""
        values = np.full(len(self.table), np.nan)
        for name in names:
            if name in self.numbers:
                values = np.where(np.isnan(values), self.numbers[name], values)
        return values

    def numbered(self, *names: str) -> npt.NDArray[Any]:
        """Return the names in the first of these columns that is there, as numbers from 1 in order of appearance."""
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
    if (eligible > submit).any():  # told to begin later, or after another job
        jobs[BEGIN] = np.where(eligible > submit, eligible - submit.min(), -1.0)
    return {name: np.where(np.isnan(values), -1, values) for name, values in jobs.items()}


def _without_limit(dump: Dump) -> npt.NDArray[Any]:
    """Return for each job whether it has no limit of its own: the kind of it, −1 if it has one."""
    kinds = np.full(len(dump.table), -1)
    for name in ("TimelimitRaw", "Timelimit"):
        if name in dump.table:
            named = dump.table[name].str.strip().str.lower().map(WITHOUT_LIMIT).fillna(-1).to_numpy(np.int64)
            kinds = np.where(kinds > 0, kinds, named)
    return np.where(np.isnan(dump.first_of("TimelimitRaw", "Timelimit")), kinds, -1)


def _asked(dump: Dump, jobs: dict[str, npt.NDArray[Any]]) -> Asked:
    """Add to the columns of a log what else the jobs asked for, and whose they are beyond what a log has room for."""
    procs = np.where(jobs["procs"] > 0, jobs["procs"], jobs["used_procs"])
    asked = Asked(dump.table, procs, dump.first_of("ReqNodes"), str(dump.path))
    jobs |= asked.columns
    if "node_memory" in jobs:
        jobs["memory"] = np.where(jobs["node_memory"] > 0, -1, jobs["memory"])  # said once
    waiting = int((asked.preceding > 0).any(axis=1).sum())
    if waiting and not _keeps_numbers(dump):
        dump.note("dependencies", waiting, "name jobs by Slurm's numbers, which are not kept: not heeded")
    else:
        gone = (asked.preceding > 0) & ~np.isin(asked.preceding, jobs["job"])
        dump.note(
            "dependencies", gone.any(axis=1).sum(), "wait for jobs that are not in the dump: for these they do not"
        )
        jobs["preceding"], *others = asked.preceding.T
        jobs |= {name: numbers for name, numbers in zip(ALSO_PRECEDING, others, strict=True) if (numbers > 0).any()}
        jobs |= {name: kinds for name, kinds in zip(AFTER, asked.after.T, strict=True) if (kinds >= 0).any()}
    dump.note("dependencies", asked.beyond, f"wait for more than {len(asked.preceding.T)} others: not heeded")
    dump.note("dependencies", asked.otherwise, "wait for any of several, for one of a name, or the like: not heeded")
    dump.note("resources", asked.malformed, "ask for a number of resources that cannot be read: not heeded")
    if "Account" in dump.table and set(dump.table) & {"Group", "GID"}:
        jobs["x_account"] = dump.numbered("Account")
    if (arrays := dump.first_of("ArrayJobID")).size and (arrays > 0).any():
        jobs["x_array"] = np.where(arrays > 0, arrays, -1)
    dump.note(
        "constraints", asked.constraints.beyond, f"say more than features, as {asked.constraints.example!r}: not heeded"
    )
    return asked


def _keeps_numbers(dump: Dump) -> bool:
    """Return whether jobs have the numbers that Slurm gave them."""
    plain = "JobIDRaw" in dump.table or "JobID" not in dump.table or dump.table["JobID"].str.isdigit().all()
    return bool(plain and not np.isnan(dump.first_of("JobIDRaw", "JobID")).any())


def _job_numbers(dump: Dump) -> npt.NDArray[Any]:
    """Return Slurm's own numbers; from 1 where jobs of an array share one, and there is no other."""
    if _keeps_numbers(dump):
        return dump.first_of("JobIDRaw", "JobID")
    numbers = dump.first_of("JobIDRaw", "JobID")
    dump.note("numbered", len(numbers), "Slurm's numbers are missing or shared by the jobs of an array: from 1 instead")
    return np.arange(1, len(numbers) + 1)


def _memory(dump: Dump, procs: Floats, nodes: Floats) -> Floats:
    """Return requested memory per processor in KB: Slurm gives it per CPU (…c), per node (…n), or for the job."""
    requested = dump.first_of("ReqMem")
    if "ReqMem" not in dump.table:
        return requested
    per = dump.table["ReqMem"].str.rstrip("?").str[-1:].to_numpy()
    share = np.where(per == "c", 1.0, np.where(per == "n", np.fmax(nodes, 1.0), 1.0) / np.fmax(procs, 1.0))
    return np.where(requested > 0, np.floor(requested * share), np.nan)


def _header(dump: Dump) -> tuple[str, ...]:
    """Return what an SWF file made of this dump would say."""
    lines = [f"; UnixStartTime: {dump.numbers['Submit'].min():.0f}", "; TimeZoneString: UTC"]
    lines.append("; Note: read from sacct, whose local times are taken as they are")
    for name, field in _NAMED.items():
        if name in dump.table:
            texts = [text for text in pd.unique(dump.table[name]) if text]
            numbered = field != "Computer"
            lines += [f"; {field}: {f'{i} ' if numbered else ''}{text}" for i, text in enumerate(texts, start=1)]
            if not numbered and len(texts) > 1:
                dump.note("clusters", len(dump.table), f"of {len(texts)} clusters, taken as one: {', '.join(texts)}")
    return tuple(lines)
