"""A ranking depends on who beat whom on the same jobs, and on nothing else; it leaves nothing out silently."""

import math
from dataclasses import asdict

import fields
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.ranking.ranking import rank
from harness.results.measures import Measure

several = settings(max_examples=40)


def same(one, other):
    """Equality in which what is not a number equals itself."""
    return repr(asdict(one)) == repr(asdict(other))


# ---------------------------------------------------------------- properties


@several
@given(fields.tournaments(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_means_nothing(costs, random):
    frame = fields.results(costs)
    order = list(range(len(frame)))
    random.shuffle(order)
    assert same(rank(frame, "mean_wait"), rank(frame.iloc[order], "mean_wait"))


@several
@given(fields.tournaments())
def test_ranks_do_not_see_how_much_better(costs):
    frame = fields.results(costs)
    one, other = (rank(table, "mean_wait") for table in (frame, frame.assign(mean_wait=frame["mean_wait"] ** 3 + 1)))
    for name in ("wins", "ties"):
        # Ties of mean rank are broken by the mean, so compare by name.
        assert by_name(one, name) == by_name(other, name)
    assert {s.scheduler: (s.rank, s.mean_rank, s.workload_ranks) for s in one.standings} == {
        s.scheduler: (s.rank, s.mean_rank, s.workload_ranks) for s in other.standings
    }


def by_name(ranking, matrix):
    names = [standing.scheduler for standing in ranking.standings]
    return {
        (row, column): count
        for row, counts in zip(names, getattr(ranking, matrix), strict=True)
        for column, count in zip(names, counts, strict=True)
    }


@several
@given(fields.tournaments())
def test_more_is_better_is_less_is_better_upside_down(costs):
    less = rank(fields.results(costs), "mean_wait")
    more = rank(fields.results(costs, "utilisation").eval("utilisation = -utilisation"), "utilisation")
    assert (less.better, more.better) == ("less", "more")
    for one, other in zip(less.standings, more.standings, strict=True):
        assert (one.scheduler, one.mean_rank) == (other.scheduler, other.mean_rank)
        assert one.interval == pytest.approx([1 / end for end in reversed(other.interval)], nan_ok=True)
        assert (one.ratio, one.p_value) == (pytest.approx(1 / other.ratio), other.p_value)
    assert (less.wins, less.ties, less.groups) == (more.wins, more.ties, more.groups)


@several
@given(fields.tournaments())
def test_what_always_adds_up(costs):
    ranking = rank(fields.results(costs), "mean_wait")
    count = len(ranking.standings)
    assert sum(s.mean_rank for s in ranking.standings) == pytest.approx(count * (count + 1) / 2)
    wins, ties = np.array(ranking.wins), np.array(ranking.ties)
    assert (wins + ties + wins.T == ranking.blocks).all()
    assert (np.diag(ties) == ranking.blocks).all()
    assert sorted(s.rank for s in ranking.standings) == [s.rank for s in ranking.standings]
    for standing in ranking.standings:
        low, high = standing.interval
        assert math.isnan(low) or low <= standing.ratio * (1 + 1e-9) <= high * (1 + 2e-9)
        assert standing.spread[0] <= standing.median <= standing.spread[1]


@several
@given(fields.tournaments(schedulers=(2, 6)))
def test_mean_ranks_against_a_slow_twin(costs):
    """Ranks counted one by one, averaged within workloads first where there are several."""
    ranking = rank(fields.results(costs), "mean_wait")
    count = len(ranking.standings)
    for standing in ranking.standings:
        me = int(standing.scheduler.removeprefix("policy"))
        on = {}
        for workload, blocks in costs.items():
            counted = []
            for block in blocks:
                below = sum(block[other] < block[me] for other in range(count))
                equal = sum(block[other] == block[me] for other in range(count))
                counted.append(below + (equal + 1) / 2)
            on[workload] = sum(counted) / len(counted)
        assert standing.workload_ranks == pytest.approx(on)
        assert standing.mean_rank == pytest.approx(sum(on.values()) / len(on))


@several
@given(fields.tournaments(schedulers=(2, 5)))
def test_the_rest_of_a_standing_against_a_slow_twin(costs):
    """Means, medians and spreads over blocks, places, wins and ties, counted one by one."""
    ranking = rank(fields.results(costs), "mean_wait")
    blocks = [block for variations in costs.values() for block in variations]
    own = {s.scheduler: [block[int(s.scheduler[-1])] for block in blocks] for s in ranking.standings}
    for row, standing in enumerate(ranking.standings):
        values = own[standing.scheduler]
        logs = [variations[0][int(standing.scheduler[-1])] for variations in costs.values()]
        redrawn = [block[int(standing.scheduler[-1])] for variations in costs.values() for block in variations[1:]]
        assert standing.mean == standing.means["mean_wait"] == pytest.approx(np.mean(logs))
        assert standing.of_variations == pytest.approx(np.mean(redrawn) if redrawn else math.nan, nan_ok=True)
        assert standing.median == pytest.approx(np.median(values))
        assert standing.spread == pytest.approx(np.quantile(values, [0.025, 0.975]))
        assert standing.rank == 1 + sum(other.mean_rank < standing.mean_rank for other in ranking.standings)
        for column, other in enumerate(ranking.standings):
            pairs = [*zip(values, own[other.scheduler], strict=True)]
            assert ranking.wins[row][column] == sum(mine < theirs for mine, theirs in pairs)
            assert ranking.ties[row][column] == sum(mine == theirs for mine, theirs in pairs)
    assert (ranking.blocks, ranking.workloads) == (len(blocks), tuple(costs))
    places = [(s.mean_rank, np.mean(own[s.scheduler])) for s in ranking.standings]
    assert places == sorted(places)


@several
@given(fields.tournaments(schedulers=(2, 4), workloads=(2, 3), variations=(1, 4)))
def test_ratios_are_geometric_means_of_units(costs):
    """Within a workload first, where workloads are the units; who waits for nothing waits a millionth."""
    ranking = rank(fields.results(costs), "mean_wait", unit="workload")
    columns = [int(standing.scheduler[-1]) for standing in ranking.standings]
    for row, one in enumerate(columns):
        for column, other in enumerate(columns):
            means = [np.mean([np.log(ratio(b[one], b[other])) for b in blocks]) for blocks in costs.values()]
            assert ranking.ratios[row][column] == pytest.approx(np.exp(np.mean(means)))
    assert [s.ratio for s in ranking.standings] == pytest.approx([row[0] for row in ranking.ratios])


def ratio(one, other):
    return 1.0 if one == other else 1e6 if other == 0 else 1e-6 if one == 0 else one / other


@several
@given(fields.tournaments(schedulers=(2, 6), workloads=(1, 2), variations=(4, 9)))
def test_nothing_on_a_page_contradicts_a_pair(costs):
    """Letters and intervals say of every pair what its p-value says; where nobody can be told apart there are none."""
    ranking = rank(fields.results(costs), "mean_wait", unit="variation")
    names = [standing.scheduler for standing in ranking.standings]
    if ranking.units < 6:
        assert ranking.groups == ()
        assert all(p > 0.05 for row in ranking.p_values for p in row)
    else:
        for row, one in enumerate(names):
            for column, other in enumerate(names):
                together = any(one in group and other in group for group in ranking.groups)
                assert together == (ranking.p_values[row][column] > 0.05)
    for standing in ranking.standings:
        low, high = standing.interval
        if not math.isnan(low):
            assert (low < 1 < high or standing.ratio == 1) == (standing.p_value > 0.05)
        assert len(standing.groups) == sum(standing.scheduler in group for group in ranking.groups)


# ---------------------------------------------------------------- the unit of inference


def test_seeds_and_platforms_do_not_make_a_difference_surer():
    """Schedulers that flip no coins repeat themselves for every seed: no reason to believe them more."""
    once = fields.results({"log": [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]]})
    often = pd.concat([once.assign(seed=seed, platform=name) for seed in range(10) for name in ("p", "q")])
    one, many = rank(once, "mean_wait"), rank(often, "mean_wait")
    assert (one.blocks, many.blocks) == (3, 60)
    assert one.units == many.units == 3
    assert one.p_values == many.p_values
    assert [s.interval for s in one.standings] == [s.interval for s in many.standings]
    assert (many.seeds, many.platforms, many.variations) == (10, ("p", "q"), 3)


def test_variations_are_not_workloads():
    costs = {f"log{number}": fields.steps(20, 1.0, 2.0, 3.0) for number in range(3)}
    frame = fields.results(costs)
    general, these = rank(frame, "mean_wait"), rank(frame, "mean_wait", unit="variation")
    assert (general.unit, general.units, general.variations) == ("workload", 3, 60)
    assert (these.unit, these.units, these.variations) == ("variation", 60, 60)
    assert (general.groups, len(these.groups)) == ((), 3)  # three workloads cannot tell, sixty variations can
    assert rank(frame[frame["workload"] == "log0"], "mean_wait").unit == "variation"


def test_a_single_variation_says_nothing_about_variations():
    frame = fields.results({"a": fields.steps(5, 1.0, 2.0), "b": [[1.0, 2.0]]})
    with pytest.raises(HarnessError, match="b has only one; expected two or more"):
        rank(frame, "mean_wait", unit="variation")
    with pytest.raises(HarnessError, match="'log': expected one of workload, variation"):
        rank(frame, "mean_wait", unit="log")


def test_one_job_stream_is_not_evidence():
    ranking = rank(fields.results({"log": [[3.0, 1.0, 2.0]]}), "mean_wait")
    assert (ranking.groups, ranking.units_for_next, ranking.units_for_tenth) == ((), None, None)
    assert all(math.isnan(low) and math.isnan(high) for low, high in (s.interval for s in ranking.standings[1:]))


# ---------------------------------------------------------------- what is left out


def test_only_common_blocks_count_and_the_rest_is_named():
    frame = fields.results({"log": [[1.0, 2.0], [None, 2.0], [1.0, math.nan], [1.0, 2.0], [5.0, 2.0], [1.0, math.inf]]})
    ranking = rank(frame.drop(index=9), "mean_wait")  # policy1 in variation 4
    assert (ranking.blocks, ranking.blocks_left_out, ranking.left_out) == (2, 4, ())
    assert [(gap.scheduler, gap.variation, gap.reason, gap.error) for gap in ranking.gaps] == [
        ("policy0", 1, "failed", "PolicyError: no"),
        ("policy1", 2, "not a number", ""),
        ("policy1", 4, "missing", ""),
        ("policy1", 5, "not a number", ""),
    ]
    assert [s.mean for s in ranking.standings] == [1.0, 2.0]


def test_a_scheduler_that_hardly_ran_does_not_take_the_blocks_with_it():
    frame = fields.results({"log": [[1.0, 2.0, 3.0], [1.0, 2.0, None], [1.0, 2.0, None]]})
    ranking = rank(frame, "mean_wait")
    assert (ranking.blocks, ranking.blocks_left_out, ranking.left_out) == (3, 0, ("policy2",))
    assert [s.scheduler for s in ranking.standings] == ["policy0", "policy1"]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (fields.results({"log": [[None, None]]}), "none of the 2 runs is done and has a mean_wait"),
        (fields.results({"log": [[1.0, None], [None, 1.0]]}), "no block .* has a mean_wait of every scheduler"),
        (fields.results({"log": [[1.0]]}).iloc[:0], "there are no runs"),
        (fields.results({"log": [[1.0]]}).drop(columns="seed"), "no column 'seed'"),
        (fields.results({"log": [["soon"]]}), "column 'mean_wait' of the results has other values"),
        (pd.concat([fields.results({"log": [[1.0]]})] * 2), "two runs of policy0 .workload log, platform plain"),
        (fields.results({"log": [[1.0]]}).iloc[:, [*range(8), 7]], "two columns 'mean_wait'"),
    ],
)
def test_frames_that_cannot_be_ranked(frame, words):
    with pytest.raises(HarnessError, match=words):
        rank(frame, "mean_wait")


def test_criteria_that_cannot_be_ranked_by():
    frame = fields.results({"log": [[1.0, 2.0]]}, "jobs")
    with pytest.raises(HarnessError, match="cannot rank by 'jobs': neither less nor more of it is better"):
        rank(frame, "jobs")
    with pytest.raises(HarnessError, match="did you mean 'mean_wait'"):
        rank(frame, "mean_wiat")
    with pytest.raises(HarnessError, match="no column 'mean_wait'"):
        rank(frame, "mean_wait")


def test_the_measures_of_plugins():
    widest = Measure("widest", "procs", "more", "max N", lambda schedule: 0.0)
    ranking = rank(fields.results({"log": [[1.0, 2.0]]}, "widest"), "widest", extra=[widest])
    assert (ranking.measure_unit, ranking.standings[0].scheduler) == ("procs", "policy1")


# ---------------------------------------------------------------- performance against energy


def test_the_front_takes_only_those_whose_energy_is_known():
    frame = fields.results({"log": fields.steps(3, 1.0, 2.0, 3.0, 4.0)}, energy=[9.0, math.nan, 9.5, 5.0])
    assert [s.on_front for s in rank(frame, "mean_wait").standings] == [True, None, False, True]
    assert [s.on_front for s in rank(frame.drop(columns="energy"), "mean_wait").standings] == [None] * 4
    assert rank(frame, "mean_wait").standings[0].energy_spread == (9.0, 9.0)


def test_energy_is_not_set_against_itself():
    frame = fields.results({"log": [[1.0, 2.0]]}, "energy")
    assert [s.on_front for s in rank(frame, "energy").standings] == [None, None]
