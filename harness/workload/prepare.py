"""From a log to the jobs that are replayed: every choice explicit, every step counted."""

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass

from harness.errors import HarnessError, did_you_mean
from harness.workload import steps
from harness.workload.condition import Condition
from harness.workload.log import Log, Workload

#: Part of every workload's identity; raised whenever a preparation means something else than before.
_RECIPE = 1


def prepare(
    log: Log,
    *,
    procs_from: str = "requested",
    estimates: str = "requested",
    overrun: str = "raise",
    unknown: str = "drop",
    memory: str = "requested",
    jobs: int | None = None,
    load: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    filter: str | None = None,
    width: float | None = None,
) -> Workload:
    """The jobs of `log`, ready to be replayed, after these steps in this order:

    1. submit: jobs without a submit time are dropped; then those outside `start` ≤ submit < `stop`, in
       seconds after the log's first submit; then all but the first `jobs` by (submit, log order).
    2. width: `procs_from` "requested" processors, else used ones, or "used" the other way round; jobs
       without either are dropped.
    3. runtime: jobs with unknown or zero runtime are dropped; with `unknown="cancel"` those that the log
       calls cancelled and gives a wait leave the queue that long after their submit instead.
    4. estimates: "requested" (where missing, the runtime), "actual" (the runtime), or "factor(f)" (f times
       it). A cancelled job has no runtime: its estimate is what it requested, or else one second.
    5. overrun, where the runtime is longer than the estimate: "raise" the estimate, or "clip" the job, which
       then counts as killed.
    6. memory: per processor, as "requested", or "ignored".
    7. filter: jobs for which `filter` does not hold are dropped. It compares columns with numbers and each other,
       as in `procs <= 64 and not user == 3`; the columns are job, submit, procs, run, estimate, wait, memory,
       status, user, group, executable, queue and partition, as the steps so far have made them.
    8. width: processors are multiplied by `width`, halves rounded up, at least one.
    9. load: the time from the first submit to each other is divided by `load`.

    Waits in the log say nothing about jobs of another width or at other times: where widths or the load were
    scaled, they are unknown. What was done is in `Workload.preparation`, after what reading had to do.
    """
    condition = None if filter is None else Condition(filter)
    told = None if condition is None else condition.text
    options = _Options(procs_from, estimates, overrun, unknown, memory, jobs, load, start, stop, told, width)
    factor = options.checked_factor()
    work = steps.Workbench(log)
    steps.slice_(work, start, stop, jobs)
    steps.choose_width(work, procs_from)
    steps.choose_runtime(work, unknown)
    steps.choose_estimate(work, estimates, factor)
    steps.settle_overrun(work, overrun)
    steps.choose_memory(work, memory)
    steps.filter_(work, condition)
    steps.scale_width(work, width)
    steps.scale_load(work, load)
    return work.finished(options.digest(log, factor))


@dataclass(frozen=True)
class _Options:
    procs_from: str
    estimates: str
    overrun: str
    unknown: str
    memory: str
    jobs: int | None
    load: float | None
    start: float | None
    stop: float | None
    filter: str | None  # in its one spelling
    width: float | None

    def checked_factor(self) -> float | None:
        """The factor of `factor(f)`, None for other estimates; complains about any option out of range."""
        _check_choice("procs_from", self.procs_from, "requested", "used")
        _check_choice("overrun", self.overrun, "raise", "clip")
        _check_choice("unknown", self.unknown, "drop", "cancel")
        _check_choice("memory", self.memory, "requested", "ignored")
        if self.jobs is not None and not (isinstance(self.jobs, int) and self.jobs > 0):
            raise HarnessError(f"jobs={self.jobs!r}: expected a whole number above 0")
        for name, factor in (("load", self.load), ("width", self.width)):
            if factor is not None and not 0 < factor < math.inf:
                raise HarnessError(f"{name}={factor!r}: expected a number above 0")
        begin = -math.inf if self.start is None else self.start
        end = math.inf if self.stop is None else self.stop
        if not begin < end:
            raise HarnessError(f"start={self.start!r}, stop={self.stop!r}: expected start before stop, in seconds")
        if not self.estimates.startswith("factor"):
            _check_choice("estimates", self.estimates, "requested", "actual", "factor(f)")
            return None
        match = re.fullmatch(r"factor\(\s*(\d+\.?\d*|\.\d+)\s*\)", self.estimates)
        if match is None or float(match[1]) < 1:
            raise HarnessError(f"estimates={self.estimates!r}: expected factor(f), f at least 1, as in factor(2)")
        return float(match[1])

    def digest(self, log: Log, factor: float | None) -> str:
        """One digest for the same jobs prepared in the same way, however the options were written."""
        options = asdict(self) | {"estimates": self.estimates if factor is None else factor}
        for name in ("load", "start", "stop", "width"):
            options[name] = None if options[name] is None else float(options[name])
        return hashlib.sha256(json.dumps([_RECIPE, log.digest, options], sort_keys=True).encode()).hexdigest()


def _check_choice(option: str, value: str, *choices: str) -> None:
    if value not in choices:
        raise HarnessError(f"{option}={value!r}: {did_you_mean(value, choices)}")
