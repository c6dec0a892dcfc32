"""Generated logs: repeatable, and distributed as they say."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.workload.log import SWF_COLUMNS, Log
from harness.workload.swf import read_swf, write_swf
from harness.workload.synthetic import _activity_until, _time_of, lublin, poisson

FIRST_LUBLIN = [[226, 38, 16], [285, 727, 10], [22956, 1, 1], [24023, 27, 23], [24060, 57, 4]]
FIRST_POISSON = [[1564, 1319, 2], [2014, 415, 4], [9850, 6479, 16]]


def hours(log: Log) -> npt.NDArray[np.float64]:
    """The share of jobs submitted in each hour of the day."""
    hour = (log.jobs["submit"].to_numpy() % 86_400 // 3600).astype(int)
    return np.bincount(hour, minlength=24) / len(hour)


@pytest.mark.parametrize("generate", [lublin, poisson])
def test_same_seed_same_log(generate: Any, tmp_path: Path) -> None:
    log = generate(jobs=500, seed=3)
    assert log.digest == generate(jobs=500, seed=3).digest
    assert log.digest != generate(jobs=500, seed=4).digest
    assert log.source.startswith(f"{generate.__name__}(jobs=500, procs=")
    assert eval(log.source, {"lublin": lublin, "poisson": poisson}).digest == log.digest
    assert tuple(log.jobs.columns) == SWF_COLUMNS
    write_swf(log, tmp_path / "log.swf")
    copy = read_swf(tmp_path / "log.swf")
    assert (copy.digest, copy.header) == (log.digest, log.header)
    assert any(log.source in text for text in log.header)


def test_these_are_the_first_jobs_everywhere() -> None:
    """Not what the model says, but what it said before: published results depend on it."""
    jobs = lublin(jobs=5).jobs[["submit", "run", "procs"]].to_numpy().tolist()
    assert jobs == FIRST_LUBLIN
    jobs = poisson(jobs=3).jobs[["submit", "run", "procs"]].to_numpy().tolist()
    assert jobs == FIRST_POISSON


def test_many_jobs_are_the_same_everywhere() -> None:
    digests = [
        lublin(jobs=3000).digest,
        lublin(jobs=3000, procs=6, seed=2, load=0.7).digest,
        poisson(jobs=3000).digest,
        poisson(jobs=3000, procs=10, width=10, load=0.5, seed=2, whole=False).digest,
    ]
    assert [digest[:16] for digest in digests] == [
        "6fda29440ca5cec0",
        "3ad535eb1b199a29",
        "37b4fdf365f88ede",
        "9351238d94ff11f1",
    ]


@pytest.mark.parametrize("procs", [1, 2, 3, 8, 100, 256, 5000])
def test_lublin_jobs_are_possible_jobs(procs: int) -> None:
    log = lublin(jobs=2000, procs=procs)
    assert log.procs == procs
    assert log.jobs["procs"].between(1, procs).all()
    assert log.jobs["run"].between(1, 162_754).all()  # exp(12), as in the published samples
    assert log.jobs["submit"].is_monotonic_increasing
    assert log.jobs.dtypes.eq("int64").all()
    assert log.jobs["estimate"].equals(log.jobs["run"])
    assert log.jobs["user"].eq(-1).all()


def test_lublin_against_its_own_parameters() -> None:
    log = lublin(jobs=100_000, procs=128)
    width, run = log.jobs["procs"], log.jobs["run"]
    assert (width == 1).mean() == pytest.approx(0.244, abs=0.005)
    serial = np.log(run[width == 1])
    short = 0.78 - 0.0054
    # the mean of gamma(4.2, 0.94) and gamma(312, 0.03); the truncation and the floor take a little off
    assert serial.mean() == pytest.approx(short * 4.2 * 0.94 + (1 - short) * 312 * 0.03, rel=0.03)
    assert np.log(run[width > 32]).mean() > serial.mean() + 0.5


def test_lublin_load_is_exact_and_keeps_the_day() -> None:
    for load in (0.3, 0.7, 1.2):
        log = lublin(jobs=5000, load=load)
        busy = (log.jobs["run"] * log.jobs["procs"]).sum() / 256 / log.jobs["submit"].max()
        assert busy == pytest.approx(load, rel=1e-4)
        assert hours(log)[11:16].sum() > 4 * hours(log)[2:7].sum()


def test_the_clock_of_activity() -> None:
    times = np.linspace(0.0, 300_000.0, 1001)
    assert _time_of(np.array([_activity_until(time) for time in times])) == pytest.approx(times, abs=1e-6)


@pytest.mark.data
def test_lublin_against_the_published_program(data: Path) -> None:
    """The sample has 10,000 jobs of the same model; the bounds are a few of its standard errors."""
    sample = read_swf(next(data.rglob("lublin_256.swf.gz")))
    ours = lublin(jobs=100_000)

    def figures(log: Log) -> dict[str, float]:
        run, width, gap = log.jobs["run"], log.jobs["used_procs"], log.jobs["submit"].diff().dropna()
        return {
            "mean runtime": run.mean(),
            "mean log runtime": np.log(run).mean(),
            "mean width": width.mean(),
            "serial": (width == 1).mean(),
            "powers of two": (np.log2(width) % 1 == 0).mean(),
            "median gap": gap.median(),
            "mean log gap": np.log(np.maximum(gap, 1)).mean(),
            "runtime with width": np.corrcoef(np.log(run), np.log(width))[0, 1],
        }

    bounds = [0.06, 0.03, 0.05, 0.05, 0.02, 0.06, 0.02, 0.12]
    for (name, theirs), bound in zip(figures(sample).items(), bounds, strict=True):
        assert figures(ours)[name] == pytest.approx(theirs, rel=bound), name
    # Gaps are so heavy-tailed that the mean of 10,000 tells little more than its magnitude.
    assert 600 < sample.jobs["submit"].diff().mean() < 1200
    assert 600 < ours.jobs["submit"].diff().mean() < 1200
    assert np.corrcoef(hours(sample), hours(ours))[0, 1] > 0.95


def test_poisson_is_poisson() -> None:
    log = poisson(jobs=50_000, procs=32, load=0.6, mean_runtime=500.0, whole=False)
    gap, run, width = log.jobs["submit"].diff().dropna(), log.jobs["run"], log.jobs["procs"]
    assert gap.std() == pytest.approx(gap.mean(), rel=0.03)
    assert (run.mean(), run.std()) == pytest.approx((500, 500), rel=0.03)
    assert run.mean() * width.mean() / gap.mean() / 32 == pytest.approx(0.6, rel=0.03)
    assert sorted(set(width)) == [1, 2, 4, 8, 16, 32]
    assert width.value_counts(normalize=True).to_numpy() == pytest.approx(np.full(6, 1 / 6), abs=0.01)
    assert abs(np.corrcoef(run, width)[0, 1]) < 0.02
    assert log.jobs.dtypes["submit"] == log.jobs.dtypes["run"] == "float64"


def test_poisson_with_one_width_in_whole_seconds() -> None:
    log = poisson(jobs=1000, procs=10, width=3, mean_runtime=2.0)
    assert log.jobs["procs"].eq(3).all()
    assert log.jobs.dtypes.eq("int64").all()
    assert log.jobs["run"].min() == 1
    assert poisson(jobs=10, procs=1).jobs["procs"].eq(1).all()
    pd.testing.assert_series_equal(log.jobs["estimate"], log.jobs["run"], check_names=False)


@pytest.mark.parametrize(
    ("generate", "options"),
    [
        (lublin, {"jobs": 0}),
        (lublin, {"jobs": 1.5}),
        (lublin, {"procs": 0}),
        (lublin, {"seed": -1}),
        (lublin, {"load": 0.0}),
        (lublin, {"load": float("nan")}),
        (poisson, {"load": -1.0}),
        (poisson, {"mean_runtime": 0.0}),
        (poisson, {"mean_runtime": float("inf")}),
        (poisson, {"width": 0}),
        (poisson, {"width": 1.5}),
        (poisson, {"width": 65}),
        (poisson, {"procs": "many"}),
        (poisson, {"load": "much"}),
    ],
)
def test_impossible_parameters(generate: Any, options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(HarnessError, match=rf"^{name}="):
        generate(**options)
