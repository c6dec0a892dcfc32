"""The engine goes through the epochs of the published recursion: the same times, customers, remaining work and rates.

Event times are in general position, as the paper assumes: no arrival falls on a departure.
"""

import numpy as np
import pytest
import recursion
from replay import replay
from shared.running import choose
from shared.strategies import workload

import harness
from harness import NodeType, PerformanceState, Platform
from harness.policy_api.compiled_policies import own_vector

C = 6
SLOW, FAST = 0.75, 1.0
E0 = {SLOW: 14.0, FAST: 18.0}  # idle and busy watts of a server, with the paper's order of the busy ones
E = {SLOW: 41.0, FAST: 34.0}
MACHINE = Platform(
    "cluster", (NodeType(C, 1, idle=E0[FAST], peak=E[FAST], performance=[PerformanceState(SLOW, E0[SLOW], E[SLOW])]),)
)
DISCIPLINES = {
    recursion.FCFS: {"order": "fcfs", "start": "none"},
    recursion.LCFS: {"order": "lcfs", "start": "preempt"},
    recursion.LPF: {"order": "lpf", "start": "preempt(at=departure)"},
    recursion.SPF: {"order": "spf", "start": "preempt(at=departure)"},
}
COIN = "coin(up=0.4, down=0.3)"
RATES = {
    COIN: lambda seed: recursion.coin(flips(seed), SLOW, FAST, 0.3, 0.4),
    "hysteresis(low=2, high=5)": lambda seed: recursion.hysteresis(SLOW, FAST, 2, 5),
    "hysteresis(low=3, high=3)": lambda seed: recursion.hysteresis(SLOW, FAST, 3, 3),
    "workload(low=20, high=60)": lambda seed: recursion.workload(SLOW, FAST, 20, 60),
    "workload(low=30, high=30)": lambda seed: recursion.workload(SLOW, FAST, 30, 30),
}


def flips(seed):
    """The very coins that the policy flips."""
    dice = own_vector(choose(rate=COIN)["rate"], seed)[-1:].view(np.uint64)
    with np.errstate(over="ignore"):
        return lambda p: harness.uniform(dice) < p


def customers(seed, count=40):
    """(t, S, N) in general position, crowded enough that most have to wait."""
    dice = np.random.default_rng(seed)
    t = np.cumsum(dice.exponential(4.0, count))
    return list(zip(t, dice.exponential(9.0, count), dice.choice((1, 1, 2, 3, 6), count), strict=True))


class Probe:
    """Looks at the system after every decision: a sleep policy that never lets anyone sleep."""

    def __init__(self):
        self.states = []

    def __call__(self, state):
        clock = state.clock
        left = {}
        running = [int(job) for job in harness.running(state)]
        for job in running:
            left[job + 1] = (state.jobs[job].planned - clock.virtual) * state.jobs[job].speed
        for job in harness.waiting(state):
            left[int(job) + 1] = float(state.jobs[job].left)
        self.states.append((float(clock.now), left, {job + 1 for job in running}, float(clock.rate)))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("seed", range(6))
def test_the_engine_goes_through_the_published_epochs(discipline, rate, seed):
    made = customers(seed)
    expected = list(recursion.epochs(made, C, discipline, RATES[rate](seed), SLOW))
    probe = Probe()
    look = harness.Sleep("probe", lambda state: probe(state), compiled=False)
    jobs = workload([(t, int(N), S, S) for t, S, N in made])
    schedule = replay(jobs, MACHINE, seed=seed, rate=rate, sleep=look, **DISCIPLINES[discipline])

    assert len(probe.states) == len(expected)
    for (now, left, served, R), epoch in zip(probe.states, expected, strict=True):
        assert now == pytest.approx(epoch.T, abs=1e-9)
        assert set(left) == set(epoch.M), f"at {now}"
        assert served == epoch.served, f"at {now}"
        assert left == pytest.approx(epoch.B, abs=1e-7), f"at {now}"
        assert R == epoch.R, f"at {now}"
    assert len({epoch.R for epoch in expected}) == 2, "a case in which the rate is never switched says nothing"
    if rate.startswith("workload"):
        assert "S" in {epoch.kind for epoch in expected}

    timeline = schedule.timeline
    for column, attribute in (("queued", "Q"), ("busy", "phi"), ("work", "W")):
        wanted = [getattr(epoch, attribute) for epoch in expected]
        assert timeline[column].to_numpy() == pytest.approx(np.array(wanted), abs=1e-7)
    averages, budget = recursion.averages(expected, E.get, E0.get)
    measures = schedule.measures()
    for name, measure in (
        ("jobs", "mean_jobs"),
        ("queued", "mean_queued"),
        ("busy", "mean_busy"),
        ("potential", "potential_load"),
        ("effective", "effective_load"),
        ("wasted", "job_wasting"),
        ("power", "mean_power"),
    ):
        assert measures[measure] == pytest.approx(averages[name], rel=1e-9, abs=1e-12), measure
    assert schedule.frame["energy"].tolist() == pytest.approx(list(budget.values()), rel=1e-9)


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_one_epoch_by_hand(discipline):
    """Two customers of all servers: the recursion itself is right about who is first."""
    made = [(0.0, 4.0, C), (1.0, 2.0, C), (1.5, 3.0, C)]
    rate = recursion.hysteresis(1.0, 1.0, 9, 9)
    states = list(recursion.epochs(made, C, discipline, rate, 1.0))
    departures = [state.T for state in states if state.kind == "D"]
    assert (
        departures
        == {
            recursion.FCFS: [4, 6, 9],
            recursion.LCFS: [4.5, 6, 9],  # the third, the rest of the second, that of the first
            recursion.LPF: [4, 7, 9],
            recursion.SPF: [4, 6, 9],
        }[discipline]
    )
