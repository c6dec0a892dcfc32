"""What a node type may say, and the sentence about each thing it may not."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.spec_form import CURVE

from harness import HarnessError, NodeType, PerformanceState, Platform, SleepState
from harness.platform.machine import plain

NODE = NodeType(1, 4, idle=60.0, peak=220.0, name="thin")
OFF = SleepState("off", 2.0, down=30.0, up=90.0, down_energy=900.0, up_energy=9000.0)
NAP = SleepState("nap", 8.0)


@given(st.integers(1, 10**6))
def test_a_plain_cluster_is_of_single_processors(procs):
    (node,) = plain(procs).types
    assert (node.count, node.cores, plain(procs).cores) == (procs, 1, procs)


def test_a_curve_gives_idle_and_peak():
    node = NodeType(1, 4, curve=list(CURVE))
    assert (node.idle, node.peak, node.curve) == (60.0, 220.0, CURVE)
    assert replace(node, count=3) == NodeType(3, 4, curve=CURVE)


@given(st.lists(st.floats(0, 1e6), min_size=11, max_size=11))
def test_a_curve_is_accepted_if_and_only_if_it_never_falls(watts):
    assert NodeType(1, 1, curve=tuple(sorted(watts))).curve == tuple(sorted(watts))
    if watts != sorted(watts):
        with pytest.raises(HarnessError, match="never decrease"):
            NodeType(1, 1, curve=tuple(watts))


def test_power_need_not_grow_with_the_rate():
    """The service-rate paper prints 41 W at the low rate and 34 W at the high one."""
    NodeType(1, 1, idle=18.0, peak=34.0, performance=(PerformanceState(0.75, 14.0, 41.0),))


def test_full_speed_may_be_written_out():
    full = PerformanceState(1.0, 60.0, 220.0)
    assert replace(NODE, performance=[full]).performance == (full,)


def test_sleep_states_of_a_node_whose_idle_power_is_unknown():
    assert NodeType(1, 1, sleep=(NAP, OFF)).sleep == (NAP, OFF)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 0}, ["count", "at least 1"]),
        ({"count": 2.5}, ["count", "whole"]),
        ({"cores": "4"}, ["cores", "'4'"]),
        ({"partition": -1}, ["partition"]),
        ({"ops": -1.0}, ["ops"]),
        ({"ops": math.nan}, ["ops"]),
        ({"memory": 0.0}, ["memory"]),
        ({"memory": math.nan}, ["memory"]),
        ({"idle": -1.0}, ["idle", "-1"]),
        ({"peak": math.inf}, ["peak", "inf"]),
        ({"idle": 221.0}, ["221 W", "220 W"]),
        ({"curve": CURVE[:10]}, ["10 values", "11"]),
        ({"curve": (*CURVE[:10], 100.0)}, ["falls from 198 W at 90 %", "100 W at 100 %"]),
        ({"curve": (-1.0, *CURVE[1:])}, ["0 % load", "-1"]),
        ({"curve": (*CURVE[:5], math.nan, *CURVE[6:])}, ["50 % load", "nan"]),
        ({"curve": (61.0, *CURVE[1:])}, ["idle = 60 W", "61 W"]),
        ({"performance": (PerformanceState(0.0, 50.0, 90.0),)}, ["rate 0", "above 0"]),
        ({"performance": (PerformanceState(math.inf, 50.0, 90.0),)}, ["rate inf"]),
        ({"performance": (PerformanceState(0.5, -5.0, 90.0),)}, ["rate 0.5", "-5"]),
        ({"performance": (PerformanceState(0.5, math.nan, 90.0),)}, ["rate 0.5", "nan"]),
        ({"performance": (PerformanceState(0.5, 95.0, 90.0),)}, ["rate 0.5", "95 W idle"]),
        ({"performance": (PerformanceState(1.0, 60.0, 200.0),)}, ["rate 1", "200 W", "220 W"]),
        ({"performance": (PerformanceState(0.8, 50, 90), PerformanceState(0.5, 40, 80))}, ["slowest first"]),
        ({"performance": (PerformanceState(0.5, 50, 90), PerformanceState(0.5, 40, 80))}, ["each rate once"]),
        ({"idle": math.nan, "performance": (PerformanceState(0.5, 50, 90),)}, ["expected idle and peak"]),
        ({"sleep": (replace(OFF, watts=61.0),)}, ["'off'", "61 W asleep", "60 W idle"]),
        ({"sleep": (replace(OFF, watts=math.nan),)}, ["'off'", "nan"]),
        ({"sleep": (replace(OFF, down=-1.0),)}, ["'off'", "falling asleep", "-1"]),
        ({"sleep": (replace(OFF, up=-1.0),)}, ["'off'", "waking", "-1"]),
        ({"sleep": (replace(OFF, down_energy=-1.0),)}, ["'off'", "down_energy", "-1"]),
        ({"sleep": (replace(OFF, up_energy=math.inf),)}, ["'off'", "up_energy", "inf"]),
        ({"sleep": (OFF, NAP)}, ["'nap'", "'off'", "lightest"]),
        ({"sleep": (NAP, replace(OFF, name="nap"))}, ["two", "'nap'"]),
        ({"sleep": (replace(OFF, name=""),)}, ["without a name"]),
    ],
)
def test_what_cannot_be_is_refused_by_name(change, words):
    with pytest.raises(HarnessError) as error:
        replace(NODE, **change)
    assert [word for word in ["node type 'thin'", *words] if word not in str(error.value)] == [], error.value


def test_a_platform_knows_what_every_node_says():
    curved, plain, peaked = NodeType(1, 1, curve=CURVE), NODE, NodeType(1, 1, peak=9.0)
    assert Platform("one", (curved,)).knows("idle", "peak", "curve")
    assert Platform("two", (curved, plain)).knows("idle", "peak")
    assert not Platform("two", (curved, plain)).knows("curve")
    assert not Platform("three", (curved, peaked)).knows("idle")
    assert Platform("three", (curved, peaked)).knows("peak")


def test_a_platform_knows_the_states_of_a_single_node():
    """Those that cannot sleep or slow down go without."""
    sleepy = replace(NODE, sleep=(OFF,))
    assert Platform("mixed", (NODE, sleepy)).knows("sleep", "idle")
    assert not Platform("mixed", (NODE, sleepy)).knows("performance")
    assert not Platform("mixed", (replace(NODE, performance=()),)).knows("sleep")


def test_operations_for_some_types_only():
    with pytest.raises(HarnessError, match="not for thin"):
        Platform("mixed", (NodeType(1, 1, ops=5.0), NODE))


def test_states_are_part_of_the_identity_and_words_about_the_platform_are_not():
    platform = Platform("one", (NODE,))
    assert replace(platform, about="more words").digest == platform.digest
    assert Platform("one", (replace(NODE, sleep=(OFF,)),)).digest != platform.digest


def test_more_cores_than_can_be_counted():
    with pytest.raises(HarnessError, match="cores; expected at most"):
        Platform("huge", (NodeType(1, 10**30),))
