"""Signals are read as they are written, laid on the log's clock, and integrated exactly."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import HarnessError, Signal, read_signal

STEPS = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 20)), min_size=1, max_size=8)


def signal(steps: list[tuple[int, int]], period: float = 0.0, first: float = 0.0) -> Signal:
    times = first + np.concatenate([[0.0], np.cumsum([length for length, _ in steps[:-1]])])
    return Signal("made", "carbon", times, np.array([float(value) for _, value in steps]), period)


def slow(found: Signal, time: float) -> float:
    """The value at a time, by looking."""
    since = time - found.times[0]
    if found.period:
        since %= found.period
    known = [value for at, value in zip(found.times - found.times[0], found.values, strict=True) if at <= since]
    return float(known[-1] if known else found.values[0])


@given(STEPS, st.booleans(), st.integers(-30, 30), st.lists(st.integers(-100, 400), min_size=2, max_size=2))
def test_the_integral_is_the_sum_of_the_seconds(
    steps: list[tuple[int, int]], repeats: bool, first: int, ends: list[int]
) -> None:
    found = signal(steps, float(sum(length for length, _ in steps)) if repeats else 0.0, float(first))
    begin, end = sorted(ends)
    seconds = sum(slow(found, float(second)) for second in range(begin, end))
    assert float(np.diff(found.after(np.array([begin, end], float)))[0]) == pytest.approx(seconds, abs=1e-6)


def test_dates_are_moved_by_whole_weeks_unless_they_are_the_logs_own(tmp_path: Path) -> None:
    path = tmp_path / "grid.csv"
    dates = pd.date_range("2024-01-03 10:00", periods=24 * 40, freq="h")
    pd.DataFrame({"timestamp": dates, "carbon_intensity": np.arange(len(dates)) * 1.0}).to_csv(path, index=False)
    read = read_signal(path)
    assert (read.kind, read.unit, read.remark, read.dated) == ("carbon", "g/kWh", "", True)
    for header, zero in (
        ((f"; UnixStartTime: {pd.Timestamp('2024-01-10').timestamp():.0f}",), pd.Timestamp("2024-01-10")),
        ((f"; UnixStartTime: {pd.Timestamp('1996-09-23').timestamp():.0f}",), pd.Timestamp("1996-09-23")),
        ((), pd.Timestamp("1970-01-05")),
    ):
        laid = read.at(header, 3600.0)
        assert laid.times[0] <= 3600.0 < laid.times[-1]
        moved = zero + pd.Timedelta(seconds=laid.times[0]) - dates[0]
        assert moved.total_seconds() % (7 * 86_400) == 0
        assert (moved.total_seconds() == 0) == (zero.year == 2024)


def test_gaps_are_held_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "grid.parquet"
    dates = pd.date_range("2024-01-01", periods=500, freq="h").delete([100, 101, 102, 300])
    pd.DataFrame({"time": dates, "price_eur": 5.0}).to_parquet(path)
    read = read_signal(path)
    assert (read.kind, read.remark) == ("price", "2 gaps of up to 4 h, in which the last value holds")


def test_shapes() -> None:
    day = read_signal("daily(values=[1, 2])").at((), 0.0)
    assert float(day.after(np.array([86_400.0 * 10]))[0] - day.after(np.array([0.0]))[0]) == 15 * 86_400
    hours = read_signal("daily(low=10, high=30, peak=6)")
    assert (int(np.argmax(hours.values)), hours.values.min(), hours.values.max()) == (6, 10.0, 30.0)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("daily(high=high)", r"daily\(high=high\): expected a number"),
        ("daily(peak=[1, 2])", r"daily\(peak=\[1, 2\]\): expected a number"),
        ("daily(low=true)", r"daily\(low=True\): expected a number"),
        ("daily(low=1e999)", r"daily\(low=inf\): expected a number"),
        ("daily(low=-1e308, high=1e308)", "expected at least one row, of finite times and values"),
        ("daily(values=5)", r"daily\(values=5\): expected a list of numbers"),
        ("daily(values=[1, two])", r"daily\(values=\[1, 'two'\]\): expected a list of numbers"),
        ("daily(values=[[1], [2]])", "expected a list of numbers"),
        ("daily(kind=[price])", "expected one of carbon, price"),
    ],
)
def test_parameters_of_another_kind_are_refused(shape: str, words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        read_signal(shape)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("when,value\n1,2\n", "expected a time and a value"),
        ("time,value\n2,1\n1,2\n", "row 2: .* expected increasing times"),
        ("time,value\n1,x\n", "of finite times and values"),
        ("time,value\nsoon,1\n", "row 1: 'soon': expected seconds, or a date and time"),
    ],
)
def test_what_is_no_signal_is_refused(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "grid.csv"
    path.write_text(content)
    with pytest.raises(HarnessError, match=words):
        read_signal(path)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(HarnessError, match="no such file; expected a CSV or Parquet file"):
        read_signal("nowhere.csv")
    with pytest.raises(HarnessError, match="did you mean 'peak'"):
        read_signal("daily(peek=3)")


@pytest.mark.data
@pytest.mark.parametrize("country", ["2023_FR", "2024_DE", "2024_FR", "2024_PL", "2024_SE"])
def test_real_signals(country: str, data: Path) -> None:
    read = read_signal(data / f"anchors/carbon/{country}_carbon_intensity.parquet")
    frame = pd.read_parquet(data / f"anchors/carbon/{country}_carbon_intensity.parquet")
    times = frame["timestamp"].astype("datetime64[s]").astype(np.int64).to_numpy(dtype=float)
    held = np.sum(np.diff(times) * frame["carbon_intensity"].to_numpy()[:-1])
    assert float(read.after(times[-1:])[0]) == pytest.approx(held)
    assert read.period % 604_800 == 0
    assert read.period >= times[-1] - times[0]


def test_years_before_any_calendar_of_nanoseconds_are_read_and_guessed_formats_are_not(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text("time,carbon\n0001-01-01T00:00:00Z,1\n0001-01-01T00:00:02.5Z,2\n")
    assert np.diff(read_signal(path).times).tolist() == [2.5]
    path.write_text("time,carbon\n03/04/2026,1\n04/04/2026,2\n")
    with pytest.raises(HarnessError, match="row 1: '03/04/2026': expected seconds, or a date"):
        read_signal(path)
