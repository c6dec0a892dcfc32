"""Small cases whose every second and joule is worked out by hand."""

import warnings

import numpy as np
import pytest
from replay import happenings, replay
from shared.strategies import workload

import harness
from harness import NodeType, PerformanceState, Platform, SleepState
from harness.engine.power.unknown_power import UnknownPowerWarning, _warn_once

CURVE = (60, 80, 95, 108, 120, 132, 145, 160, 178, 198, 220)
OFF = SleepState("off", watts=5, down=4, up=10, down_energy=80, up_energy=1500)  # 20 W down, 150 W up


def node(count=1, cores=1, **figures):
    return Platform("by hand", (NodeType(count, cores, **({"curve": CURVE} | figures)),))


def joules(schedule):
    """What all nodes drew: in all, idle, asleep, in transitions."""
    nodes = schedule.outcome.nodes
    return [nodes[name].sum() for name in ("energy", "idle_energy", "sleep_energy", "transition_energy")]


# ---------------------------------------------------------------- one job, one node; loads between the levels


@pytest.mark.parametrize(("energy", "busy", "idle"), [("peas", 220, 0), ("cores", 220, 60), ("spec", 220, 60)])
def test_one_job_on_one_node(energy, busy, idle):
    schedule = replay(workload([(0, 1, 100, 100), (130, 1, 50, 50)]), node(), energy=energy)
    assert schedule.frame["energy"].tolist() == [100 * busy, 50 * busy]
    assert joules(schedule) == [150 * busy + 30 * idle, 30 * idle, 0, 0]


def test_a_staircase_of_loads():
    """A node of 20 cores: one more job of one core each second, so that every level and every middle is visited."""
    jobs = workload([(k, 1, 40 - k, 40 - k) for k in range(20)])
    schedule = replay(jobs, node(cores=20), energy="spec")
    levels = [np.interp(5 * busy, range(0, 101, 10), CURVE) for busy in range(21)]
    assert schedule.timeline["power"].tolist()[:20] == pytest.approx(levels[1:])
    assert levels[20] == 220
    staircase = levels[1:20] + [220] * 21  # from 19 s to 40 s all cores are busy
    assert joules(schedule) == pytest.approx([sum(staircase), 0, 0, 0])
    # The second from k to k + 1 is shared by k + 1 cores.
    shares = [watts / min(k + 1, 20) for k, watts in enumerate(staircase)]
    assert schedule.frame["energy"].tolist() == pytest.approx([sum(shares[k:]) for k in range(20)])


def test_the_curve_counts_for_spec_the_ends_for_cores():
    half = workload([(0, 5, 10, 10)])
    assert joules(replay(half, node(cores=10), energy="spec"))[0] == 10 * 132
    assert joules(replay(half, node(cores=10), energy="cores"))[0] == 10 * (60 + 220) / 2
    assert joules(replay(half, node(cores=10), energy="peas"))[0] == 10 * 220 / 2


# ---------------------------------------------------------------- rates


def half_until_30(state):
    """Half speed in the first 30 seconds, then full."""
    if state.clock.now < 30:
        harness.call_again(state, 30.0)
        return 0.5
    return 1.0


PACES = (PerformanceState(0.5, 50, 120), PerformanceState(0.8, 56, 180))


@pytest.mark.parametrize("plain", [False, True])
def test_a_rate_switch_in_mid_job(plain):
    """20 s of work: 15 done in 30 s at half speed, 5 more at full speed; then 10 s idle, and 1 s of work."""
    jobs = workload([(0, 1, 20, 20), (45, 1, 1, 1)])
    schedule = replay(
        jobs, node(performance=PACES), rate=harness.Rate("late", half_until_30), energy="spec", plain=plain
    )
    assert schedule.frame["end"].tolist() == [35, 46]
    assert schedule.frame["energy"].tolist() == [30 * 120 + 5 * 220, 220]
    assert joules(schedule) == [30 * 120 + 5 * 220 + 10 * 60 + 220, 10 * 60, 0, 0]
    assert schedule.measures()["effective_load"] == pytest.approx(21 / 46)


@pytest.mark.parametrize(
    ("rate", "idle", "peak"),
    [(0.25, 50, 120), (0.5, 50, 120), (0.65, 53, 150), (0.8, 56, 180), (0.9, 58, 200), (1.0, 60, 220), (2.0, 60, 220)],
)
def test_between_performance_states_power_is_interpolated(rate, idle, peak):
    """Below the slowest and above the fastest it is theirs."""
    jobs = workload([(0, 1, 12, 12), (100, 1, 12, 12)])
    schedule = replay(jobs, node(performance=PACES), rate=f"fixed(rate={rate})", energy="cores")
    assert schedule.frame["energy"].tolist() == pytest.approx([12 / rate * peak] * 2)
    assert joules(schedule)[1] == pytest.approx((100 - 12 / rate) * idle)


def test_a_rate_below_the_slowest_state_is_said_once():
    jobs = workload([(0, 1, 12, 12)])
    with pytest.warns(UnknownPowerWarning, match=r"'fixed\(rate=0.3\)' .set_rate. set the rate 0.3, below 0.5"):
        replay(jobs, node(performance=PACES), rate="fixed(rate=0.3)", energy="cores")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replay(jobs, node(performance=PACES), rate="fixed(rate=0.3)", energy="cores")  # it was said
        replay(jobs, node(performance=PACES), rate="fixed(rate=0.5)", energy="cores")
        replay(jobs, node(), rate="fixed(rate=1)", energy="cores")
        replay(jobs, node(), rate="fixed(rate=1.33)", energy="none")


@pytest.mark.parametrize(
    ("rate", "performance", "words"),
    [
        (1.33, PACES, "set the rate 1.33, above 1, the fastest performance state of a node"),
        (1.34, (), "set the rate 1.34, and a node has no performance state for it: .* is counted as at full speed"),
        (0.26, (), "set the rate 0.26, and a node has no performance state for it: .* is counted as at full speed"),
    ],
)
@pytest.mark.parametrize("energy", ["cores", "spec", "peas"])
def test_a_rate_whose_power_is_not_known_is_reported(rate, performance, words, energy):
    _warn_once.cache_clear()
    with pytest.warns(UnknownPowerWarning, match=words):
        replay(workload([(0, 1, 12, 12)]), node(performance=performance), rate=f"fixed(rate={rate})", energy=energy)


def test_the_shape_of_the_curve_is_kept_at_every_rate():
    """At 35 % of the load 54 / 160 of the way from idle to peak is done."""
    schedule = replay(
        workload([(0, 7, 6, 6)]), node(cores=20, performance=PACES), rate="fixed(rate=0.5)", energy="spec"
    )
    assert joules(schedule)[0] == pytest.approx(12 * (50 + 54 / 160 * 70))


# ---------------------------------------------------------------- sleep


def test_a_sleep_wake_cycle():
    """Idle 0 to 10, falling to 14, asleep to 50, waking to 60, service to 80: nothing is billed twice."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (50, 1, 20, 20)])  # the first is too wide: it opens the run
    schedule = replay(jobs, node(sleep=[OFF]), sleep="timeout(idle=10)", energy="spec")
    record = schedule.frame.iloc[1]
    assert record[["wait", "boot", "run", "response"]].tolist() == [0, 10, 20, 30]
    assert (record["start"], record["end"]) == (50, 80)
    assert record["energy"] == 20 * 220
    assert joules(schedule) == [20 * 220 + 600 + 36 * 5 + 1580, 10 * 60, 36 * 5, 80 + 1500]
    timeline = schedule.timeline.set_index("time").loc[[0, 10, 14, 50, 60, 80]]  # the policy looks in between
    assert timeline["power"].to_dict() == {0: 60, 10: 20, 14: 5, 50: 150, 60: 220, 80: 60}
    assert timeline["asleep"].to_dict() == {0: 0, 10: 0, 14: 1, 50: 0, 60: 0, 80: 0}
    assert timeline["switching"].to_dict() == {0: 0, 10: 1, 14: 0, 50: 1, 60: 0, 80: 0}
    assert timeline["busy"].to_dict() == {0: 0, 10: 0, 14: 0, 50: 0, 60: 1, 80: 0}
    assert timeline["running"].to_dict() == {0: 0, 10: 0, 14: 0, 50: 1, 60: 1, 80: 0}


def test_a_node_that_is_falling_asleep_is_taken():
    """Falling from 10 to 14 cannot be cut short: allocated at 11, awake at 24."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (11, 1, 20, 20)])
    schedule = replay(jobs, node(sleep=[OFF]), sleep="timeout(idle=10)", energy="spec")
    assert schedule.frame.iloc[1][["start", "wait", "boot", "run", "end"]].tolist() == [11, 0, 13, 20, 44]
    assert joules(schedule) == [20 * 220 + 600 + 1580, 600, 0, 1580]


def test_nodes_that_sleep_and_wake_in_no_time():
    nap = SleepState("nap", watts=7)
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (50, 1, 20, 20)])
    schedule = replay(jobs, node(sleep=[nap]), sleep="timeout(idle=10)", energy="spec")
    assert schedule.frame.iloc[1][["start", "wait", "boot", "run", "end"]].tolist() == [50, 0, 0, 20, 70]
    assert joules(schedule) == [20 * 220 + 600 + 40 * 7, 600, 40 * 7, 0]


def test_a_wide_job_waits_for_its_last_node():
    """It is allocated two sleeping nodes at 30; one is awake at 32 and idles until the other is, at 40."""
    quick = SleepState("quick", watts=9, down=1, up=2)
    machine = Platform("two kinds", tuple(NodeType(1, 1, curve=CURVE, sleep=[nap]) for nap in (quick, OFF)))
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (30, 2, 20, 20)])
    schedule = replay(jobs, machine, sleep="timeout(idle=10)", energy="spec")
    assert schedule.frame.iloc[1][["start", "boot", "run", "end"]].tolist() == [30, 10, 20, 60]
    first, second = schedule.outcome.nodes
    assert (first.idle_energy, first.sleep_energy, first.transition_energy) == (18 * 60, 19 * 9, 0)
    assert (second.idle_energy, second.sleep_energy, second.transition_energy) == (600, 16 * 5, 1580)
    assert schedule.frame["energy"].iloc[1] == 2 * 20 * 220
    assert schedule.measures()["mean_busy"] * 60 == 40


def test_a_spare_node_stays_awake_and_is_replaced():
    """At 20 the spare node serves, and the other, asleep since 14, is woken to be the spare."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (20, 1, 30, 30)])
    schedule = replay(jobs, node(count=2, sleep=[OFF]), sleep="reserve(spare=1, idle=10)", energy="spec")
    assert schedule.frame.iloc[1][["start", "boot", "end"]].tolist() == [20, 0, 50]
    first, second = schedule.outcome.nodes
    assert (first.idle_energy, first.energy) == (20 * 60, 20 * 60 + 30 * 220)
    assert (second.idle_energy, second.sleep_energy, second.transition_energy) == ((10 + 20) * 60, 6 * 5, 1580)


def test_a_spare_node_that_is_falling_asleep_comes_back():
    """The second node falls asleep from 10 to 14; at 11 the first is taken: the second wakes from 14 to 24."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (11, 1, 100, 100)])
    schedule = replay(jobs, node(2, sleep=[OFF]), sleep="reserve(spare=1, idle=10)")
    switching = schedule.timeline.set_index("time")["switching"]
    assert switching.to_dict() == {0: 0, 10: 1, 11: 1, 14: 1, 24: 0, 111: 1}


def test_the_deeper_state_is_chosen_and_the_deepest_there_is():
    light = SleepState("light", watts=30)
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (50, 1, 20, 20)])
    for depth, boot in ((0, 0), (1, 10), (7, 10)):
        schedule = replay(jobs, node(sleep=[light, OFF]), sleep=f"timeout(idle=10, depth={depth})")
        assert schedule.frame["boot"].iloc[1] == boot


@pytest.mark.parametrize("sleep", ["timeout(idle=10)", "reserve(spare=0, idle=10)"])
def test_of_two_nodes_the_one_that_can_sleep_does(sleep):
    machine = Platform("mixed", (NodeType(1, 1, idle=60, peak=220), *node(sleep=[OFF]).types))
    schedule = replay(workload([(0, 1, 1, 1), (100, 1, 1, 1)]), machine, sleep=sleep, energy="cores")
    assert [record.asleep > 0 for record in schedule.outcome.nodes] == [False, True]


# ---------------------------------------------------------------- failures


def test_a_node_that_fails_on_its_way_to_sleep_ends_no_transition():
    """It begins to fall asleep at 11 and fails for good at 12: nothing is left to happen to the job that waits."""
    jobs = workload([(0, 1, 1, 1), (11.5, 1, 5, 5)])
    schedule = replay(jobs, node(sleep=[OFF]), sleep="timeout(idle=10)", events=happenings((12, "node-down", 0)))
    assert schedule.frame["status"].tolist() == ["completed", "stranded"]
    assert schedule.timeline["time"].tolist() == [0, 1, 11, 11.5, 12]


def test_a_failure_is_dark_and_costs_what_was_done():
    """Down from 5 to 12: the job begins again at 12, and its first five seconds are lost but paid for."""
    schedule = replay(
        workload([(0, 1, 10, 10)]), node(), energy="spec", events=happenings((5, "node-down", 0), (12, "node-up", 0))
    )
    record = schedule.frame.iloc[0]
    assert record[["start", "end", "run", "restarts", "lost", "wait"]].tolist() == [12, 22, 10, 1, 5, 0]
    assert record["energy"] == joules(schedule)[0] == 15 * 220
    assert schedule.timeline["power"].tolist() == [220, 0, 220, 60]
    assert schedule.placements[["begin", "end"]].to_numpy().tolist() == [[0, 5], [12, 22]]


@pytest.mark.parametrize(
    ("events", "begins", "waits"),
    [
        ([(5, "job-requeued", 2)], [0, 5], [0, 1]),
        ([(5, "job-requeued", 2), (7, "job-requeued", 2)], [0, 7], [0, 1]),
        ([(2, "node-down", 0), (9, "node-up", 0)], [0, 9], [0, 1]),
        ([(2, "node-down", 0), (9, "node-up", 0), (12, "job-requeued", 2)], [0, 12], [0, 1]),
        ([(0.5, "job-requeued", 1), (4, "job-killed", 2)], [0.5, 1.5], [0, 1.5]),
    ],
)
def test_a_wait_ends_at_the_first_start(events, begins, waits):
    """The first job runs for a second and the second one then, on one core; some have to begin again."""
    schedule = replay(workload([(0, 1, 1, 1), (0, 1, 9, 9)]), node(), events=happenings(*events))
    measures = schedule.measures()
    assert schedule.frame["wait"].tolist() == waits
    assert schedule.frame["start"].tolist() == begins
    assert measures["mean_wait"] == measures["median_wait"] == np.mean(waits)
    assert measures["max_wait"] == max(waits)


@pytest.mark.parametrize("start", ["none", "greedy", "easy", "conservative", "conservative(replan=true)"])
def test_a_job_that_needs_a_node_that_is_gone_waits_for_it(start):
    """Only the second kind has its memory. Those behind it run meanwhile, unless nobody may overtake."""
    machine = Platform("two kinds", (NodeType(2, 1, memory=1.0), NodeType(1, 1, memory=9.0)))
    jobs = workload([(1, 1, 5, 5, {"memory": 5.0}), (1, 2, 5, 5), (2, 1, 5, 5)])
    for repair in ([], [(50, "node-up", 2)]):
        events = happenings((0, "node-down", 2), *repair)
        frame = replay(jobs, machine, start=start, energy="none", events=events).frame
        behind = [1, 6] if start != "none" else [50, 55] if repair else []
        assert frame["start"].dropna().tolist() == ([50.0] if repair else []) + behind
        assert frame["status"].tolist()[0] == ("completed" if repair else "stranded")


def test_a_killed_job_ends_and_is_billed_for_what_it_used():
    schedule = replay(
        workload([(0, 1, 10, 10), (0, 1, 4, 4)]), node(), energy="spec", events=happenings((5, "job-killed", 1))
    )
    assert schedule.frame["status"].tolist() == ["killed", "completed"]
    assert schedule.frame[["start", "end", "run"]].to_numpy().tolist() == [[0, 5, 5], [5, 9, 4]]
    assert schedule.frame["energy"].tolist() == [5 * 220, 4 * 220]


def test_what_happened_before_the_first_arrival_happened_with_it():
    """The run begins at 100 with a node down, and draws nothing for the time before."""
    schedule = replay(
        workload([(100, 1, 10, 10)]),
        node(count=2),
        energy="spec",
        events=happenings((3, "node-down", 0), (8, "node-up", 0), (9, "node-down", 1)),
    )
    assert joules(schedule)[0] == 10 * 220
    assert schedule.timeline["time"].tolist() == [100, 110]


def test_who_was_started_once_never_gives_up():
    """Whatever other jobs there are that do; as for suspended jobs."""
    patient = [(0, 1, 10, 10, {"cancel": 9}), (1, 1, 5, 5, {"cancel": 7})]
    for made in (patient[:1], patient):
        schedule = replay(workload(made), node(), events=happenings((6, "node-down", 0), (20, "node-up", 0)))
        assert schedule.frame["restarts"].iloc[0] == 1
        assert schedule.frame["end"].iloc[0] == 30


@pytest.mark.parametrize("event", ["node-down", "job-requeued", "job-killed"])
@pytest.mark.parametrize(("at", "served"), [(14, 0), (15, 0), (16, 1)])
def test_an_accident_before_at_and_after_the_instant_of_waking(event, at, served):
    """The second job is allocated a sleeping node at 5, which is awake at 15."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (5, 1, 20, 20)])
    nap = SleepState("nap", watts=5, up=10)
    events = happenings((at, event, 0 if event == "node-down" else 2), (40, "node-up", 0))
    schedule = replay(jobs, node(sleep=[nap]), sleep="timeout(idle=2)", energy="spec", events=events)
    record = schedule.frame.iloc[1]
    assert record["boot"] == min(at, 15) - 5 + (15 - at if event == "job-requeued" and at < 15 else 0)
    if event == "job-killed":
        assert record[["start", "end", "run"]].tolist() == [5, at, served]
    else:
        begun = 40 if event == "node-down" else max(at, 15) if at >= 15 else at
        assert record["start"] == begun
        assert record[["run", "lost", "end"]].tolist() == [20, served, max(begun, 15) + 20]
    assert record["energy"] == 220 * (served + (0 if event == "job-killed" else 20))


# ---------------------------------------------------------------- measures


def test_the_measures_of_sleep():
    """The sleep-wake cycle on one of two nodes of 80 s; the other sleeps from 14 to the end."""
    jobs = workload([(0, 1, 1, 1, {"procs": 9}), (50, 1, 20, 20)])
    schedule = replay(jobs, node(count=2, sleep=[OFF]), sleep="timeout(idle=10)", energy="spec")
    measures = schedule.measures()
    assert measures["mean_boot"] == 10
    assert measures["idle_energy"] == pytest.approx(2 * 600 / 3.6e6)
    assert measures["sleep_energy"] == pytest.approx((36 + 66) * 5 / 3.6e6)
    assert measures["transition_energy"] == pytest.approx((80 + 80 + 1500) / 3.6e6)
    assert measures["share_asleep"] == (36 + 66) / 160


def test_the_measures_of_failures():
    """Three cores of four fail at 5 for good: two jobs begin again, one of which never can."""
    events = happenings((5, "node-down", 1), (5, "job-requeued", 1))
    jobs = workload([(0, 1, 10, 10), (0, 3, 10, 10), (0, 1, 2, 2)])
    machine = Platform("two", (NodeType(1, 1, idle=50, peak=150), NodeType(1, 3, idle=50, peak=150)))
    measures = replay(jobs, machine, start="greedy", events=events).measures()
    assert measures["restarts"] == 2
    assert measures["lost_work"] == 5 * 1 + 5 * 3
    assert measures["stranded"] == 1
    assert measures["killed"] == 0
    assert measures["utilisation"] == pytest.approx((10 + 2) / (4 * 17))


def test_awake_and_well_these_measures_are_zero():
    measures = replay(workload([(0, 1, 10, 10)]), node(), energy="spec").measures()
    for name in ("mean_boot", "sleep_energy", "transition_energy", "share_asleep", "stranded", "restarts", "lost_work"):
        assert measures[name] == 0, name
