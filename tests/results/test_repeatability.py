"""Repetitions of one experiment: what they share, how far apart they are, and what is made of it."""

import math
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness import HarnessError, Scheduler, lublin, prepare, simulate
from harness.platform.machine import plain
from harness.policy.timing import DecisionTiming
from harness.results.adequacy import adequacy
from harness.results.repeatability import Repeatability, draw_overheads, repeatability, upper_quantile
from harness.results.schedule import Schedule
from harness.workload.log import Workload

Run = Callable[..., Schedule]
Make = Callable[..., Workload]


def watched(run: Run, seen: list[Workload], **options: Any) -> Any:
    def replay(workload: Workload) -> Schedule:
        seen.append(workload)
        return run(workload, **options)

    return replay


def test_repetitions_share_all_but_the_overheads(run: Run, make: Make) -> None:
    source, seen = make(1), []
    repeatability(
        source, watched(run, seen), launch="uniform(low=1, high=9)", completion="constant(seconds=3)", pairs=3
    )
    assert len(seen) == 6
    stays = np.isinf(source.jobs["cancel"])
    for repetition in seen:
        added = repetition.jobs["work"] - source.jobs["work"]
        assert added[stays].between(4, 12).all()
        assert (added[~stays] == 0).all()
        assert (repetition.jobs["estimate"] >= repetition.jobs["work"]).all()
        assert repetition.jobs["estimate"].equals(seen[0].jobs["estimate"])
        same = ["job", "submit", "procs", "user", "cancel"]
        assert repetition.jobs[same].equals(source.jobs[same])
        assert repetition.preparation[-1].jobs == stays.sum()
    assert len({repetition.digest for repetition in [source, *seen]}) == 7
    enough = source.jobs["estimate"] >= source.jobs["work"] + 12
    assert enough.any()
    assert seen[0].jobs["estimate"][enough].equals(source.jobs["estimate"][enough])


def test_equal_overheads_make_no_difference(run: Run, make: Make) -> None:
    found = repeatability(make(1), run, launch="constant(seconds=4)", completion="constant", pairs=2)
    assert (found.P, found.low, found.high, found.pairs) == (0, 0, 0, (0, 0))


def test_where_nobody_waits_the_overheads_are_all_there_is(run: Run, make: Make) -> None:
    def replay(workload: Workload) -> Schedule:
        return run(workload, platform=plain(100_000), energy="none")

    workload = make(1, jobs=2_000)
    workload.jobs["cancel"] = np.inf
    found = repeatability(workload, replay, launch="exponential(mean=3)", completion="exponential(mean=4)", pairs=5)
    expected = math.sqrt(2 * (3**2 + 4**2))  # of the difference of two sums
    assert pytest.approx(expected, rel=0.05) == found.P
    assert found.low < found.P < found.high
    assert found.growth[-1].different == 0


def test_outside_the_runtime_launches_are_waiting_and_completions_only_hold_processors(run: Run, make: Make) -> None:
    """Twin: every repetition once more, its waits and residence times put together by hand."""
    source, made = make(1), []

    def replay(workload: Workload) -> Schedule:
        made.append(run(workload, platform=plain(12), energy="none"))
        return made[-1]

    told: Any = {"launch": "uniform(low=1, high=9)", "completion": "exponential(mean=20)", "pairs": 2, "seed": 3}
    found = repeatability(source, replay, overheads="outside", **told)
    inside = repeatability(source, replay, **told)
    draw = np.random.default_rng(3)
    size = (4, len(source))
    launch, _ = draw_overheads(told["launch"], draw, size), draw_overheads(told["completion"], draw, size)
    stays = np.isinf(source.jobs["cancel"].to_numpy())
    residence = []
    for number, schedule in enumerate(made[:4]):
        left = (schedule.frame["end"] - schedule.frame["submit"]).to_numpy()
        own = schedule.frame["wait"].to_numpy() + launch[number] + source.jobs["work"].to_numpy()
        residence.append(np.where(stays, own, left))
    pairs = [float(np.sqrt(np.mean((residence[k] - residence[k + 1]) ** 2))) for k in (0, 2)]
    assert found.pairs == pytest.approx(pairs)
    assert found.pairs != inside.pairs


def test_where_nobody_waits_only_launches_are_seen_of_overheads_outside_the_runtime(run: Run, make: Make) -> None:
    def replay(workload: Workload) -> Schedule:
        return run(workload, platform=plain(100_000), energy="none")

    workload = make(1, jobs=2_000)
    workload.jobs["cancel"] = np.inf
    never = repeatability(workload, replay, launch="constant", overheads="outside", pairs=2)
    assert (never.P, never.growth[-1].different) == (0, 0)
    found = repeatability(workload, replay, launch="exponential(mean=3)", overheads="outside", pairs=5)
    assert pytest.approx(math.sqrt(2) * 3, rel=0.05) == found.P
    assert found.growth[-1].different == 2_000


def test_jobs_seen_late_have_waited_since_they_were_submitted(run: Run, make: Make) -> None:
    def replay(workload: Workload) -> Schedule:
        return run(workload, platform=plain(100_000), energy="none")

    workload = make(1, jobs=2_000)
    still: Any = {"launch": "constant(seconds=0)", "completion": "constant(seconds=0)"}
    same = repeatability(workload, replay, submission="constant(seconds=7)", pairs=1, **still)
    assert same.P == 0
    found = repeatability(workload, replay, submission="exponential(mean=3)", pairs=5, **still)
    assert pytest.approx(math.sqrt(2) * 3, rel=0.05) == found.P


def test_under_a_pass_jobs_differ_by_whole_passes() -> None:
    """P = 60·√(d/n), the paper's Table 1, where repetitions differ only by the pass that first sees a job."""
    timing = DecisionTiming(backfill_interval=60)
    found = repeatability(
        prepare(lublin(jobs=500, procs=100_000, seed=1, load=0.01)),
        lambda jobs: simulate(jobs, None, Scheduler(energy="none"), timing=timing),
        launch="constant(seconds=0)",
        completion="constant(seconds=0)",
        submission="exponential(mean=2.4)",
        pairs=1,
    )
    for row in found.growth:
        assert pytest.approx(60 * math.sqrt(row.different / row.jobs)) == row.P
    assert 5 < found.growth[-1].different < 50


def test_the_seed_decides(run: Run, make: Make) -> None:
    one, again, other = (repeatability(make(1), run, pairs=2, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_the_method_of_the_paper() -> None:
    """On a lightly loaded machine P is of the order of the overheads and does not grow with n, but E does."""
    workload = prepare(lublin(jobs=1000, procs=256, seed=1, load=0.1))
    found = repeatability(workload, lambda jobs: simulate(jobs, None, Scheduler(energy="none")))
    assert [row.jobs for row in found.growth] == [50, 100, 250, 500, 750, 1000]
    for row in found.growth:
        assert 5 < row.P < 20  # two overheads of 5 s, standard deviation of the difference of their sums 10 s
        assert pytest.approx(row.P * math.sqrt(row.jobs), rel=0.05) == row.E
    assert pytest.approx(found.growth[0].P, rel=0.15) == found.growth[-1].P
    assert found.growth[-1].E > 3 * found.growth[0].E
    assert 0 < found.growth[-1].different < 200  # few waits differ


def test_everything_from_pairs_compared_one_by_one(run: Run, make: Make) -> None:
    made: list[Schedule] = []

    def replay(workload: Workload) -> Schedule:
        made.append(run(workload))
        return made[-1]

    source = make(1)
    found = repeatability(source, replay, pairs=4)
    pairs = [adequacy(one, other) for one, other in zip(made[::2], made[1::2], strict=True)]
    assert found.pairs == tuple(pair.P for pair in pairs)
    assert pytest.approx(np.mean(found.pairs)) == found.P
    dice = np.random.default_rng(1)
    means = dice.choice(found.pairs, (20_000, 4)).mean(axis=1)
    assert [found.low, found.high] == pytest.approx(np.quantile(means, [0.025, 0.975]), rel=0.03)
    for place, row in enumerate(found.growth):
        own = [pair.growth[place] for pair in pairs]
        assert {one.jobs for one in own} == {row.jobs}
        for name in ("P", "E", "different"):
            assert getattr(row, name) == pytest.approx(np.mean([getattr(one, name) for one in own]))
    work = np.array([schedule.workload.jobs["work"] for schedule in made])
    expected = np.maximum(source.jobs["estimate"], work.max(axis=0))
    assert made[0].workload.jobs["estimate"].to_numpy() == pytest.approx(expected.to_numpy())


def test_a_single_pair_has_no_interval(run: Run, make: Make) -> None:
    found = repeatability(make(1), run, pairs=1)
    assert math.isnan(found.low)
    assert found.pairs == (found.P,)


def test_progress_counts_replays(run: Run, make: Make) -> None:
    seen: list[tuple[int, int]] = []
    repeatability(make(1), run, pairs=2, progress=lambda done, all_: seen.append((done, all_)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("spec", "mean", "deviation"),
    [
        ("constant", 5, 0),
        ("exponential", 5, 5),
        ("uniform", 5, 10 / math.sqrt(12)),
        ("lognormal", 5 * math.exp(0.125), 5 * math.exp(0.125) * math.sqrt(math.exp(0.25) - 1)),
        ("constant(seconds=2)", 2, 0),
        ("exponential(mean=2)", 2, 2),
        ("uniform(low=1, high=5)", 3, 4 / math.sqrt(12)),
        ("lognormal(median=2, sigma=0.3)", 2 * math.exp(0.045), 2 * math.exp(0.045) * math.sqrt(math.exp(0.09) - 1)),
    ],
)
def test_distributions(spec: str, mean: float, deviation: float) -> None:
    drawn = draw_overheads(spec, np.random.default_rng(1), (50_000,))
    assert drawn.min() >= 0
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert drawn.std() == pytest.approx(deviation, rel=0.03)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"overheads": "outsied"}, "overheads='outsied'.*outside"),
        ({"submission": "gauss"}, "no distribution 'gauss'"),
        ({"launch": "gauss"}, "no distribution 'gauss'"),
        ({"completion": "exponential(men=3)"}, "no parameter 'men'; did you mean 'mean'"),
        ({"launch": "exponential(mean=-1)"}, "expected mean, a number of at least 0"),
        ({"launch": "constant(seconds=much)"}, "expected seconds, a number"),
        ({"launch": "uniform(low=3, high=2)"}, "low to be at most high"),
        ({"launch": "constant(seconds=1e300)"}, r"draws an overhead of 1e\+300 s; expected all to be below 1e\+09 s"),
        ({"launch": "lognormal(median=0, sigma=1e9)"}, "draws not a number; expected all to be below"),
        ({"pairs": 0}, "pairs=0: expected at least one pair"),
    ],
)
def test_impossible_options(run: Run, make: Make, options: dict[str, Any], complaint: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(HarnessError, match=complaint):
            repeatability(make(1), run, **options)


def test_the_verdict_lets_most_true_repetitions_pass() -> None:
    """The mean of the pairs would turn down many; the quantile as many as it says, for few pairs and skewed values."""
    dice = np.random.default_rng(1)
    for pairs, level in ((1, 1 / 2), (5, 5 / 6), (10, 10 / 11), (19, 0.95), (20, 20 / 21), (99, 0.95)):
        drawn = dice.lognormal(sigma=1.0, size=(4000, pairs + 1))
        found = [upper_quantile(row[:-1].tolist()) for row in drawn]
        assert [said for _, said in found] == pytest.approx([level] * len(found))
        passed = np.mean([row[-1] <= upper for row, (upper, _) in zip(drawn, found, strict=True)])
        assert passed == pytest.approx(level, abs=0.02)
    assert (drawn[:, -1] > drawn[:, :-1].mean(axis=1)).mean() > 0.25


@pytest.mark.parametrize(
    ("P", "ideal", "upper", "words"),
    [
        (30.0, 12.0, 15.0, "2.5 times P_ideal and above the 15.0 s that 91% of pairs of repetitions stay below: the"),
        (15.0, 12.0, 15.0, "not above the 15.0 s that 91% of pairs of repetitions stay below: the replay is ind"),
        (0.0, 0.0, 0.0, "indistinguishable"),
        (1.0, 0.0, 0.0, "above the 0.0 s that 91% of pairs of repetitions stay below: the replay is distinguishable"),
    ],
)
def test_the_verdict(P: float, ideal: float, upper: float, words: str) -> None:  # noqa: N803 - the paper's name
    model = SimpleNamespace(P=P)
    found = Repeatability(ideal, ideal, ideal, (ideal,), (), upper, 10 / 11)
    assert words in found.verdict(model)
