"""An external signal over time: the carbon intensity or price of energy, in steps.

A CSV or Parquet file has a column of times and one of values. A value holds until the next row. Longer gaps between
rows are counted, and the value before holds there too. Times that are numbers are seconds on the log's own clock. The
first value then also holds before them, and the last value after them.

Dates without a time zone are UTC. If they do not cover the start of the log, they are moved by whole weeks to that
start, so that hours and weekdays are right. After their end they repeat after a whole number of weeks. A daily shape
repeats every day.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import HarnessError, did_you_mean, shortened, shown_name
from harness.policy.spec import call, parse
from harness.workload.frame import read_cells
from harness.workload.wall_clock import WallClock

Floats = npt.NDArray[np.float64]

#: Kind of signal → unit of its values. The name of the column contains the kind, or a synonym.
KINDS = {"carbon": "g/kWh", "price": "€/MWh"}

_TIMES = ("time", "timestamp", "datetime", "date")
_DAY, _WEEK = 86_400.0, 604_800.0
_MONDAY = 4 * _DAY  # 1970-01-01 was a Thursday

#: A difference between two rows is a gap if fewer rows than this share have it, and it is longer than the others.
_USUAL = 0.01


@dataclass(frozen=True, eq=False)
class Signal:
    """Values in steps: `values[k]` holds from `times[k]` to the next time [s], on a log's clock or since 1970."""

    name: str
    kind: str  # of `KINDS`
    times: Floats
    values: Floats
    period: float = 0.0  # it repeats after this time [s]; 0: the last value holds for ever
    dated: bool = False  # its times are seconds since 1970
    remark: str = ""  # for example about gaps

    def __post_init__(self) -> None:
        if not len(self.times) or not np.isfinite(self.times).all() or not np.isfinite(self.values).all():
            raise HarnessError(f"{self.name}: expected at least one row, of finite times and values")
        if (disorder := np.diff(self.times) <= 0).any():
            row = int(np.argmax(disorder)) + 2
            raise HarnessError(f"{self.name}, row {row}: {self.times[row - 1]:.15g} s: expected increasing times")
        if self.kind not in KINDS:
            raise HarnessError(f"{self.name}: a signal of {self.kind!r}; {did_you_mean(self.kind, KINDS)}")

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return KINDS[self.kind]

    @property
    def digest(self) -> str:
        """Return the digest of everything that can change a result."""
        facts = f"{self.kind} {self.period} {self.dated}".encode()
        return hashlib.sha256(facts + self.times.tobytes() + self.values.tobytes()).hexdigest()

    def at(self, header: tuple[str, ...], begin: float) -> "Signal":
        """Return the signal on the clock of a log with its first submission at `begin`."""
        if not self.dated:
            return self
        start = WallClock.of(header).start
        zero = _MONDAY if start is None else float(start)  # the log's time 0; without a date it is a Monday
        moved = 0.0
        if start is None or not self.times[0] <= zero + begin < self.times[-1]:
            moved = np.ceil((self.times[0] - (zero + begin)) / _WEEK) * _WEEK
        return replace(self, times=self.times - zero - moved, dated=False)

    def after(self, times: Floats) -> Floats:
        """Return the exact integral of the signal from its first step to each of `times` [unit of the values · s]."""
        since = np.asarray(times, dtype=np.float64) - self.times[0]
        rounds = np.floor(since / self.period) if self.period else np.zeros_like(since)
        since = since - rounds * self.period
        place = np.maximum(np.searchsorted(self._steps, since, "right") - 1, 0)
        whole = self._sums[-1] + self.values[-1] * (self.period - self._steps[-1]) if self.period else 0.0
        total: Floats = rounds * whole + self._sums[place] + self.values[place] * (since - self._steps[place])
        return total

    @cached_property
    def _steps(self) -> Floats:
        steps: Floats = self.times - self.times[0]
        return steps

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.values[:-1] * np.diff(self._steps))])


def read_signal(source: str | Path) -> Signal:
    """Read a signal: a CSV or Parquet file of times and values, or a daily shape such as `daily(low=50, high=300)`."""
    if Path(source).is_file():
        return _of_file(Path(source))
    try:
        name, values = parse(str(source))
    except HarnessError:
        name, values = "", {}
    if name not in _SHAPES:
        expected = "expected a CSV or Parquet file of times and values, or daily(low=50, high=300, peak=19)"
        raise HarnessError(f"--signal {source}: no such file; {expected}")
    shape: Signal = call(_SHAPES[name], values, str(source))
    return replace(shape, name=str(source))


def daily(low=50.0, high=300.0, peak=19.0, values=(), kind="carbon"):  # type: ignore[no-untyped-def]
    """Return a shape that repeats every day: a cosine between `low` and `high` with its maximum at `peak`, or `values`.

    The 24 steps, or as many as there are values, divide the day from midnight UTC.
    """
    for name, value in {"low": low, "high": high, "peak": peak}.items():
        if not _is_number(value):
            raise HarnessError(f"daily({name}={shortened(str(value), 30)}): expected a number")
    if not isinstance(values, list | tuple) or not all(map(_is_number, values)):
        raise HarnessError(f"daily(values={shortened(str(values), 30)}): expected a list of numbers")
    if not isinstance(kind, str):
        raise HarnessError(f"daily(kind={shortened(str(kind), 30)}): expected one of {', '.join(KINDS)}")
    if not values:
        hours = np.arange(24) + 0.5
        with np.errstate(over="ignore", invalid="ignore"):  # `Signal` refuses values that are not finite
            values = low + (high - low) * 0.5 * (1.0 + np.cos((hours - float(peak) - 0.5) / 24.0 * 2.0 * np.pi))
    steps = np.asarray(values, dtype=np.float64)
    return Signal("daily", kind, _MONDAY + np.arange(len(steps)) * _DAY / len(steps), steps, _DAY, dated=True)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_SHAPES: dict[str, Callable[..., Signal]] = {"daily": daily}


def _of_file(path: Path) -> Signal:
    cells, _ = read_cells(path, "a signal", lenient=False)
    names = {str(name).strip().lower(): name for name in cells.columns}
    time = next((names[name] for name in _TIMES if name in names), None)
    others = [name for name in cells.columns if name != time]
    if time is None or len(others) != 1:
        raise HarnessError(f"{path}: columns {', '.join(map(shown_name, cells.columns))}: expected a time and a value")
    times, dated = _times(cells[time], path)
    values = pd.to_numeric(cells[others[0]], errors="coerce").to_numpy(dtype=np.float64)
    kind = "price" if any(word in str(others[0]).lower() for word in ("price", "eur", "cost")) else "carbon"
    period = 0.0
    if dated and len(times):
        period = max(_WEEK, np.ceil((times[-1] - times[0]) / _WEEK) * _WEEK)
    return Signal(path.name, kind, times, values, period, dated, _gaps(times))


def _times(column: "pd.Series[str]", path: Path) -> tuple[Floats, bool]:
    """Return times in seconds, and whether they are dates."""
    if not pd.api.types.is_datetime64_any_dtype(column):
        numbers = pd.to_numeric(column, errors="coerce")
        if not numbers.isna().any():
            return numbers.to_numpy(dtype=np.float64), False
    # Only ISO dates: pandas guesses the order in 03/04 from the first row.
    dates = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
    if dates.isna().any():
        row = int(dates.isna().to_numpy().argmax())
        cell = shortened(str(column.iloc[row]), 30)
        raise HarnessError(
            f"{path}, row {row + 1}: '{cell}': expected seconds, or a date and time like 2026-11-19T08:00"
        )
    # Converted in microseconds, which can represent all years.
    return dates.dt.tz_localize(None).to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6, True


def _gaps(times: Floats) -> str:
    """Return a remark about gaps: rows further apart than the usual spacings."""
    if len(times) < 3:
        return ""
    spacings, counts = np.unique(np.diff(times), return_counts=True)
    usual = spacings[counts >= _USUAL * len(times)].max(initial=0.0) or spacings.max()
    gaps = np.diff(times)[np.diff(times) > usual]
    if not len(gaps):
        return ""
    return f"{len(gaps):,} gaps of up to {gaps.max() / 3600:.3g} h, in which the last value holds"
