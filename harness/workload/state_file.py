"""The state of a machine that Slurm runs, from `squeue` or `sacct`: running and waiting jobs.

Each of these commands writes such a file. Columns may have any order, and further columns are ignored:

    squeue --json > state.txt
    squeue -r -o '%i|%u|%T|%V|%S|%M|%l|%C|%P|%q|%r' > state.txt
    sacct -a -X -P -s R,PD \
      -o JobID,User,State,Submit,Start,Elapsed,Timelimit,ReqCPUS,AllocCPUS,Partition,QOS > state.txt

A dump of sacct may also contain finished jobs. `harness forecast` then learns from their runtimes and limits.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from harness.disk.size_limit import TREE
from harness.disk.stored import stored_bytes, unpacked
from harness.errors import HarnessError
from harness.workload.content import whole_numbers
from harness.workload.delimited import read_delimited
from harness.workload.log import STARTED, Step
from harness.workload.log_files import log_name
from harness.workload.sacct import Dump
from harness.workload.sacct_cells import READERS, STATUS, repair_with, state_word
from harness.workload.snapshot import Snapshot, widths
from harness.workload.state_json import as_table, is_json
from harness.workload.swf_header import header_procs

#: Column heads of squeue → those of sacct.
_OF_SQUEUE = {
    "JOBID": "JobID", "USER": "User", "STATE": "State", "ST": "State", "SUBMIT_TIME": "Submit", "START_TIME": "Start",
    "TIME": "Elapsed", "TIME_LIMIT": "Timelimit", "CPUS": "ReqCPUS", "PARTITION": "Partition", "QOS": "QOS",
    "ACCOUNT": "Account", "REASON": "Reason", "NODES": "NNodes", "GROUP": "Group",
}  # fmt: skip

#: States of jobs that hold processors, and of waiting jobs, also in squeue's abbreviations.
_RUNNING = ("RUNNING", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "R", "CG", "CF", "RS")
_WAITING = ("PENDING", "PD")

#: Reasons for which a waiting job cannot start, even on an empty machine.
_HELD = ("JobHeldUser", "JobHeldAdmin", "Dependency", "DependencyNeverSatisfied", "BeginTime", "JobHoldMaxRequeue")

_NEEDED = ("State", "Submit", "Start", "Timelimit")


def read_state(path: str | os.PathLike[str], *, lenient: bool = False) -> Snapshot:
    """Read the running and waiting jobs that `squeue -o '%i|%u|%T|%V|%S|%M|%l|%C'` or `sacct -P` printed.

    The time of the state is the latest time in any line: a submission, or the start of a running job plus its elapsed
    time. Suspended and held jobs are left out and counted. A malformed line is an error; with `lenient` it is skipped.
    """
    path = Path(path)
    content = unpacked(stored_bytes(path, "output of squeue or sacct -P"), path, TREE)
    content = as_table(content, path) if is_json(content) else content
    table, steps = read_delimited(_renamed(content), path, "|", lenient=lenient, only=_COLUMNS, repair=repair_with)
    missing = [name for name in _NEEDED if name not in table and not (name == "Timelimit" and "TimelimitRaw" in table)]
    if missing:
        raise HarnessError(f"{path}: has no column {missing[0]!r}; needed: {', '.join(_NEEDED)}, or squeue's names")
    if "JobID" in table and table["JobID"].str.contains("_[", regex=False).any():
        array = table["JobID"][table["JobID"].str.contains("_[", regex=False)].iloc[0]
        raise HarnessError(
            f"{path}: {array} is an array of jobs in one line; expected a line for each, as with squeue -r"
        )
    return _snapshot(*_plain_words(table), path, lenient, list(steps))


_COLUMNS = {*READERS, "Reason"}


def _renamed(content: bytes) -> bytes:
    """Return the file with the column heads of sacct."""
    head, line_end, rest = content.partition(b"\n")
    names = [name.strip() for name in head.decode("utf-8", "replace").split("|")]
    return "|".join(_OF_SQUEUE.get(name, name) for name in names).encode() + line_end + rest


def _plain_words(table: pd.DataFrame) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Return the table with states that a log has, and the original states."""
    words = table["State"].map(lambda text: state_word(text.strip()))
    known = words.where(~words.isin(_RUNNING), "RUNNING").where(~words.isin(_WAITING), "PENDING")
    table = table.apply(lambda column: column.str.strip()).replace({"NOT_SET": "", "(null)": ""})
    return table.assign(State=known.where(known.isin(STATUS), "SUSPENDED")), words


def _snapshot(table: pd.DataFrame, words: "pd.Series[str]", path: Path, lenient: bool, steps: list[Step]) -> Snapshot:
    """Return the state that the lines describe."""
    reasons = table.pop("Reason") if "Reason" in table else pd.Series("", table.index)
    dump = Dump(table, path, lenient, steps)
    reading = dump.reading()
    dump.steps = [step for step in dump.steps if step.name != "unfinished"]
    _keep_numbers(dump, reading.jobs)
    lines = dump.table.index
    state, frame = dump.table["State"], reading.jobs
    begun, elapsed = dump.first_of("Start"), dump.first_of("ElapsedRaw", "Elapsed")
    first = dump.numbers["Submit"].min()
    runs, waits = (state == "RUNNING").to_numpy(), (state == "PENDING").to_numpy()
    if (runs & np.isnan(begun)).any():
        line = lines[int(np.argmax(runs & np.isnan(begun)))]
        raise HarnessError(f"{path}: line {line}: a running job without its start time; expected one")
    late = runs & (dump.numbers["Submit"] > begun)
    if late.any():
        line = lines[int(np.argmax(late))]
        raise HarnessError(f"{path}: line {line}: a running job submitted after its start; expected its submit before")
    held = waits & reasons[lines].str.strip("()").isin(_HELD).to_numpy()
    dump.note("held", held.sum(), "waiting jobs held by a user, another job or a begin time: left out")
    other = ~runs & ~waits & (frame["run"] < 0).to_numpy()
    dump.note("neither running nor waiting", other.sum(), f"{', '.join(sorted(set(words[lines][other])))}: left out")
    narrow = (runs | waits) & (widths(frame) <= 0)
    dump.note("without a width", narrow.sum(), "running or waiting jobs of no processors: left out")
    present = (runs | (waits & ~held)) & ~narrow
    if not present.any():
        raise HarnessError(f"{path}: no job runs or waits in it; expected lines of jobs that are RUNNING or PENDING")
    instants = np.concatenate([dump.numbers["Submit"], begun[runs], (begun + np.nan_to_num(elapsed))[runs]])
    now = float(np.nanmax(instants) - first)
    since = np.where(runs, np.where(np.isnan(begun), 0, begun) - first, -1.0)
    frame["wait"] = np.where(waits, -1, frame["wait"])  # not Slurm's estimate of the start
    # A running job counts with its allocated processors, a waiting one with the requested ones.
    frame["procs"] = np.where(runs & (frame["used_procs"] > 0), frame["used_procs"], frame["procs"])
    return Snapshot(
        log_name(path),
        now,
        frame[present].assign(**{STARTED: since[present]}).reset_index(drop=True),
        frame[~other & ~held].reset_index(drop=True),
        tuple(_labels(dump)[present]),
        reading.header,
        tuple(dump.steps),
        header_procs(reading.header),
        live=True,
    )


def _keep_numbers(dump: Dump, jobs: pd.DataFrame) -> None:
    """Use Slurm's job numbers if they are unique, even for parts of arrays."""
    numbers = dump.first_of("JobIDRaw", "JobID")
    if not np.isnan(numbers).any() and len(np.unique(numbers)) == len(numbers):
        jobs["job"] = whole_numbers(numbers, f"{dump.path}: the number of job")
        dump.steps = [step for step in dump.steps if step.name != "numbered"]


def _labels(dump: Dump) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
    name = next((name for name in ("JobID", "JobIDRaw") if name in dump.table), None)
    numbers = map(str, range(1, len(dump.table) + 1)) if name is None else dump.table[name]
    return np.array(list(numbers), dtype=object)
