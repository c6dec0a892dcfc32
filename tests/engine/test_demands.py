"""What jobs ask for besides cores: nobody gets what is not there, plans are right, nobody waits in vain."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from requesting_jobs import NEVER, NODES, asking, machine, made, starts
from shared.running import bundled, choose, in_log_order
from shared.strategies import rows
from slow_nodes import STARTS
from slow_nodes import simulate as slowly

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform
from harness.results.export import simulated_log

both_ways = pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "plain"])


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.data(),
    NODES,
    st.integers(0, 3),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(list(STARTS)),
)
def test_agrees_with_the_obvious_simulator(data, nodes, licences, order, start):
    jobs = data.draw(asking(sum(cores for cores, *_ in nodes)))
    jobs[0][4]["features"] = 1  # so that something binds
    nodes[0] = (*nodes[0][:3], nodes[0][3] | 1, nodes[0][4])
    if len({partitions for _, _, partitions, *_ in nodes}) == 1:  # one partition binds nobody
        nodes = [(cores, memory, (0, 1), *more) for cores, memory, _, *more in nodes]
    assert starts(jobs, nodes, licences, order=order, start=start) == slowly(jobs, nodes, order, start, licences)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.data(),
    NODES,
    st.integers(0, 2),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(list(STARTS)),
)
def test_agrees_with_the_obvious_simulator_beside_windows(data, nodes, licences, order, start):
    jobs = data.draw(asking(sum(cores for cores, *_ in nodes)))
    if len({partitions for _, _, partitions, *_ in nodes}) == 1:
        nodes = [(cores, memory, (0, 1), *more) for cores, memory, _, *more in nodes]
    nodes[0] = (*nodes[0][:3], nodes[0][3] | 1, nodes[0][4])
    jobs = [(*job[:4], job[4] | {"user": data.draw(st.integers(0, 2))}) for job in jobs]
    some = st.sets(st.integers(0, len(nodes) - 1), min_size=1).map(lambda found: tuple(sorted(found)))
    window = st.tuples(st.integers(0, 20), st.integers(1, 12), some, st.sampled_from(((), (0,), (1, 2))))
    drawn = data.draw(st.lists(window, min_size=1, max_size=3))
    windows = [(begin, begin + length, *rest) for begin, length, *rest in drawn]
    found = starts(jobs, nodes, licences, windows, order=order, start=start)
    assert found == slowly(jobs, nodes, order, start, licences, windows)


# ---------------------------------------------------------------- by hand

FEW = (4, NEVER, (0,), 0, 2)  # four cores and two GPUs, in partition 0
NEW = (4, NEVER, (0, 1), 2, 0)  # four cores of a node that is new and in both partitions


@both_ways
@pytest.mark.parametrize("start", ["none", "greedy", "easy", "conservative"])
@pytest.mark.parametrize(
    ("second", "begins"),
    [
        ({}, 0),
        ({"features": 2}, 0),
        ({"partition": 1}, 0),
        ({"needs_gpu": 1}, 9),
        ({"needs_gpu": 2, "features": 2}, None),
        ({"nodes": 2}, 0),
        ({"exclusive": 1}, 0),
        ({"exclusive": 1, "nodes": 2}, 9),
        ({"needs_licence": 1}, 0),
        ({"needs_licence": 2}, 9),
        ({"needs_licence": 3}, None),
    ],
)
def test_starts_when_it_can(start, second, begins, by_python):
    """The first job has one core of the first node, its two GPUs and a licence for 9 s; what the second asks for says
    whether it waits for it."""
    jobs = [(0, 1, 9, 9, {"needs_gpu": 2, "needs_licence": 1}), (0, 2, 5, 5, second)]
    assert starts(jobs, [FEW, NEW], 2, start=start, by_python=by_python) == [0, begins]


@both_ways
@pytest.mark.parametrize("start", ["easy", "conservative"])
@pytest.mark.parametrize("asked", [{"needs_gpu": 2}, {"exclusive": 1, "features": 1}, {"needs_licence": 2}])
def test_who_overtakes_leaves_what_is_promised(start, asked, by_python):
    """The second job waits for what the first has until 9; the third would be done by then, the fourth would not."""
    some = {name: value for name, value in asked.items() if name != "exclusive"}
    jobs = [(0, 1, 9, 9, some), (1, 1, 5, 5, asked), (2, 1, 7, 7, HALF.get(tuple(asked), some)), (2, 1, 8, 8)]
    nodes = [(4, NEVER, (0, 1), 1, 3), (1, NEVER, (0, 1), 0, 0)]
    found = starts(jobs, nodes, 3, start=start, by_python=by_python)
    assert found[1] == 9
    assert found[2] == 2
    assert found[3] == 2


#: Selections that ask what nodes draw.
BY_POWER = ("efficient", "coolest")

#: What is left of it beside the first job.
HALF = {("needs_gpu",): {"needs_gpu": 1}, ("needs_licence",): {"needs_licence": 1}}


def test_an_exclusive_job_shares_its_nodes_with_nobody():
    jobs = [(0, 1, 9, 9, {"exclusive": 1}), (0, 3, 5, 5), (0, 4, 3, 3), (0, 1, 1, 1, {"exclusive": 1})]
    assert starts(jobs, [FEW, NEW], start="greedy") == [0, 0, 5, 8]


@both_ways
def test_a_row_is_not_interrupted_by_nodes_without_the_devices(by_python):
    nodes = [(2, NEVER, (0, 1), 1, 1), (1, NEVER, (0, 1), 0, 0), (1, NEVER, (0, 1), 0, 1)]
    assert starts([(0, 3, 1, 1, {"needs_gpu": 1})], nodes, select="contiguous", by_python=by_python) == [0]


@pytest.mark.parametrize("select", [name for name in bundled()["select_resources"] if name not in BY_POWER])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data(), nodes=NODES, licences=st.integers(0, 3))
def test_no_selection_overcommits_anything(select, data, nodes, licences):
    """Second by second: who was placed where, against what the nodes and the platform have."""
    nodes[0] = (*nodes[0][:3], nodes[0][3] | 1, nodes[0][4])  # where no node has features, none is asked for
    jobs = data.draw(asking(sum(cores for cores, *_ in nodes)))
    stays = []
    extras = Extras(on_placements=lambda stay: stays.extend(map(tuple, stay.copy())))
    loaded = made(jobs)
    outcome = simulate(loaded, machine(nodes, licences), choose(start="greedy", select=select), extras=extras)
    asked = loaded.jobs.iloc[outcome.place].to_dict("records")
    one_partition = len({partitions for _, _, partitions, *_ in nodes}) == 1
    for second in {begin for *_, begin, _ in stays}:
        now = [(asked[job], node, cores) for job, node, cores, begin, end in stays if begin <= second < end]
        for node, (most, memory, partitions, features, gpus) in enumerate(nodes):
            there = [(job, cores) for job, where, cores in now if where == node]
            assert sum(cores for _, cores in there) <= most
            held = sum(max(job["memory"], 0) * cores + max(job["node_memory"], 0) for job, cores in there)
            assert held <= memory
            assert sum(max(job["needs_gpu"], 0) for job, _ in there) <= gpus
            assert len(there) < 2 or all(job["exclusive"] < 1 for job, _ in there)
            for job, _ in there:
                assert one_partition or job["partition"] in (-1, *partitions)
                assert job["features"] < 0 or int(job["features"]) & ~features == 0
                assert job["any_feature"] < 0 or int(job["any_feature"]) & features
        for job in {id(job): job for job, _, _ in now}.values():
            mine = [(node, cores) for other, node, cores in now if other is job]
            assert sum(cores for _, cores in mine) == job["procs"]
            assert len({node for node, _ in mine}) == len(mine)
            several = max(cores for cores, *_ in nodes) > 1
            portion = -(-job["procs"] // job["nodes"])
            assert job["nodes"] < 0 or not several or len(mine) == -(-job["procs"] // portion)
        assert sum(max(job["needs_licence"], 0) for job in {id(j): j for j, _, _ in now}.values()) <= licences


@both_ways
@pytest.mark.parametrize("start", ["none", "greedy", "easy", "conservative"])
@pytest.mark.parametrize(
    ("job", "begins"),
    [
        ((0, 4, 10, 10, {}), 0),  # over before the maintenance, which begins at 10
        ((0, 4, 5, 11, {}), 20),  # by its estimate it would run into it
        ((3, 1, 8, 8, {}), 20),
        ((3, 1, 7, 7, {}), 3),
        ((3, 1, 8, 8, {"user": 7}), 3),  # who the nodes are kept for
        ((12, 1, 1, 1, {}), 20),
    ],
)
def test_nobody_runs_into_a_maintenance(job, begins, start, by_python):
    nodes = [(4, NEVER, (0, 1), 0, 0)]
    assert starts([job], nodes, 0, [(10, 20, (0,), (7,))], start=start, by_python=by_python) == [begins]


@both_ways
@pytest.mark.parametrize("start", ["easy", "conservative"])
def test_promises_are_kept_beside_a_window(start, by_python):
    """The second job needs both nodes and finds them from 20 on; the third is over by then beside it, on the node that
    is not kept; the fourth would not be."""
    nodes = [(2, NEVER, (0, 1), 0, 0), (2, NEVER, (0, 1), 0, 0)]
    jobs = [(0, 2, 4, 4), (1, 4, 9, 9), (2, 2, 16, 16), (2, 1, 17, 17)]
    assert starts(jobs, nodes, 0, [(10, 20, (1,), ())], start=start, by_python=by_python) == [0, 20, 4, 29]


def test_windows_are_refused_beside_a_rate():
    with pytest.raises(HarnessError, match="expected rate full"):
        starts([(0, 1, 1, 1)], [FEW], 0, [(5, 9, (0,), ())], rate="fixed(rate=0.5)")


def test_the_log_of_a_schedule_asks_for_the_same():
    jobs = [
        (0, 1, 9, 9, {"needs_gpu": 2, "partition": 0}),
        (0, 2, 5, 5, {"features": 2}),
        (1, 2, 5, 5, {"needs_gpu": 1}),
    ]
    platform = machine([FEW, NEW], 1)
    first = harness.simulate(made(jobs), platform)
    again = harness.simulate(harness.prepare(simulated_log(first)), platform)
    assert first.frame["start"].tolist() == again.frame["start"].tolist() == [0, 0, 9]


def test_nobody_is_promised_cores_beside_who_is_promised_the_node_alone():
    """The second job has the node to itself from 10 to 20, though it needs one core: the third is promised 20."""
    jobs = [(0, 4, 10, 10), (1, 1, 10, 10, {"exclusive": 1}), (2, 3, 5, 5), (3, 4, 5, 5)]
    assert starts(jobs, [FEW], start="conservative") == [0, 10, 20, 25]


# ---------------------------------------------------------------- so many of each node, and fewer of the last

PLAIN = st.tuples(st.integers(1, 4), st.just(NEVER), st.just((0, 1)), st.just(1), st.just(0))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.lists(PLAIN, min_size=2, max_size=4), st.sampled_from(list(STARTS)))
def test_agrees_with_the_obvious_simulator_on_nodes_times_cores(data, nodes, start):
    """Most jobs request two or three nodes, some of them exclusively, and their widths leave a rest."""
    count = st.sampled_from((-1, 1, 2, 2, 3, 3))
    alone = st.sampled_from((-1, -1, -1, 1))
    made_rows = data.draw(rows(sum(cores for cores, *_ in nodes), most=8))
    jobs = [(*row[:4], row[4] | {"nodes": data.draw(count), "exclusive": data.draw(alone)}) for row in made_rows]
    jobs[0][4]["features"] = 1  # so that something binds
    assert starts(jobs, nodes, order="fcfs", start=start) == slowly(jobs, nodes, "fcfs", start)


@pytest.mark.parametrize(
    ("procs", "nodes", "found"),
    [(8, 4, [2, 2, 2, 2]), (7, 4, [2, 2, 2, 1]), (5, 4, [2, 2, 1]), (2, 4, [1, 1]), (6, 2, [3, 3])],
)
def test_as_many_processors_of_each_node_and_fewer_of_the_last_are_what_platforms_says(procs, nodes, found):
    frame = pd.DataFrame({"submit": [0], "run": [5], "procs": [procs], "nodes": [nodes]})
    schedule = harness.simulate(harness.log_from_frame(frame), Platform("four", (NodeType(4, 4),)), placements=True)
    assert sorted(schedule.placements["cores"], reverse=True) == found


#: Nodes of two cores, and smaller ones that can serve nothing but the rest of a job.
UNEVEN = Platform("uneven", (NodeType(1, 1), NodeType(2, 2), NodeType(2, 1)))


@both_ways
@pytest.mark.parametrize("select", [name for name in bundled()["select_resources"] if name not in BY_POWER])
@pytest.mark.parametrize("start", ["none", "greedy", "easy", "conservative"])
def test_the_last_node_of_a_job_needs_room_for_the_rest_only(start, select, by_python):
    """Five processors on three nodes are 2 + 2 + 1; six on four are 2 + 2 + 2, for which there are too few nodes."""
    if start == "conservative" and bundled()["select_resources"][select].fits:
        pytest.skip("refused")
    rows = [(0, 5, 5, 5, {"nodes": 3}), (0, 5, 4, 4, {"nodes": 3}), (0, 6, 5, 5, {"nodes": 3}), (1, 1, 3, 3)]
    outcome = simulate(made(rows), UNEVEN, choose(start=start, select=select), plain=by_python)
    assert np.isnan(in_log_order(outcome, "start")[2])
    assert in_log_order(outcome, "start")[:2].tolist() == [0, 5]


@pytest.mark.parametrize(
    ("types", "procs", "nodes", "fits"),
    [
        ((NodeType(2, 2), NodeType(1, 1)), 5, 3, True),
        ((NodeType(2, 2), NodeType(1, 1)), 6, 3, False),
        ((NodeType(1, 2), NodeType(2, 1)), 4, 3, False),  # two nodes with two cores each
        ((NodeType(1, 4), NodeType(1, 2)), 6, 2, False),  # 3 + 3
        ((NodeType(1, 4), NodeType(1, 2)), 5, 2, True),  # 3 + 2
        ((NodeType(1, 4), NodeType(9, 1)), 5, 2, False),
    ],
)
def test_a_job_is_accepted_if_equal_shares_and_the_rest_fit(types, procs, nodes, fits):
    schedule = simulate(made([(0, procs, 5, 5, {"nodes": nodes})]), Platform("some", types), choose())
    assert list(schedule.jobs.status == harness.COMPLETED) == [fits]


#: Nodes of four cores; one of them has the feature "big", another one "new".
FOURS = [(4, NEVER, (0, 1), features, 1) for features in (1, 0, 0, 2)]
IN_USE = {
    "a running job is exclusive": (
        [0, 1],
        [(0, 1, 9, 9, {"exclusive": 1, "features": 1})],
        (1, 6, 9, 9),
        (2, 2, 19, 19),
    ),
    "the blocked job requests nodes": (
        [0, 1, 2, 3],
        [(0, 1, 9, 9, {"features": 1}), (0, 4, 9, 9, {"nodes": 1}), (0, 4, 9, 9, {"nodes": 1, "features": 2})],
        (1, 6, 9, 9, {"nodes": 3}),
        (2, 4, 19, 19, {"nodes": 1}),
    ),
    "the blocked job is exclusive": (
        [0, 1, 2],
        [(0, 1, 9, 9, {"features": 1}), (0, 4, 9, 9, {"nodes": 1})],
        (1, 8, 9, 9, {"exclusive": 1}),
        (2, 4, 19, 19),
    ),
    "a running job has the GPU": (
        [0, 3],
        [(0, 1, 9, 9, {"needs_gpu": 1, "features": 1}), (0, 2, 30, 30, {"nodes": 1, "features": 2})],
        (1, 4, 9, 9, {"needs_gpu": 1}),
        (2, 1, 19, 19, {"needs_gpu": 1}),
    ),
}


@both_ways
@pytest.mark.parametrize("start", ["easy", "easy(reservations=2)", "conservative"])
@pytest.mark.parametrize("case", IN_USE)
def test_a_reservation_takes_nodes_that_are_in_use_where_these_suffice(case, start, by_python):
    """The blocked job can have what is in use until 9 s: a later job starts on what is free, and runs past 9 s."""
    places, running, blocked, later = IN_USE[case]
    nodes = [FOURS[place] for place in places]
    expected = [0] * len(running) + [9, 2]
    assert slowly([(*job, {})[:5] for job in [*running, blocked, later]], nodes, "fcfs", start) == expected
    assert starts([*running, blocked, later], nodes, start=start, by_python=by_python) == expected


@both_ways
def test_a_promise_names_all_cores_of_a_node_that_the_job_asks_for(by_python):
    """When the last is promised its three nodes, some cores of one are free and others not: it takes three there, not
    the one core that is not free, and another node besides."""
    nodes = [(3, NEVER, (0, 1), 1, 0), (4, NEVER, (0, 1), 1, 0), (3, NEVER, (0, 1), 1, 0)]
    jobs = [
        (0, 7, 8, 8, {"nodes": 3, "features": 1}),
        (1, 4, 2, 2),
        (1, 3, 5, 5, {"nodes": 1}),
        (1, 3, 2, 3, {"nodes": 3}),
    ]
    assert starts(jobs, nodes, start="conservative", by_python=by_python) == [0, 8, 8, 10]
