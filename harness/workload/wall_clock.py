"""The clock at the site of a log: hours, weekdays and months of its times, if its header has a date."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.workload.swf_header import header_number, header_zone

#: The end of pandas' calendar, in the year 2262, in seconds since 1970.
_LAST = 9_223_372_036

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WallClock:
    """The date of a log's time 0, and its time zone. Without a date, hours and days count from time 0."""

    start: int | None  # seconds since 1970
    zone: ZoneInfo

    @staticmethod
    def of(header: tuple[str, ...]) -> "WallClock":
        """Return the clock of a header's UnixStartTime and time zone, by default UTC."""
        try:
            zone = ZoneInfo(header_zone(header))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            zone = ZoneInfo("UTC")
        return WallClock(header_number(header, "UnixStartTime"), zone)

    def time_of(self, date: str) -> float:
        """Return an ISO date of the site's clock in seconds since the log's time 0."""
        assert self.start is not None
        moment = datetime.fromisoformat(date)
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).timestamp() - self.start

    def date(self, time: float) -> str | None:
        """Return the date and time at the site of a time [s since the log's time 0]; None if unknown."""
        if self.start is None or self.beyond(np.array([time])):
            return None
        return datetime.fromtimestamp(self.start + time, self.zone).strftime("%Y-%m-%d %H:%M:%S")

    def beyond(self, times: Floats) -> bool:
        """Return whether any of `times` lies beyond the calendar."""
        return self.start is not None and self.start + float(np.max(times, initial=0.0)) > _LAST

    def hours(self, times: Floats) -> Ints:
        """Return the hour of the day, 0 to 23, of each of `times` [s since the log's time 0]."""
        if self.start is None:
            return (times // 3600 % 24).astype(np.int64)
        return self._dates(times).hour.to_numpy().astype(np.int64)

    def weekdays(self, times: Floats) -> Ints:
        """Return the weekday of each time, 0 is Monday; without a date, the day since time 0 modulo seven."""
        if self.start is None:
            return (times // 86400 % 7).astype(np.int64)
        return self._dates(times).day_of_week.to_numpy().astype(np.int64)

    def months(self, times: Floats) -> Ints:
        """Return the month of each time, as 199609; without a date, the number of thirty days since time 0, from 1."""
        if self.start is None:
            return (times // (30 * 86400)).astype(np.int64) + 1
        dates = self._dates(times)
        months: Ints = (dates.year.to_numpy() * 100 + dates.month.to_numpy()).astype(np.int64)
        return months

    def _dates(self, times: Floats) -> pd.DatetimeIndex:
        assert self.start is not None
        return pd.DatetimeIndex(pd.to_datetime(self.start + times, unit="s", utc=True)).tz_convert(self.zone)
