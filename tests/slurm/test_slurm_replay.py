"""Slurm's rules in a replay: cases that can be followed by hand, and what holds of every run."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_clusters import COLUMNS, CORES, WHOLE, cluster, dump

import harness
from harness.slurm.associations import read_shares
from harness.slurm.cluster import set_of
from harness.slurm.fair_tree import Shares
from harness.slurm.node_resources import alone, members, memory_on, usable
from harness.slurm.requests import requests_of
from harness.slurm.slots import Slots
from harness.slurm.slurm_replay import overtime, slurm_replay

COLUMNS += ["Partition", "Constraints", "ReqTRES", "SubmitLine"]


def replayed(tmp_path, text, rows, seed=0, shares=None):
    log = dump(tmp_path, rows)
    return slurm_replay(harness.prepare(log), log, cluster(tmp_path, text), seed=seed, shares=shares)


#: A job may start so long after it could: its nodes are free a second late, and the main loop looks within three [s].
SOON = 6.0


def starts(tmp_path, text, rows, **more):
    return replayed(tmp_path, text, rows, **more).frame["start"].tolist()


def soon_after(found, expected):
    """Say whether each job starts soon after it can; every wait before it adds its own."""
    return all(0.0 <= start - when <= SOON * (1 + bool(when > 60)) for start, when in zip(found, expected, strict=True))


def test_the_main_loop_stops_at_the_first_job_that_does_not_fit(tmp_path):
    """The third fits beside the first, but only the backfill lets it pass: within its interval and a second."""
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 2, {}), (10, 100, 2, 1, {})]
    first, second, third = starts(tmp_path, WHOLE, rows)
    assert soon_after([first, second], [0.0, 600.0])
    assert 10.0 < third <= 41.0


def test_without_backfill_nobody_passes(tmp_path):
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 2, {}), (10, 100, 2, 1, {})]
    assert soon_after(starts(tmp_path, WHOLE + "SchedulerType=sched/builtin\n", rows), [0.0, 600.0, 600.0])


def test_who_would_run_into_a_promise_waits_for_it(tmp_path):
    """The limit counts, not the run; and plans are made in slots of a minute, whole nodes at a time."""
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 4, {}), (10, 100, 20, 1, {})]
    assert soon_after(starts(tmp_path, WHOLE, rows), [0.0, 600.0, 700.0])


def test_beyond_the_window_nobody_is_promised_anything(tmp_path):
    """The second cannot start within ten minutes: the third, which would delay it, passes."""
    rows = [(0, 3600, 60, 3, {}), (5, 100, 10, 4, {}), (10, 5000, 100, 1, {})]
    short = WHOLE + "SchedulerParameters=bf_window=10\n"
    assert starts(tmp_path, short, rows)[2] <= 41.0
    assert soon_after(starts(tmp_path, WHOLE, rows)[2:], [3700.0])


@pytest.mark.parametrize("word", ["", ",defer"])
def test_who_is_submitted_is_looked_at_soon_also_if_that_is_deferred(tmp_path, word):
    """So does a real one: 24 jobs to idle nodes waited for 0.2 s on average with 600 s between passes, either way."""
    lazy = WHOLE + f"SchedulerParameters=bf_interval=600,sched_interval=600{word}\n"
    times = [37 * k for k in range(24)]
    assert soon_after(starts(tmp_path, lazy, [(time, 20, 1, 1, {}) for time in times]), times)


def test_a_shallow_backfill_does_not_look_at_everybody(tmp_path):
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 2, {}), (10, 100, 2, 1, {})]
    shallow = WHOLE + "SchedulerParameters=bf_max_job_test=1\n"
    assert soon_after(starts(tmp_path, shallow, rows)[2:], [600.0])


@pytest.mark.parametrize(("size", "passes_by"), [(2, False), (50, True)])
def test_a_backfill_ends_when_its_map_of_promises_is_full(tmp_path, size, passes_by):
    """Two wait for more than is free; the fourth fits at once, if the backfill comes as far."""
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 3, {}), (6, 100, 10, 3, {}), (10, 100, 2, 1, {})]
    small = WHOLE + f"SchedulerParameters=bf_node_space_size={size}\n"
    last = starts(tmp_path, small, rows)[3]
    assert (last <= 41.0 + SOON) == passes_by
    assert passes_by or last >= 600.0


def test_a_blocked_partition_keeps_its_nodes_from_those_behind_it(tmp_path):
    """A job of the urgent tier comes first, also after its submission; its nodes are nobody else's meanwhile."""
    rows = [
        (0, 600, 10, 8, {"Constraints": "ib"}), (10, 100, 60, 4, {"Constraints": "ib"}),
        (20, 100, 60, 8, {"Partition": "urgent"}), (30, 50, 60, 2, {}),
    ]  # fmt: skip
    first, second, urgent, beside = starts(tmp_path, CORES, rows)
    assert soon_after([first, urgent, second], [0.0, 600.0, 700.0])
    assert beside <= 67.0  # on g1


@pytest.mark.parametrize(("cpus", "keeps_back"), [(8, False), (4, True)])
def test_who_asks_for_more_than_is_left_to_its_partition_keeps_nobody_back(tmp_path, cpus, keeps_back):
    """The urgent job has both nodes for itself; the third node has never eight CPUs, but four if it is empty."""
    rows = [
        (0, 600, 10, 8, {"Constraints": "ib"}), (1, 600, 10, 1, {}), (10, 100, 60, 8, {"Partition": "urgent"}),
        (20, 100, 60, cpus, {}), (30, 50, 60, 2, {}),
    ]  # fmt: skip
    last = starts(tmp_path, CORES + "SchedulerType=sched/builtin\n", rows)[-1]
    assert last >= 600.0 if keeps_back else last <= 30.0 + SOON


def test_features_and_gres_decide_where_a_job_runs(tmp_path):
    rows = [
        (0, 600, 10, 2, {"ReqTRES": "cpu=2,node=1,gres/gpu=2"}), (1, 100, 10, 1, {"ReqTRES": "cpu=1,gres/gpu=1"}),
        (2, 100, 10, 8, {"Constraints": "ib"}),
    ]  # fmt: skip
    first, second, third = starts(tmp_path, CORES, rows)
    assert soon_after([first, second], [0.0, 600.0])
    assert third <= 33.0 + SOON  # the second blocks the partition, not the backfill


@pytest.mark.parametrize(("before", "at_once"), [(2, True), (3, False)])
def test_the_main_loop_looks_at_one_more_than_its_depth(tmp_path, before, at_once):
    """Those who wait for licences keep nobody back, but count; the whole queue is looked at once a minute."""
    licences = {"ReqTRES": "cpu=1,node=1,license/solver=2"}
    rows = [(0, 600, 10, 1, licences), *[(5, 100, 10, 1, licences)] * before, (10, 100, 10, 1, {})]
    shallow = CORES + "SchedulerType=sched/builtin\nSchedulerParameters=default_queue_depth=2\n"
    last = [starts(tmp_path, shallow, rows, seed=seed)[-1] for seed in range(6)]
    assert (max(last) <= 10.0 + SOON) == at_once
    assert max(last) <= 70.0 + SOON


def test_without_a_licence_a_job_waits_and_blocks_nobody(tmp_path):
    rows = [
        (0, 600, 10, 1, {"ReqTRES": "cpu=1,license/solver=2"}), (1, 100, 10, 1, {"ReqTRES": "cpu=1,license/solver=1"}),
        (2, 100, 10, 1, {}),
    ]  # fmt: skip
    assert soon_after(starts(tmp_path, CORES, rows), [0.0, 600.0, 2.0])


def test_memory_binds_and_exclusive_jobs_are_alone(tmp_path):
    """2,500 MB on each of three nodes; then nobody fits beside who has a node for itself."""
    big = {"ReqMem": "2500M", "SubmitLine": "sbatch --mem=2500 job.sh"}
    assert soon_after(starts(tmp_path, CORES, [(k, 600, 10, 1, big) for k in range(4)]), [0.0, 1.0, 2.0, 600.0])
    own = {"SubmitLine": "sbatch --exclusive job.sh"}
    rows = [(0, 600, 10, 1, own), (1, 600, 10, 1, own), (2, 600, 10, 1, own), (3, 100, 10, 1, {})]
    assert soon_after(starts(tmp_path, CORES, rows), [0.0, 1.0, 2.0, 600.0])


def test_larger_jobs_come_first_where_size_counts(tmp_path):
    text = WHOLE + "PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n"
    rows = [(0, 600, 10, 4, {}), (11, 100, 10, 1, {}), (12, 100, 10, 4, {})]
    assert soon_after(starts(tmp_path, text, rows), [0.0, 700.0, 600.0])
    assert soon_after(starts(tmp_path, text + "PriorityFavorSmall=YES\n", rows), [0.0, 600.0, 700.0])


def test_who_is_cancelled_or_held_back_is_out_of_the_way_meanwhile(tmp_path):
    """The second gives up after 20 s; the last may not begin before 60 s, whatever it waited for."""
    held = {"Eligible": "2024-01-01T00:01:00"}
    log = dump(tmp_path, [(0, 600, 10, 3, {}), (5, 60, 10, 4, {}), (10, 100, 10, 1, {}), (31, 60, 10, 1, held)])
    jobs = harness.prepare(log)
    jobs = replace(jobs, jobs=jobs.jobs.assign(cancel=[math.inf, 25.0, math.inf, math.inf]))
    text = WHOLE + "SchedulerType=sched/builtin\nSchedulerParameters=sched_interval=10\n"
    found = slurm_replay(jobs, log, cluster(tmp_path, text)).frame
    assert found["status"].tolist() == ["completed", "cancelled", "completed", "completed"]
    assert found["end"][1] == 25.0
    assert 25.0 <= found["start"][2] <= 36.0
    assert 0.0 <= found["start"][3] - found["start"][2] - 100.0 <= 10.0 + SOON


def test_whoever_can_never_run_is_not_accepted_and_holds_up_nobody(tmp_path):
    schedule = replayed(tmp_path, WHOLE, [(0, 60, 10, 5, {}), (1, 60, 10, 4, {})])
    assert schedule.frame["status"].tolist() == ["unaccepted", "completed"]
    assert soon_after(schedule.frame["start"].tolist()[1:], [1.0])


def test_an_unknown_partition_is_refused(tmp_path):
    with pytest.raises(harness.HarnessError, match="job 1: there is no partition 'al'; did you mean 'all'"):
        replayed(tmp_path, WHOLE, [(0, 60, 10, 1, {"Partition": "al"})])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("NodeName=m[1-2] CPUs=many", "cpus=many: expected a whole number"),
        ("PartitionName=b Nodes=n9", "has the node n9, which no NodeName= describes"),
        ("NodeName=n1 CPUs=1", "the node n1 is described twice"),
        ("NodeName=m1 Gres=gpu:-1", "gpu:-1: expected a name and a number, as in gpu:2"),
        ("NodeName=m1 Gres=gpu:a100:1e9", "gpu:a100:1e9: expected a name and a number"),
        ("NodeName=m1 Gres=gpu:4T", "gpu:4T: expected a name and a number"),
        ("Licenses=solver:", "solver:: expected a name and a number"),
        ("SchedulerParameters=bf_window=long", "bf_window=long: expected a number"),
        ("PriorityType=priority/multifactor\nPriorityMaxAge=old", "the time old: expected minutes"),
    ],
)
def test_a_configuration_that_is_none_is_refused(tmp_path, line, told):
    with pytest.raises(harness.HarnessError, match=re.escape(told)):
        cluster(tmp_path, WHOLE + line + "\n")


def test_what_is_not_modelled_is_listed(tmp_path):
    text = WHOLE + "PreemptType=preempt/partition_prio\nSchedulerParameters=bf_interval=30,bf_hetjob_prio=min,defer\n"
    listed = dict(cluster(tmp_path, text).unmodelled)
    assert set(listed) == {"PreemptType=preempt/partition_prio", "SchedulerParameters=bf_hetjob_prio=min"}


@pytest.mark.parametrize("sharing", ["OverSubscribe=FORCE", "oversubscribe=Force:4", "Shared=FORCE:2"])
@pytest.mark.parametrize("name", ["more", "DEFAULT"])
def test_jobs_that_share_processors_are_listed_as_not_modelled(tmp_path, sharing, name):
    listed = cluster(tmp_path, WHOLE + f"PartitionName={name} Nodes=ALL {sharing}\n").unmodelled
    assert listed == (("OverSubscribe=FORCE", "how many jobs share a processor"),)


@pytest.mark.parametrize(
    "said",
    [
        {"SubmitLine": "sbatch --ntasks-per-node=0 x"},
        {"SubmitLine": f"sbatch -N {'9' * 5000} x"},
        {"SubmitLine": "sbatch --gres=gpu:-1 -L solver:1e9 x"},
        {"ReqTRES": f"cpu=2,gres/gpu={'9' * 5000},license/solver=two,node={'9' * 5000}"},
        {"ReqTRES": "gres/gpu=,license/solver=\u00b2"},
    ],
)
def test_malformed_numbers_in_a_dump_ask_for_nothing(tmp_path, said):
    machine = cluster(tmp_path, CORES)
    log = dump(tmp_path, [(0, 60, 10, 2, said)])
    (request,) = requests_of(harness.prepare(log), log, machine)
    assert (request.gres, request.licences, request.nodes, request.per_node) == ({}, {}, 1, 0)


# ---------------------------------------------------------------- shares


def test_shares_follow_the_fair_tree(tmp_path):
    """The account that used less than its share comes first with all its users; within it, who used less."""
    path = tmp_path / "shares"
    path.write_text(
        "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Fairshare=3\nAccount - 'b':Fairshare=1\n"
        "Parent - 'a'\nUser - 'ann':Fairshare=1\nUser - 'abe':Fairshare=1\nParent - 'b'\nUser - 'bob':Fairshare=1\n"
        "Name|Priority\nnormal|0\nhigh|50\n"
    )
    shares = read_shares(path)
    shares.use("a", "ann", 200.0)
    shares.use("a", "abe", 100.0)
    shares.use("b", "bob", 150.0)
    assert shares.factors() == {
        ("a", "abe"): 1.0,
        ("a", "ann"): pytest.approx(2 / 3),
        ("b", "bob"): pytest.approx(1 / 3),
    }
    shares.use("a", "ann", 300.0)  # now a has 600 of 750, more than its three quarters
    assert max(shares.factors(), key=shares.factors().get) == ("b", "bob")
    assert (shares.qos_factor("high"), shares.qos_factor("normal")) == (1.0, 0.0)
    shares.decay(0.5)
    assert shares.used["b", "bob"] == 75.0


# ---------------------------------------------------------------- slots, against their slow twin


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 15)), max_size=8),
    st.integers(0, 45), st.integers(1, 30), st.integers(1, 15),
)  # fmt: skip
def test_the_map_of_promises_is_what_a_table_of_minutes_says(promises, begin, length, nodes):
    slots = Slots(0.0, 3000.0, 60.0, 15)
    table = [15] * 50
    for first, minutes, taken in promises:
        slots.promise(60.0 * first, 60.0 * (first + minutes), taken)
        for minute in range(first, min(50, first + max(1, minutes))):
            table[minute] &= ~taken
    end = begin + length
    minutes = range(begin, min(50, end + 1))  # who ends as a promise begins is in its way: so it is in Slurm
    free = nodes
    for minute in minutes:
        free &= table[minute]
    assert slots.free(60.0 * begin, 60.0 * end, nodes)[0] == free
    assert slots.clash(60.0 * begin, 60.0 * end, nodes) == any(nodes & ~table[m] for m in range(begin, min(50, end)))
    assert all(one != other for one, other in zip(slots.sets, slots.sets[1:], strict=False))


# ---------------------------------------------------------------- of every run

JOBS = st.lists(
    st.tuples(
        st.integers(0, 400), st.integers(1, 900), st.integers(1, 20), st.integers(1, 6),
        st.sampled_from([
            {}, {"Constraints": "ib"}, {"Partition": "urgent"}, {"ReqTRES": "cpu=1,gres/gpu=1"},
            {"ReqTRES": "cpu=1,license/solver=1"}, {"SubmitLine": "sbatch --exclusive x"},
            {"ReqMem": "1800M", "SubmitLine": "sbatch --mem=1800 x"}, {"SubmitLine": "sbatch -N2 x"},
        ]),
    ), min_size=1, max_size=12,
)  # fmt: skip
CONFIGURATIONS = [
    CORES,
    CORES.replace("CR_Core_Memory", "CR_Core"),
    CORES + "SchedulerParameters=bf_interval=5,defer\n",
]


@settings(max_examples=25)
@given(JOBS, st.sampled_from(CONFIGURATIONS), st.integers(0, 3))
def test_nothing_is_given_out_twice_and_everybody_runs_where_it_may(tmp_path_factory, rows, text, seed):
    """Looked at once more from what the replay decided, job by job and node by node."""
    from harness.slurm.loops import Loops

    tmp_path = tmp_path_factory.mktemp("run")
    log = dump(tmp_path, rows)
    machine = cluster(tmp_path, text)
    requests = requests_of(harness.prepare(log), log, machine)
    decided = Loops(machine, requests, Shares(), seed).run()
    again = Loops(machine, requests_of(harness.prepare(log), log, machine), Shares(), seed).run()
    assert [one.start for one in decided] == pytest.approx([one.start for one in again], nan_ok=True)
    ran = [(request, one) for request, one in zip(requests, decided, strict=True) if one.places]
    for request, one in ran:
        assert one.start >= request.submit
        assert sum(one.places.values()) >= request.cpus
        assert len(one.places) >= request.nodes
        assert all(usable(request, machine) >> node & 1 for node in one.places)
    for _, moment in ran:
        now = [(request, one) for request, one in ran if one.start <= moment.start < one.end]
        for number, node in enumerate(machine.nodes):
            here = [(request, one.places[number]) for request, one in now if number in one.places]
            assert sum(cpus for _, cpus in here) <= node.cpus
            assert all(len(here) == 1 for request, _ in here if alone(request, machine))
            assert sum(request.gres.get("gpu", 0) for request, _ in here) <= node.gres.get("gpu", 0)
            if machine.counts_memory:
                assert sum(memory_on(request, node, cpus) for request, cpus in here) <= node.memory + 1e-3
        assert sum(request.licences.get("solver", 0) for request, _ in now) <= 2
    for request, one in zip(requests, decided, strict=True):
        alone_there = Loops(machine, [request], Shares(), 0).run()[0]
        assert math.isnan(one.start) == math.isnan(alone_there.start)  # who can run at all does


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 900), st.integers(1, 4)), min_size=1, max_size=15))
def test_without_backfill_nobody_passes_and_nobody_waits_idly(tmp_path_factory, rows):
    """On nodes that are alike and given out whole: in order, and each soon after it can."""
    tmp_path = tmp_path_factory.mktemp("run")
    jobs = [(submit, run, 30, cpus, {}) for submit, run, cpus in sorted(rows, key=lambda row: row[0])]
    found = replayed(tmp_path, WHOLE + "SchedulerType=sched/builtin\n", jobs)
    frame = found.frame
    assert frame["start"].is_monotonic_increasing
    for place, job in frame.iterrows():
        earlier = frame[:place]
        instants = [
            t for t in [job["submit"], *earlier["start"], *earlier["end"]] if t >= earlier["start"].max() or not place
        ]
        could = min(
            t for t in instants if t >= job["submit"] and earlier["procs"][earlier["end"] > t].sum() + job["procs"] <= 4
        )
        assert 0.0 <= job["start"] - could <= SOON
    reference = harness.simulate(found.workload, 4, harness.Scheduler(start="none"))
    assert (frame["start"] >= reference.frame["start"]).all()
    assert np.isnan(frame["energy"]).all()


def test_jobs_hold_their_nodes_as_much_longer_as_they_were_seen_to(tmp_path):
    """Five seconds a job, of three one after the other; what took minutes longer says nothing of that."""
    log = dump(tmp_path, [(k, 100, 10, 4, {}) for k in range(4)])
    jobs = harness.prepare(log)
    seen = replace(jobs, jobs=jobs.jobs.assign(logged_run=[105.0, 105.0, 105.0, 400.0]))
    machine = cluster(tmp_path, WHOLE)
    assert (overtime(jobs), overtime(seen)) == (0.0, 5.0)
    plain, late = (slurm_replay(one, log, machine, seed=3).frame["start"].iloc[-1] for one in (jobs, seen))
    assert 300.0 <= plain <= 303.0 + 3 * SOON
    assert 300.0 + 15.0 <= late <= 303.0 + 15.0 + 3 * SOON


def test_its_measures_are_those_of_its_schedule(tmp_path):
    """Averages over time follow from the jobs' own times: those of the engine for the same starts do so too."""
    rows = [(0, 600, 10, 3, {}), (5, 100, 10, 4, {}), (10, 100, 20, 1, {}), (2000, 50, 5, 2, {})]
    found = replayed(tmp_path, WHOLE, rows)
    frame, measures = found.frame, found.measures()
    span = frame["end"].max() - frame["submit"].min()
    assert measures["mean_wait"] == pytest.approx((frame["start"] - frame["submit"]).mean())
    assert measures["mean_response"] == pytest.approx((frame["end"] - frame["submit"]).mean())
    assert measures["utilisation"] == pytest.approx((frame["procs"] * (frame["end"] - frame["start"])).sum() / span / 4)
    assert measures["mean_jobs"] == pytest.approx((frame["end"] - frame["submit"]).sum() / span)


@pytest.mark.parametrize(
    ("of_nodes", "listed"),
    [
        (("gpu:a100:2", "gpu:h100:2"), ["the types of Gres=gpu (a100, h100)"]),
        (("gpu:a100:2,gpu:h100:1(S:0)", ""), ["the types of Gres=gpu (a100, h100)"]),
        (("gpu:2", "gpu:h100:2"), ["the types of Gres=gpu (h100, no type)"]),
        (("gpu:a100:2", "gpu:a100:4,bandwidth:lustre:no_consume:4"), []),
        (("gpu:2", "gpu:4"), []),
    ],
)
def test_several_types_of_a_resource_are_listed(tmp_path, of_nodes, listed):
    lines = [f"NodeName=g{number} CPUs=4 {gres and 'Gres='}{gres}\n" for number, gres in enumerate(of_nodes)]
    found = cluster(tmp_path, WHOLE + "".join(lines)).unmodelled
    assert [key for key, what in found if what == "where jobs fit"] == listed


@given(st.sets(st.integers(0, 300)))
def test_the_members_of_a_set_of_nodes_are_in_order(numbers):
    assert members(set_of(numbers)) == sorted(numbers)
