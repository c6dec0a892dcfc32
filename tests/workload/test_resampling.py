"""A variation has the same users with the same rhythm at other times."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import read_workload
from harness.errors import HarnessError
from harness.workload import resampling
from harness.workload.frame import log_from_frame
from harness.workload.log import Workload
from harness.workload.prepare import prepare
from harness.workload.resampling import LONG_TERM, WEEK, resample

HOUR = 3600.0


def workload_of(**columns: Any) -> Workload:
    n = len(columns["submit"])
    standard = {"run": range(1, n + 1), "procs": [1 + k % 8 for k in range(n)], "wait": [5] * n}
    return prepare(log_from_frame(pd.DataFrame(standard | columns), "made", header=("; MaxProcs: 8",)))


def office(seed: int = 1, jobs: int = 40_000, users: int = 300, weeks: int = 60) -> Workload:
    """Users who work by day and on weekdays, for some weeks or for long, and have their own widths and runtimes."""
    draw = np.random.default_rng(seed)
    arrival = draw.integers(0, weeks, users)
    stay = np.minimum(np.where(draw.random(users) < 0.4, draw.integers(15, weeks, users), 3), weeks - arrival)
    user = np.sort(draw.integers(0, users, jobs))
    week = arrival[user] + (draw.random(jobs) * stay[user]).astype(int)
    day = draw.choice(7, jobs, p=[0.19, 0.19, 0.19, 0.19, 0.16, 0.05, 0.03])
    hour = np.clip(draw.normal(14, 3, jobs), 0, 23.99)
    submit = np.floor(week * WEEK + day * 24 * HOUR + hour * HOUR)
    width = 2 ** ((user + draw.integers(0, 3, jobs)) % 6)
    run = np.ceil(np.exp(draw.normal(6 + user % 3, 1)))
    frame = pd.DataFrame({"submit": submit, "run": run, "procs": width, "user": user})
    return prepare(log_from_frame(frame, "office", header=("; MaxProcs: 256",)))


def weekly(workload: Workload, origin: float) -> np.ndarray[Any, Any]:
    return (workload.jobs["submit"].to_numpy() - origin) % WEEK


def assert_alike(source: Workload, variations: list[Workload]) -> None:
    """Load, widths, runtimes, hours and weekdays of all `variations` together are about those of `source`."""
    origin = source.jobs["submit"].min()
    together = pd.concat([variation.jobs for variation in variations])

    def shares(of: pd.DataFrame, unit: float) -> np.ndarray[Any, Any]:
        slot = ((of["submit"] - origin) % WEEK // unit).astype(int)
        return np.bincount(slot, minlength=int(WEEK / unit)) / len(of)

    def area(of: pd.DataFrame) -> float:
        return float((of["work"] * of["procs"]).sum())

    assert len(together) / len(variations) == pytest.approx(len(source), rel=0.05)
    assert area(together) / len(variations) == pytest.approx(area(source.jobs), rel=0.05)
    for variation in variations:
        assert area(variation.jobs) == pytest.approx(area(source.jobs), rel=0.25)
    assert shares(together, 24 * HOUR) == pytest.approx(shares(source.jobs, 24 * HOUR), abs=0.01)
    of_day = [shares(jobs, HOUR).reshape(7, 24).sum(axis=0) for jobs in (together, source.jobs)]
    assert of_day[0] == pytest.approx(of_day[1], abs=0.005)
    for column in ("procs", "work", "estimate"):
        quantiles = [np.searchsorted(np.sort(jobs[column]), source.jobs[column].quantile([0.1, 0.5, 0.9]), "right")
                     / len(jobs) for jobs in (together, source.jobs)]  # fmt: skip
        assert quantiles[0] == pytest.approx(quantiles[1], abs=0.03)


def test_variations_look_like_their_source() -> None:
    source = office()
    assert_alike(source, [resample(source, seed) for seed in range(20)])


@pytest.mark.data
@pytest.mark.parametrize("trace", ["HPC2N", "KTH-SP2"])
def test_variations_look_like_a_real_log(data: Path, trace: str) -> None:
    source = prepare(read_workload(trace), procs_from="used")
    assert_alike(source, [resample(source, seed) for seed in range(10)])


submits = st.lists(st.integers(0, 30 * int(WEEK)), min_size=1, max_size=40)


@settings(max_examples=100)
@given(submits, st.integers(1, 6), st.integers(0, 2**40))
def test_every_stream_is_a_users_stream_turned_by_whole_weeks(submit: list[int], users: int, seed: int) -> None:
    source = workload_of(submit=submit, user=[(k * k) % users for k in range(len(submit))])
    variation = resample(source, seed)
    origin, weeks = min(submit), max(1, round((max(submit) - min(submit)) / WEEK))
    run_of = source.jobs.set_index("work")  # every job has a runtime of its own
    cast = []
    for _, stream in variation.jobs.groupby("user"):
        owner = run_of.loc[stream["work"], "user"].unique()
        assert len(owner) == 1
        cast.append(int(owner[0]))
        original = source.jobs[source.jobs["user"] == owner[0]]
        assert sorted(stream["work"]) == sorted(original["work"])
        now, then = stream.set_index("work").sort_index(), original.set_index("work").sort_index()
        moved = now["submit"] - then["submit"]
        assert set(moved % WEEK) == {0}
        assert len(set(moved // WEEK % weeks)) == 1
        assert now["procs"].equals(then["procs"])
    span = source.jobs.groupby("user")["submit"].agg(np.ptp)
    lasting = set(span.index[span >= LONG_TERM])
    assert len(cast) == source.jobs["user"].nunique()
    assert sorted(user for user in cast if user in lasting) == sorted(lasting)
    assert variation.jobs["submit"].between(origin, origin + weeks * WEEK, inclusive="left").all()


def test_temporary_users_come_more_than_once_or_never() -> None:
    source = workload_of(submit=[0, 1, 2, 3, 4], user=[1, 2, 3, 4, 5])
    works = [tuple(sorted(resample(source, seed).jobs["work"])) for seed in range(200)]
    assert len(set(works)) > 50
    assert np.mean([len(set(w)) for w in works]) == pytest.approx(5 * (1 - 0.8**5), abs=0.3)


@pytest.mark.parametrize("weeks", [2, 4, 15])
def test_every_shift_is_as_likely_as_any_other(weeks: int) -> None:
    """None and the last week included."""
    source = workload_of(submit=[0, 1, weeks * WEEK], user=[1, 2, -1], run=[5, 6, 7])
    draws, seen = 60 * weeks, np.zeros((2, weeks))
    for seed in range(draws):
        jobs = resample(source, seed).jobs.set_index("work")
        for place, work in enumerate((5, 6)):
            if work in jobs.index:
                seen[place, int(jobs.loc[[work], "submit"].iloc[0] // WEEK)] += 1
    for of_one in seen:
        even = of_one.mean()
        assert ((of_one - even) ** 2 / even).sum() < 3 * weeks + 10


def work_by_week(workload: Workload, origin: float, weeks: int) -> np.ndarray[Any, Any]:
    jobs = workload.jobs
    week = ((jobs["submit"] - origin) // WEEK).astype(int) % weeks
    return np.bincount(week, jobs["procs"] * jobs["work"], weeks)


def test_weeks_are_as_busy_as_those_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned round, week by week; drawn without a second look the weeks would be another matter."""
    source = office()
    origin, weeks = source.jobs["submit"].min(), round(np.ptp(source.jobs["submit"]) / WEEK)
    wanted = work_by_week(source, origin, weeks)

    def off(seed: int) -> float:
        brought = work_by_week(resample(source, seed), origin, weeks)
        turned = [np.abs(np.roll(wanted, by) - brought).sum() for by in range(weeks)]
        return float(min(turned) / wanted.sum())

    looked = np.mean([off(seed) for seed in range(5)])
    monkeypatch.setattr(resampling, "_ROUNDS", 0)
    blind = np.mean([off(seed) for seed in range(5)])
    assert looked < 0.1 < 0.2 < blind


def test_streams_seldom_stay_beside_those_that_they_were_beside() -> None:
    """With hundreds of users there are so many ways to be as busy that a variation is not the log turned round."""
    source = office()
    variation = resample(source, 3)
    origin, weeks = source.jobs["submit"].min(), round(np.ptp(source.jobs["submit"]) / WEEK)
    first = source.jobs.groupby("user")["submit"].min() // WEEK
    there = variation.jobs.groupby("user")["submit"].agg(lambda own: set((own - origin) // WEEK))
    shared = [user for user in first.index.intersection(there.index) if len(there[user]) == 3]
    moved = pd.Series([(min(there[user]) - first[user]) % weeks for user in shared])
    assert len(shared) > 20
    assert moved.value_counts(normalize=True).max() < 0.25


def test_of_unknown_users_weeks_are_drawn() -> None:
    """Twenty-seven weeks, three at a time: each is one of the log, and its neighbours follow it."""
    submit = [week * WEEK + 60 * minute for week in range(27) for minute in range(1 + week % 3)] + [27 * WEEK - 1]
    source = workload_of(submit=submit)
    week_of = dict(zip(source.jobs["work"], source.jobs["submit"] // WEEK, strict=True))
    size = source.jobs["submit"].floordiv(WEEK).value_counts()
    seen = set()
    for seed in range(30):
        jobs = resample(source, seed).jobs
        drawn = []
        for _, own in jobs.groupby(jobs["submit"] // WEEK):
            (week,) = {week_of[work] for work in own["work"]}
            assert len(own) == size[week]
            drawn.append(week)
        assert len(drawn) == 27
        steps = np.diff(drawn).reshape(-1)
        assert all(step % 27 == 1 for place, step in enumerate(steps) if place % 3 < 2)
        seen.add(tuple(drawn))
    assert len(seen) == 30


@pytest.mark.parametrize(("span", "stays"), [(LONG_TERM - 1, False), (LONG_TERM, True)])
def test_who_lasts_twelve_weeks_is_there_once(span: float, stays: bool) -> None:
    source = workload_of(submit=[5, 6, 5 + span, 9], user=[1, 2, 1, 3])
    times = {(resample(source, seed).jobs["work"] == 1).sum() for seed in range(60)}
    assert times == ({1} if stays else {0, 1, 2, 3})


def test_temporary_users_are_drawn_alike_and_the_repeated_get_numbers_of_their_own() -> None:
    source = workload_of(submit=[0, 1, 2, 3, 4], user=[3, 7, 9, 9, 12])
    often = np.zeros(6)
    for seed in range(300):
        jobs = resample(source, seed).jobs
        often += np.bincount(jobs["work"].astype(int), minlength=6)
        names = sorted(set(jobs["user"]))
        assert len(names) == 4
        assert [name for name in names if name > 12] == list(range(13, 13 + sum(name > 12 for name in names)))
        for work, name in ((1, 3), (2, 7), (3, 9), (5, 12)):
            assert name in set(jobs["user"][jobs["work"] == work]) or work not in set(jobs["work"])
    assert often[3] == often[4]
    assert often[1:] == pytest.approx(300, abs=80)


def test_a_variation_is_a_workload_like_any_other() -> None:
    source = office(jobs=3_000, users=40)
    variation = resample(source, 7)
    jobs = variation.jobs
    assert jobs["job"].tolist() == list(range(1, len(jobs) + 1))
    assert jobs["submit"].is_monotonic_increasing
    assert jobs.dtypes.to_dict() == source.jobs.dtypes.to_dict()
    assert variation.preparation[:-1] == source.preparation
    assert (variation.preparation[-1].name, variation.preparation[-1].jobs) == ("resampled", len(jobs))
    assert (jobs["logged_wait"] == -1).all()


def test_a_job_leaves_the_queue_as_long_after_its_submit_as_it_did() -> None:
    frame = {"submit": [0, 10, 20], "run": [5, 0, 6], "procs": [1, 1, 1], "wait": [0, 30, 0], "status": [1, 5, 1]}
    log = log_from_frame(pd.DataFrame(frame | {"user": [1, 1, 1]}))
    jobs = resample(prepare(log, unknown="cancel"), 0).jobs
    assert (jobs["cancel"] - jobs["submit"]).tolist() == [np.inf, 30, np.inf]


def test_the_seed_decides() -> None:
    source = office(jobs=3_000, users=40)
    again, other = resample(source, 1), resample(source, 2)
    pd.testing.assert_frame_equal(resample(source, 1).jobs, again.jobs)
    assert resample(source, 1).digest == again.digest
    assert len({source.digest, again.digest, other.digest}) == 3
    assert not again.jobs["submit"].equals(other.jobs["submit"])


def test_what_cannot_be_resampled() -> None:
    with pytest.raises(HarnessError, match=r"has a user, and it lasts 0\.0 weeks"):
        resample(workload_of(submit=[0, 1]), 0)
    with pytest.raises(HarnessError, match="seed=-1: expected a whole number"):
        resample(workload_of(submit=[0, 1], user=[1, 1]), -1)


def test_jobs_of_unknown_users_stay_together() -> None:
    source = workload_of(submit=[0, 5 * WEEK, 9 * WEEK, 9 * WEEK], user=[-1, -1, 3, -1])
    for seed in range(20):
        jobs = resample(source, seed).jobs
        assert sorted(jobs["work"][jobs["user"] == -1]) == [1, 2, 4]


@pytest.mark.parametrize(("weeks", "told"), [(1.4, "1 (the workload has 1.4)"), (2.6, "3 (the workload has 2.6)")])
def test_the_preparation_says_how_much_longer_or_shorter_a_variation_is(weeks: float, told: str) -> None:
    workload = workload_of(submit=[0, weeks * WEEK], user=[1, 2])
    assert f"shifted by whole weeks of {told}" in resample(workload, 1).preparation[-1].detail
