"""The options of a preparation, which turns a log into the jobs of a replay. Each option is declared once, here.

The fields of `Preparation` become the arguments of `prepare`, the keys of a field's workloads, the options of commands,
and a part of the digest of a workload. A new option is a new field, and a step in `harness.workload.steps` that uses
it.
"""

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from numbers import Integral, Real
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from harness.errors import HarnessError, did_you_mean
from harness.present.dates import moment

#: Part of every digest; increased when a preparation has another result than before.
_RECIPE = 1

#: The options that are part of every digest. Later options only count where they are given, so published digests stay.
_FIRST = frozenset(
    ("procs_from", "estimates", "overrun", "unknown", "memory", "jobs", "load", "start", "stop", "filter", "width")
)


@dataclass(frozen=True)
class Option:
    """The properties of an option besides its type and default."""

    help: str
    flag: str = ""  # on the command line (default: the name, with dashes)
    metavar: str | None = None
    above: float | None = None  # exclusive lower bound
    keeps_waits: bool = True  # whether the logged waits still apply


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The options of a preparation, in the order in which they apply."""

    gap: Annotated[
        Literal["after", "before"], Option("for logs of interarrival times: each passes after its job, or before it")
    ] = "after"
    start: Annotated[
        float | str | None, Option("first submission: seconds after the log's first, or a date", "--from", "S|DATE")
    ] = None
    stop: Annotated[
        float | str | None, Option("end of submissions: seconds after the log's first, or a date", "--to", "S|DATE")
    ] = None
    jobs: Annotated[int | None, Option("only the first N jobs, counted before others are dropped", above=0)] = None
    procs_from: Annotated[Literal["requested", "used"], Option("width of a job: requested or used processors")] = (
        "requested"
    )
    unknown: Annotated[Literal["drop", "cancel"], Option("jobs without a runtime: drop, or cancel in the queue")] = (
        "drop"
    )
    zeros: Annotated[Literal["drop", "keep"], Option("jobs with a runtime of zero: drop, or keep")] = "drop"
    estimates: Annotated[str, Option("requested, actual, or factor(f)")] = "requested"
    overrun: Annotated[Literal["raise", "clip"], Option("jobs over their estimate: raise it, or clip the job")] = (
        "raise"
    )
    seconds_at: Annotated[
        float | None,
        Option("rate of the logged machine, 1 is full speed: work is logged seconds times this", above=0),
    ] = None
    memory: Annotated[Literal["requested", "ignored"], Option("memory per processor: requested, or ignored")] = (
        "requested"
    )
    resources: Annotated[
        Literal["requested", "ignored"], Option("features, nodes, GPUs, licences: requested, or ignored")
    ] = "requested"
    filter: Annotated[str | None, Option("jobs like 'procs <= 64 and user != 3'", metavar="CONDITION")] = None
    width: Annotated[
        float | None, Option("multiply the widths, to fit another machine", above=0, keeps_waits=False)
    ] = None
    load: Annotated[
        float | None,
        Option("multiply the load: interarrival times are divided by it", above=0, keeps_waits=False),
    ] = None

    def __post_init__(self) -> None:
        for name, kind, option in declared():
            object.__setattr__(self, name, _checked(name, getattr(self, name), kind, option))
        dates = isinstance(self.start, str) or isinstance(self.stop, str)  # only the log can convert them to seconds
        begin, end = (-math.inf if self.start is None else self.start), (math.inf if self.stop is None else self.stop)
        if not (dates or begin < end):  # type: ignore[operator]
            raise HarnessError(f"start={self.start!r}, stop={self.stop!r}: expected start before stop, in seconds")
        if self.estimates not in ("requested", "actual") and not self.factor >= 1:
            if not self.estimates.startswith("factor"):
                raise _unknown_word("estimates", self.estimates, ("requested", "actual", "factor(f)"))
            raise HarnessError(f"estimates={self.estimates!r}: expected factor(f), f at least 1, as in factor(2)")
        if self.filter is not None:
            from harness.workload.condition import (
                Condition,
            )  # loads numpy, without which the command line starts faster

            object.__setattr__(self, "filter", Condition(self.filter).text)  # in one spelling

    def in_seconds(self, header: tuple[str, ...], name: str, first: float) -> "Preparation":
        """Return the options with dates as seconds after the `first` submission, by the header of a log."""
        dates = {key: value for key in ("start", "stop") if isinstance(value := getattr(self, key), str)}
        if not dates:
            return self
        from harness.workload.wall_clock import WallClock  # loads pandas, without which the command line starts faster

        clock = WallClock.of(header)
        if clock.start is None:
            option, date = next(iter(dates.items()))
            raise HarnessError(
                f"{option}={date!r}: {name} has no date (its header has no UnixStartTime): expected seconds after the "
                "first submit"
            )
        seconds: dict[str, Any] = {option: clock.time_of(date) - first for option, date in dates.items()}
        return replace(self, **seconds)

    @property
    def factor(self) -> float:
        """The f of `estimates="factor(f)"`; NaN for other estimates."""
        match = re.fullmatch(r"factor\(\s*(\d+(?:\.\d*)?|\.\d+)\s*\)", self.estimates)
        return float(match[1]) if match else math.nan

    @property
    def without_waits(self) -> list[tuple[str, Option]]:
        """The given options after which the logged waits no longer apply."""
        given = ((name, option) for name, _, option in declared() if getattr(self, name) is not None)
        return [(name, option) for name, option in given if not option.keeps_waits]

    def digest(self, log: str) -> str:
        """Return the digest of a prepared log. `log` is the log's own. The spelling of options does not matter."""
        options = asdict(self) | ({"estimates": self.factor} if self.factor >= 1 else {})
        used = {f.name: options[f.name] for f in fields(self) if f.name in _FIRST or options[f.name] != f.default}
        return hashlib.sha256(json.dumps([_RECIPE, log, used], sort_keys=True).encode()).hexdigest()


@cache
def declared() -> tuple[tuple[str, Any, Option], ...]:
    """Return the name, type and other properties of every option, in order."""
    kinds = get_type_hints(Preparation, include_extras=True)
    return tuple((f.name, get_args(kinds[f.name])[0], kinds[f.name].__metadata__[0]) for f in fields(Preparation))


def words_of(kind: Any) -> tuple[str, ...]:
    """Return the words that an option of this type accepts; none for numbers and free text."""
    return next((get_args(one) for one in (kind, *get_args(kind)) if get_origin(one) is Literal), ())


def _checked(name: str, value: Any, kind: Any, option: Option) -> Any:
    """Return `value` converted to the type of the option, or refuse it."""
    if value is None and NoneType in get_args(kind):
        return None
    if float in get_args(kind) and str in get_args(kind):
        return _time(name, value, option)
    if words := words_of(kind):
        if value not in words:
            raise _unknown_word(name, value, words)
        return value
    if kind is str or str in get_args(kind):
        if not isinstance(value, str):
            raise HarnessError(f"{name}={value!r}: expected a text")
        return value
    whole = int in get_args(kind)
    long = isinstance(value, Integral) and abs(int(value)) >= 2**63
    if isinstance(value, Integral if whole else Real) and not isinstance(value, bool) and not long:
        number: int | float = int(value) if isinstance(value, Integral) and whole else float(value)
        if number == number and (option.above is None or option.above < number < math.inf):
            return number
    least = "a whole number" if whole else "a number"
    above = "" if option.above is None else f" above {option.above:g}"
    raise HarnessError(f"{name}={value!r}: expected {least}{above}{', of 64 bits' if long else ''}")


def _time(name: str, value: Any, option: Option) -> float | str:
    """Return seconds as a number, or a date in ISO form, or refuse the value."""
    if (found := moment(value)) is not None:
        return found
    shown = f"{name}={value!r} ({option.flag})"
    raise HarnessError(f"{shown}: expected seconds after the first submit, or a date as in 1997-01-31")


def _unknown_word(name: str, value: Any, words: tuple[str, ...]) -> HarnessError:
    return HarnessError(f"{name}={value!r}: {did_you_mean(str(value), words)}")
