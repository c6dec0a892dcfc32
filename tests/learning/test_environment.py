"""The environment keeps Gymnasium's contract, and an agent that chooses by an order gives that order's schedule."""

import warnings
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import harness
import harness.learning
from harness.engine.observation import FEATURE_NAMES, described
from harness.errors import HarnessError
from harness.policy.registry import plugins

LOG = "lublin(jobs=120, procs=32, seed=4)"


def made(**options: Any) -> Any:
    return gymnasium.make("harness/Scheduling-v0", **{"workload": LOG, "platform": 32, "jobs": 60, **options}).unwrapped


def through(env: Any, choose: Any, **reset: Any) -> tuple[float, dict[str, Any]]:
    """Go through an episode; return its reward and the last info."""
    seen, info = env.reset(**reset)
    over, total = False, 0.0
    while not over:
        seen, reward, over, cut, info = env.step(choose(seen, info["action_mask"].astype(bool)))
        assert not cut
        total += reward
    return total, info


def least(name: str) -> Any:
    """Chooses the job with the least of a number."""
    column = FEATURE_NAMES.index(name)
    return lambda seen, mask: int(np.where(mask, seen[:, column], np.inf).argmin())


def test_gymnasiums_own_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 60), st.sampled_from(["easy", "none", "greedy"]), st.booleans())
def test_choosing_by_an_order_gives_its_schedule(first: int, start: str, shortest: bool) -> None:
    env = made(start=start)
    choose = least("requested") if shortest else (lambda seen, mask: 0)
    reward, info = through(env, choose, options={"first": first})
    schedule = info["schedule"]
    order = "fcfs"
    if shortest:
        order, start = "spf", {"easy": "easy(backfill_order=fcfs)"}.get(start, start)
    expected = harness.simulate(schedule.workload, 32, harness.Scheduler(order, start))
    if not (shortest and start == "greedy"):  # which starts others in queue order as soon as one does not fit
        assert schedule.digest == expected.digest
        assert reward == -expected.measures()["mean_bounded_slowdown"]


def test_what_is_shown_is_what_policies_describe() -> None:
    """By the plain function, from the records that steps show; who was started does not count as waiting."""
    env = made(jobs=40, start="none")
    rows = []

    def first(seen: Any, mask: Any) -> int:
        rows.append(seen[mask])
        return 0

    _, info = through(env, first, options={"first": 0})
    slow = []
    for moment in harness.steps(info["schedule"].workload, 32):
        while moment.waiting:
            clock = SimpleNamespace(now=moment.now, cores=32, free=moment.free, queued=len(moment.waiting))
            slow.append([described(job, clock) for job in moment.waiting])
            if not moment.fits(moment.waiting[0]):
                break
            moment.start(moment.waiting[0])
    assert len(rows) == len(slow)
    for ours, theirs in zip(rows, slow, strict=True):
        np.testing.assert_allclose(ours, np.array(theirs, np.float32)[: len(ours)], rtol=1e-6)


def test_more_wait_than_are_shown() -> None:
    _, info = through(made(slots=2), lambda seen, mask: 0, options={"first": 3})
    expected = harness.simulate(info["schedule"].workload, 32, harness.Scheduler(start="easy"))
    assert info["schedule"].digest == expected.digest


def test_an_empty_slot_is_the_last_job_that_is_shown() -> None:
    env = made()
    seen, info = env.reset(options={"first": 0})
    assert info["action_mask"][0] == 1
    assert not info["action_mask"][-1]
    assert not seen[-1].any()
    env.step(len(seen) - 1)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_at_once_are_each_as_alone(threads: int) -> None:
    many = gymnasium.make_vec(
        "harness/Scheduling-v0", num_envs=5, vectorization_mode="vector_entry_point",
        workload=LOG, platform=32, jobs=60, threads=threads, reward="mean_wait",
    )  # fmt: skip
    one = made(reward="mean_wait")
    seen, _ = many.reset(seed=7)
    firsts = np.random.default_rng(7)
    assert many.single_observation_space.contains(seen[0])
    rewards: dict[int, float] = {}
    while len(rewards) < 5:
        seen, got, over, _, _ = many.step(np.zeros(5, int))
        for place in np.flatnonzero(over):
            rewards.setdefault(int(place), float(got[place]))
    many.close()
    expected = [through(one, lambda seen, mask: 0, options={"first": int(firsts.integers(61))})[0] for _ in range(5)]
    assert [rewards[k] for k in range(5)] == expected


def test_same_seed_same_episode() -> None:
    one, other = made(), made()
    assert through(one, least("width"), seed=3)[0] == through(other, least("width"), seed=3)[0]


def test_the_reward_is_a_function_of_measures() -> None:
    env = made(reward=lambda measures: measures["utilisation"] - measures["mean_wait"] / 3600)
    reward, info = through(env, lambda seen, mask: 0, seed=1)
    measures = info["schedule"].measures()
    assert reward == measures["utilisation"] - measures["mean_wait"] / 3600
    assert through(made(reward="utilisation"), lambda seen, mask: 0, seed=1)[0] == measures["utilisation"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reward": "mean_wiat"}, "did you mean 'mean_wait'"),
        ({"reward": "jobs"}, "neither more nor less"),
        ({"jobs": 1000}, "has only 120"),
        ({"slots": 0}, "slots=0"),
        ({"start": "preempt"}, "expected a policy that makes no plan"),
        ({"start": "conservative"}, "expected a policy that makes no plan"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(HarnessError, match=words):
        made(**options)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(0, 1000))
def test_a_network_scores_as_numpy_does(hidden: int, seed: int) -> None:
    dice = np.random.default_rng(seed)
    units, last = dice.normal(size=(hidden, 10)).round(3), round(float(dice.normal()), 3)
    weights = [*units.ravel().tolist(), last]
    job = SimpleNamespace(submit=3.0, left=500.0, procs=3)
    clock = SimpleNamespace(now=90.0, cores=16, free=2, queued=5)
    seen = np.array(described(job, clock))
    expected = np.maximum(units[:, :8] @ seen + units[:, 8], 0) @ units[:, 9] + last
    network = plugins().policies["order_queue"]["network"]
    assert network.function(job, clock, weights) == pytest.approx(expected)
    assert network.value("weights", weights) == tuple(weights)
