"""The bundled policies: what they may use, what they say about themselves, and their rules on cases worked by hand."""

import ast
import inspect
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from shared.strategies import workload

import harness
from harness.disk import bundled
from harness.engine.simulate import simulate
from harness.platform.machine import NodeType, Platform, plain
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler

FILES = sorted(bundled.folder("plugins").glob("*.py"))
OFFERED = Plugins().policies
POLICIES = [policy for offered in OFFERED.values() for policy in offered.values()]

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy.hook}-{policy.name}")


# ---------------------------------------------------------------- a plugin folder like any other


@every_file
def test_imports_nothing_but_harness_and_mathematics(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(f"from {node.module}")
    assert imported <= {"harness", "math"}


@every_file
def test_uses_only_public_names(path):
    used = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "harness"
    }
    assert used <= set(harness.__all__)


def test_the_file_is_named_after_its_hook():
    for policy in POLICIES:
        assert Path(inspect.getsourcefile(policy.function)).stem.startswith(policy.hook)


# ---------------------------------------------------------------- what they say about themselves


@every_policy
def test_states_its_rule(policy):
    text = inspect.getdoc(policy.function) or ""
    first = text.split("\n\n")[0]
    assert first.endswith(".")
    assert len(first.split()) >= 2
    assert policy.summary
    for parameter in policy.parameters:
        assert f"`{parameter}`" in text


# ---------------------------------------------------------------- orders, by hand

LATE = {
    "procs": 8,
    "submit": 1000.0,
    "estimate": 100.0,
    "left": 40.0,
    "queue": 1,
}  # seen at second 1300: it has waited 300 s

SCORES = [
    ("fcfs", {}, 1000),
    ("lcfs", {}, -1000),
    ("spf", {}, 40),
    ("lpf", {}, -40),
    ("sjf-width", {}, 8),
    ("ljf-width", {}, -8),
    ("saf", {}, 800),
    ("laf", {}, -800),
    ("wfp3", {}, -27 * 8),
    ("wfp3", {"power": 2.0}, -9 * 8),
    ("unicef", {}, -300 / (3 * 100)),
    ("expansion", {}, -4),
    ("f1", {}, 2 * 8 + 870 * 3),
    ("f2", {}, 10 * 8 + 25600 * 3),
    ("f3", {}, 100 * 8 + 6860000 * 3),
    ("f4", {}, 100 * math.sqrt(8) + 530000 * 3),
    ("queue-priority", {"priority": [1, 7]}, -7),
    ("queue-priority", {"priority": [1]}, 0),
]


@pytest.mark.parametrize(("name", "values", "expected"), SCORES, ids=[f"{n}{v or ''}" for n, v, _ in SCORES])
def test_score(name, values, expected):
    score = OFFERED["order_queue"][name].function
    assert score(SimpleNamespace(**LATE), SimpleNamespace(now=1300.0), **values) == pytest.approx(expected, rel=1e-15)


def test_a_job_of_one_processor_counts_as_two_in_unicef():
    job = SimpleNamespace(**LATE | {"procs": 1})
    assert OFFERED["order_queue"]["unicef"].function(job, SimpleNamespace(now=1300.0)) == -3


@pytest.mark.parametrize("name", OFFERED["order_queue"])
def test_the_first_second_and_estimates_of_nothing_give_numbers(name):
    job = SimpleNamespace(**LATE | WHOSE | {"submit": 0.0, "estimate": 0.0, "left": 0.0, "procs": 1})
    nobody = SimpleNamespace(usage=0.0, users=1, groups=1)
    policy = OFFERED["order_queue"][name]
    score = policy.function(
        job, SimpleNamespace(now=0.0, cores=8, free=2, queued=1), **dict.fromkeys(policy.extras, nobody)
    )
    assert math.isfinite(score)


# ---------------------------------------------------------------- shares, by hand

WHOSE = {"user": 1, "group": 0, "queue": 2, "partition": 1}
USED = {
    "user": SimpleNamespace(usage=20.0, users=1, groups=1),
    "group": SimpleNamespace(usage=45.0, users=2, groups=1),
    "everybody": SimpleNamespace(usage=100.0, users=4, groups=3),
}


def shares(name, **values):
    clock = SimpleNamespace(now=1300.0, cores=32)
    return OFFERED["order_queue"][name].function(SimpleNamespace(**LATE | WHOSE), clock, **USED, **values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, 0.2 / (1 / 4)),
        ({"shares": [5.0, 3.0, 2.0]}, 0.2 / 0.3),
        ({"shares": [1.0, 0.0]}, math.inf),  # no shares at all …
        ({"shares": [1.0, 1.0], "of": 1}, 0.45 / (1 / 3)),
        ({"of": 1, "group_shares": [1.0, 1.0]}, 0.45 / 0.5),
        # The effective usage of a user in an account: its own, and its part of what the others of the account used.
        ({"of": 2}, (0.2 + (0.45 - 0.2) / 2) / (1 / 3 / 2)),
        ({"of": 2, "shares": [30.0, 10.0], "group_shares": [1.0, 1.0]}, (0.2 + 0.25 * 0.25) / (0.5 * 0.25)),
    ],
)
def test_fair_share_is_slurm_s_classic_one(values, expected):
    assert shares("fairshare", **values) == pytest.approx(expected)
    fair = -shares("multifactor", age=0.0, size=0.0, partition=0.0, fairshare=1.0, dampening=2.0, **values)
    assert fair == pytest.approx(2.0 ** -(expected / 2.0))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"age": 7.0, "max_age": 3000.0}, 7 * 300 / 3000),
        ({"age": 7.0, "max_age": 30.0}, 7),
        ({"size": 7.0}, 7 * 8 / 32),
        ({"size": 7.0, "favor_small": True}, 7 * 24 / 32),
        ({"size": 7.0, "size_relative": True}, 7 * (8 / 32) / (100 / 60)),
        ({"partition": 7.0}, 7),
        ({"partition": 7.0, "partitions": [10.0, 4.0, 5.0]}, 7 * 0.4),
        ({"qos": 7.0, "qualities": [10.0, 4.0, 5.0]}, 7 * 0.5),
        ({"qos": 7.0, "qualities": [10.0, 4.0]}, 0),
    ],
)
def test_the_priority_is_slurm_s_sum_of_weighted_factors(values, expected):
    nothing = dict.fromkeys(("age", "size", "fairshare", "partition", "qos"), 0.0)
    assert -shares("multifactor", **nothing | values) == pytest.approx(expected)


# ---------------------------------------------------------------- starts, by hand


def starts(jobs, procs, start, order="fcfs", field="start"):
    chosen = Scheduler(order=order, start=start, energy="none").choose(OFFERED)
    outcome = simulate(workload(jobs), plain(procs), chosen)
    values = np.empty(len(jobs))
    values[outcome.place] = outcome.jobs[field]
    return values.tolist()


BLOCKED = [(0, 2, 10, 10), (0, 1, 10, 10), (1, 3, 5, 5)]  # on four processors: one is free until 10, the third waits


def test_none_stops_at_the_first_that_does_not_fit():
    assert starts([*BLOCKED, (1, 1, 1, 1)], 4, "none") == [0, 0, 10, 10]


def test_greedy_starts_whatever_fits():
    assert starts([*BLOCKED, (1, 1, 20, 20), (11, 1, 9, 9)], 4, "greedy") == [0, 0, 10, 1, 15]


def test_easy_counts_every_completion_tied_at_the_reservation_as_spare():
    """Enough are free when the first of the two ends; the fourth job may have the one that the second leaves."""
    assert starts([*BLOCKED, (1, 1, 20, 20)], 4, "easy") == [0, 0, 10, 1]


def test_easy_gives_the_spare_processors_away_once_and_lets_in_who_ends_by_then():
    jobs = [(0, 2, 10, 10), (0, 1, 10, 10), (1, 4, 5, 5), (1, 1, 20, 20), (1, 1, 20, 20), (1, 1, 9, 9)]
    assert starts(jobs, 5, "easy") == [0, 0, 10, 1, 15, 1]


def test_easy_believes_estimates_until_the_job_has_ended():
    jobs = [(0, 3, 4, 10), (1, 4, 5, 5), (1, 1, 9, 9), (5, 1, 1, 2)]
    assert starts(jobs, 4, "easy") == [0, 10, 1, 5]


def test_easy_tries_in_the_order_for_backfilling():
    jobs = [(0, 3, 10, 10), (1, 4, 5, 5), (1, 1, 9, 9), (1, 1, 3, 3)]
    assert starts(jobs, 4, "easy") == [0, 10, 1, 15]
    assert starts(jobs, 4, "easy(backfill_order=spf)") == [0, 10, 15, 1]


def test_easy_protects_as_many_as_asked():
    """The fourth job would delay the third, not the second."""
    jobs = [(0, 2, 10, 10), (1, 3, 5, 5), (1, 4, 5, 5), (1, 1, 30, 30)]
    assert starts(jobs, 4, "easy") == [0, 10, 31, 1]
    assert starts(jobs, 4, "easy(reservations=2)") == [0, 10, 15, 20]


EARLY = [(0, 1, 2, 10), (0, 1, 10, 10), (1, 2, 5, 5), (1, 1, 20, 20), (1, 1, 8, 8)]  # the first one ends at 2, not 10


def test_conservative_moves_forward_who_fits_when_a_job_ends_early():
    assert starts(EARLY, 2, "conservative") == [0, 0, 10, 15, 2]


def test_a_reservation_is_due_even_if_nothing_else_happens_then():
    """The third job is promised second 6. At 3 it stays, and the fourth, which was to end at 6, moves before it."""
    jobs = [(0, 1, 4, 4), (2, 1, 1, 4), (2, 2, 4, 4), (2, 1, 2, 2)]
    assert starts(jobs, 2, "conservative") == [0, 2, 6, 3]


def test_conservative_protects_everyone():
    """EASY lets the last job in at once, which delays the second in the queue."""
    jobs = [(0, 2, 10, 10), (1, 3, 5, 5), (1, 4, 5, 5), (1, 1, 30, 30)]
    assert starts(jobs, 4, "conservative") == [0, 10, 15, 20]


def test_conservative_gives_the_place_of_a_cancelled_job_to_the_next():
    jobs = [(0, 1, 10, 10), (1, 2, 5, 5, {"cancel": 4}), (2, 1, 20, 20)]
    assert starts(jobs, 2, "conservative")[2] == 4


def test_conservative_replanned_gives_every_place_away_again():
    """A newcomer that the order puts first is planned first; a promise that was kept would stand in its way."""
    jobs = [(0, 2, 10, 10), (1, 2, 9, 9), (2, 2, 1, 1)]
    assert starts(jobs, 2, "conservative", order="spf") == [0, 10, 19]
    assert starts(jobs, 2, "conservative(replan=true)", order="spf") == [0, 11, 10]


def test_preempting_at_any_event_resumes_with_what_is_left():
    jobs = [(0, 1, 5, 5), (2, 1, 2, 2)]
    assert starts(jobs, 1, "preempt", order="lcfs") == [0, 2]
    assert starts(jobs, 1, "preempt", order="lcfs", field="end") == [7, 4]
    assert starts(jobs, 1, "preempt", order="lcfs", field="preemptions") == [1, 0]


def test_shortest_first_compares_with_what_is_left_of_the_one_in_service():
    jobs = [(0, 1, 5, 5), (3, 1, 3, 3)]  # two seconds are left at 3
    assert starts(jobs, 1, "preempt", order="spf") == [0, 5]


def test_preempting_at_departures_lets_newcomers_in_only_if_nobody_waits():
    assert starts([(0, 1, 9, 9), (1, 1, 4, 4)], 2, "preempt(at=departure)", order="spf") == [0, 1]
    jobs = [(0, 1, 9, 9), (1, 2, 4, 4), (2, 1, 1, 1)]
    assert starts(jobs, 2, "preempt(at=departure)", order="spf") == [0, 10, 9]


def test_preempting_at_departures_suspends_then_and_not_before():
    jobs = [(0, 1, 3, 3), (0, 1, 20, 20), (1, 2, 4, 4)]  # the wide one is last in, and first when the narrow one ends
    assert starts(jobs, 2, "preempt(at=departure)", order="lcfs") == [0, 0, 3]
    assert starts(jobs, 2, "preempt(at=departure)", order="lcfs", field="end") == [3, 24, 7]


def test_preempting_at_arrivals_suspends_then_and_not_at_departures():
    jobs = [(0, 1, 3, 3), (0, 1, 20, 20), (1, 2, 4, 4)]
    assert starts(jobs, 2, "preempt(at=arrival)", order="lcfs", field="end") == [7, 24, 5]


# ---------------------------------------------------------------- selections, by hand

# Nodes of 4, 2 and 3 cores; the second is the fastest, the third the most efficient. Per busy core 1, 6 and 1 W.
UNLIKE = Platform(
    "unlike",
    (
        NodeType(1, 4, ops=4.0, idle=0.0, peak=4.0),
        NodeType(1, 2, ops=6.0, idle=0.0, peak=12.0),
        NodeType(1, 3, ops=6.0, idle=0.0, peak=3.0),
    ),
)


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("first-fit", [4, 1, 0]),
        ("best-fit", [0, 2, 3]),
        ("worst-fit", [4, 0, 1]),
        ("fastest", [0, 2, 3]),
        ("efficient", [2, 0, 3]),
    ],
)
def test_where_five_processors_are_taken(select, expected):
    chosen = Scheduler(select=select, energy="cores").choose(OFFERED)
    outcome = simulate(workload([(0, 5, 60, 60)]), UNLIKE, chosen)
    per_core = outcome.nodes.peak / outcome.nodes.cores
    taken = outcome.nodes.energy / per_core / outcome.jobs.service[0]
    assert taken.tolist() == pytest.approx(expected)


def test_a_job_runs_at_the_speed_of_its_slowest_processor():
    """PEAS equations 1 and 2: the mean of 4·1, 2·3 and 3·2 is 16/9."""
    chosen = Scheduler(energy="none").choose(OFFERED)
    outcome = simulate(workload([(0, 5, 90, 90)]), UNLIKE, chosen)
    assert outcome.jobs.service[0] == pytest.approx(90 * 16 / 9)


def test_random_draws_every_free_processor_equally_often():
    chosen = Scheduler(select="random", energy="cores").choose(OFFERED)
    alike = Platform("alike", tuple(NodeType(1, n, idle=0.0, peak=float(n)) for n in (4, 2, 3)))
    count = 3000
    outcome = simulate(workload([(k, 1, 1, 1) for k in range(count)]), alike, chosen, seed=1)
    share = outcome.nodes.energy / count
    for found, cores in zip(share, (4, 2, 3), strict=True):
        expected = cores / 9
        assert abs(found - expected) < 4 * math.sqrt(expected * (1 - expected) / count)


# ---------------------------------------------------------------- rate and power, by hand


def test_a_fixed_rate_stretches_the_runtime():
    chosen = Scheduler(rate="fixed(rate=0.5)", energy="none").choose(OFFERED)
    outcome = simulate(workload([(3, 1, 10, 10), (4, 1, 10, 10)]), plain(1), chosen)
    assert outcome.jobs.start.tolist() == [3, 23]
    assert outcome.jobs.end.tolist() == [23, 43]


@pytest.mark.parametrize(("energy", "watts"), [("none", 0), ("peas", 75), ("cores", 100)])
def test_watts_of_a_node_that_is_half_busy(energy, watts):
    node = SimpleNamespace(cores=4, busy=2, idle=50.0, peak=150.0, status=harness.AWAKE)
    assert OFFERED["account_energy"][energy].function(node, SimpleNamespace(now=0.0, rate=1.0)) == watts
