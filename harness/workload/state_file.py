"""The state of a machine that Slurm runs, as `squeue` or `sacct` print it: who runs since when, and who waits.

Each of these writes such a file; further columns do no harm, and their order does not matter:

    squeue --json > state.txt
    squeue -r -o '%i|%u|%T|%V|%S|%M|%l|%C|%P|%q|%r' > state.txt
    sacct -a -X -P -s R,PD \
      -o JobID,User,State,Submit,Start,Elapsed,Timelimit,ReqCPUS,AllocCPUS,Partition,QOS > state.txt

A dump of sacct with jobs that have ended, too, says besides what they took of their limits, which `harness forecast`
draws from.
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
from harness.workload.sacct_cells import READERS, STATUS, mend_with, state_word
from harness.workload.snapshot import Snapshot, widths
from harness.workload.state_json import as_table, is_json
from harness.workload.swf_header import header_procs

#: What squeue writes above its columns → what sacct calls them.
_OF_SQUEUE = {
    "JOBID": "JobID", "USER": "User", "STATE": "State", "ST": "State", "SUBMIT_TIME": "Submit", "START_TIME": "Start",
    "TIME": "Elapsed", "TIME_LIMIT": "Timelimit", "CPUS": "ReqCPUS", "PARTITION": "Partition", "QOS": "QOS",
    "ACCOUNT": "Account", "REASON": "Reason", "NODES": "NNodes", "GROUP": "Group",
}  # fmt: skip

#: States of jobs that hold their processors, and of those that wait for them, also as squeue abbreviates them.
_RUNNING = ("RUNNING", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "R", "CG", "CF", "RS")
_WAITING = ("PENDING", "PD")

#: Why waiting jobs cannot start whatever is free.
_HELD = ("JobHeldUser", "JobHeldAdmin", "Dependency", "DependencyNeverSatisfied", "BeginTime", "JobHoldMaxRequeue")

_NEEDED = ("State", "Submit", "Start", "Timelimit")


def read_state(path: str | os.PathLike[str], *, lenient: bool = False) -> Snapshot:
    """Read who runs and who waits, as `squeue -o '%i|%u|%T|%V|%S|%M|%l|%C'` or `sacct -P` print it at one instant.

    The instant is the latest that any line knows of: the start of a running job and how long it runs. Who is
    suspended, or held by somebody or by another job, is left out and counted. A malformed line stops the reading; with
    `lenient` it is skipped.
    """
    path = Path(path)
    content = unpacked(stored_bytes(path, "what squeue or sacct -P print"), path, TREE)
    content = as_table(content, path) if is_json(content) else content
    table, steps = read_delimited(_renamed(content), path, "|", lenient=lenient, only=_wanted(), mend=mend_with)
    missing = [name for name in _NEEDED if name not in table and not (name == "Timelimit" and "TimelimitRaw" in table)]
    if missing:
        raise HarnessError(f"{path}: has no column {missing[0]!r}; needed: {', '.join(_NEEDED)}, in squeue's words too")
    if "JobID" in table and table["JobID"].str.contains("_[", regex=False).any():
        array = table["JobID"][table["JobID"].str.contains("_[", regex=False)].iloc[0]
        raise HarnessError(
            f"{path}: {array} is an array of jobs in one line; expected a line for each, as with squeue -r"
        )
    return _snapshot(*_plain_words(table), path, lenient, list(steps))


def _wanted() -> set[str]:
    return {*READERS, "Reason"}


def _renamed(content: bytes) -> bytes:
    """Return the file with squeue's names of columns as sacct has them."""
    head, line_end, rest = content.partition(b"\n")
    names = [name.strip() for name in head.decode("utf-8", "replace").split("|")]
    return "|".join(_OF_SQUEUE.get(name, name) for name in names).encode() + line_end + rest


def _plain_words(table: pd.DataFrame) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Return the table with states that a log knows, and the words that stood there."""
    words = table["State"].map(lambda text: state_word(text.strip()))
    known = words.where(~words.isin(_RUNNING), "RUNNING").where(~words.isin(_WAITING), "PENDING")
    table = table.apply(lambda column: column.str.strip()).replace({"NOT_SET": "", "(null)": ""})
    return table.assign(State=known.where(known.isin(STATUS), "SUSPENDED")), words


def _snapshot(table: pd.DataFrame, words: "pd.Series[str]", path: Path, lenient: bool, steps: list[Step]) -> Snapshot:
    """Return what the lines say of running and waiting jobs, and of those that have ended."""
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
    dump.note("held", held.sum(), "waiting jobs held by somebody, by another job or until later: left out")
    other = ~runs & ~waits & (frame["run"] < 0).to_numpy()
    dump.note("neither running nor waiting", other.sum(), f"{', '.join(sorted(set(words[lines][other])))}: left out")
    narrow = (runs | waits) & (widths(frame) <= 0)
    dump.note("without a width", narrow.sum(), "running or waiting jobs of no processors: left out")
    there = (runs | (waits & ~held)) & ~narrow
    if not there.any():
        raise HarnessError(f"{path}: nobody runs or waits in it; expected lines of jobs that are RUNNING or PENDING")
    instants = np.concatenate([dump.numbers["Submit"], begun[runs], (begun + np.nan_to_num(elapsed))[runs]])
    now = float(np.nanmax(instants) - first)
    since = np.where(runs, np.where(np.isnan(begun), 0, begun) - first, -1.0)
    frame["wait"] = np.where(waits, -1, frame["wait"])  # Slurm's own guess of their start
    # On a running job's line the processors that it has, on a waiting one's those that it asks for.
    held_now = np.where(runs & (frame["used_procs"] > 0), frame["used_procs"], frame["procs"])
    frame["procs"] = held_now
    return Snapshot(
        log_name(path),
        now,
        frame[there].assign(**{STARTED: since[there]}).reset_index(drop=True),
        frame[~other & ~held].reset_index(drop=True),
        tuple(_labels(dump)[there]),
        reading.header,
        tuple(dump.steps),
        header_procs(reading.header),
        live=True,
    )


def _keep_numbers(dump: Dump, jobs: pd.DataFrame) -> None:
    """Let jobs have Slurm's own numbers if no two share one, even where some belong to arrays."""
    numbers = dump.first_of("JobIDRaw", "JobID")
    if not np.isnan(numbers).any() and len(np.unique(numbers)) == len(numbers):
        jobs["job"] = whole_numbers(numbers, f"{dump.path}: the number of job")
        dump.steps = [step for step in dump.steps if step.name != "numbered"]


def _labels(dump: Dump) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
    name = next((name for name in ("JobID", "JobIDRaw") if name in dump.table), None)
    numbers = map(str, range(1, len(dump.table) + 1)) if name is None else dump.table[name]
    return np.array(list(numbers), dtype=object)
