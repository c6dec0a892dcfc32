"""Dates stand for seconds after the first submit, by the clock of the log's site."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preparing import log_of

from harness.errors import HarnessError
from harness.workload.log import Log
from harness.workload.prepare import prepare

ZONE = ZoneInfo("Europe/Stockholm")


def dated(log: Log) -> Log:
    header = ("; UnixStartTime: 859849200", "; TimeZoneString: Europe/Stockholm")  # 1997-04-01 01:00 there
    return Log(log.name, log.jobs, header, log.source, log.digest)


@given(st.integers(-5, 90), st.integers(0, 20))
def test_a_date_is_the_seconds_that_it_stands_for(hours: int, first: int) -> None:
    log = dated(log_of(submit=[3600 * (first + k) for k in range(72)]))
    moment = datetime.fromtimestamp(859849200 + 3600 * (first + hours), ZONE)
    kept = [n for n in range(72) if n >= hours]
    if not kept:
        with pytest.raises(HarnessError, match="no jobs are left"):
            prepare(log, start=moment.isoformat())
        return
    by_date, by_seconds = (prepare(log, start=start) for start in (moment.isoformat(), 3600.0 * hours))
    assert by_date.jobs["job"].tolist() == [n + 1 for n in kept]
    assert by_date.digest == by_seconds.digest


def test_without_a_zone_it_is_the_sites() -> None:
    log = dated(log_of(submit=[0, 82799, 82800, 90000]))  # midnight is 23 hours after the log's time 0
    assert prepare(log, start="1997-04-02").jobs["job"].tolist() == [3, 4]
    assert prepare(log, stop=date(1997, 4, 2)).jobs["job"].tolist() == [1, 2]
    assert prepare(log, start="1997-04-02T00:00+00:00").jobs["job"].tolist() == [4]


@pytest.mark.parametrize("date", ["1997-13-01", "yesterday", "", "nan", "inf"])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(HarnessError, match="expected seconds after the first submit, or a date as in 1997-01-31"):
        prepare(dated(log_of(run=[1])), start=date)


def test_seconds_as_text_are_seconds() -> None:
    log = log_of(submit=[0, 10, 20])
    assert prepare(log, start="10").digest == prepare(log, start=10).digest


def test_an_end_before_the_beginning_is_refused() -> None:
    log = dated(log_of(submit=[0, 10]))
    with pytest.raises(HarnessError, match="expected start before stop"):
        prepare(log, start="1997-04-02", stop="1997-04-01")


def test_a_log_that_does_not_say_when_it_was_takes_no_date() -> None:
    with pytest.raises(HarnessError, match="made has no date"):
        prepare(log_of(run=[1]), start="1997-04-01")
