"""The workload recursion: its slow obvious twin, queues with other known recursions, and known values."""

import heapq

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.theory import delays, delays_of_arrivals, stability_constant, workloads

TIMES = st.integers(0, 20)  # whole seconds: ties are frequent, and sums exact


@st.composite
def systems(draw, most_procs=6):
    """Interarrival, service, width, procs of a small system."""
    procs = draw(st.integers(1, most_procs))
    jobs = draw(st.lists(st.tuples(TIMES, TIMES, st.integers(1, procs)), min_size=1, max_size=30))
    interarrival, service, width = map(list, zip(*jobs, strict=True))
    return interarrival, service, width, procs


def naive(interarrival, service, width, procs):
    """Equations (1) and (2) of the paper as printed: delays, and the workload vector each job sees."""
    workload, waits, seen = [0] * procs, [], []
    for gap, work, needed in zip(interarrival, service, width, strict=True):
        seen.append(workload)
        waits.append(workload[needed - 1])
        occupied = [workload[needed - 1] + work - gap] * needed
        others = [left - gap for left in workload[needed:]]
        workload = sorted(max(0, left) for left in occupied + others)
    return waits, seen


@given(systems())
def test_equals_the_obvious_twin(system):
    waits, seen = naive(*system)
    assert delays(*system).tolist() == waits
    assert workloads(*system, keep="all").tolist() == seen
    assert workloads(*system).tolist() == seen[-1:]


@given(systems(), st.data())
def test_keeps_the_workloads_asked_for_in_the_order_asked(system, data):
    jobs = len(system[0])
    wanted = data.draw(st.lists(st.integers(-jobs, jobs - 1), min_size=1, max_size=5))
    _, seen = naive(*system)
    assert workloads(*system, keep=wanted).tolist() == [seen[i] for i in wanted]


def test_job_that_takes_the_whole_machine_leaves_it_at_one_instant():
    """The R package hpcwld frees the last server of such a job too early, and says 0 2 1 5 4."""
    assert delays([1] * 5, [3, 2, 5, 1, 1], [1, 2, 1, 2, 1], procs=2).tolist() == [0, 2, 3, 7, 7]


def test_columns_that_cannot_be_written_are_only_read():
    columns = [np.array(values) for values in ([0.0, 1.0], [2.0, 1.0], [1, 1])]
    for column in columns:
        column.flags.writeable = False
    assert delays_of_arrivals(*columns, 1).tolist() == [0, 1]


@given(systems(most_procs=1))
def test_one_server_is_lindley(system):
    interarrival, service, _, _ = system
    wait, expected = 0, []
    for gap, work in zip(interarrival, service, strict=True):
        expected.append(wait)
        wait = max(0, wait + work - gap)
    assert delays(*system).tolist() == expected


@given(systems())
def test_jobs_of_one_server_are_a_many_server_queue(system):
    interarrival, service, _, procs = system
    free, now, expected = [0] * procs, 0, []
    for gap, work in zip(interarrival, service, strict=True):
        start = max(now, heapq.heappop(free))
        heapq.heappush(free, start + work)
        expected.append(start - now)
        now += gap
    assert delays(interarrival, service, [1] * len(service), procs).tolist() == expected


@given(systems())
def test_jobs_start_in_order(system):
    interarrival, service, width, procs = system
    arrival = np.concatenate(([0], np.cumsum(interarrival[:-1])))
    wait = delays_of_arrivals(arrival, service, width, procs)
    assert (wait >= 0).all()
    assert (np.diff(arrival + wait) >= 0).all()


@given(systems(), st.data())
def test_longer_service_never_makes_anyone_wait_less(system, data):
    interarrival, service, width, procs = system
    longer = [work + data.draw(TIMES) for work in service]
    shorter_wait = delays(interarrival, service, width, procs)
    assert (delays(interarrival, longer, width, procs) >= shorter_wait).all()


@given(systems(), st.integers(-1000, 10**9))
def test_only_differences_of_time_matter(system, origin):
    interarrival, service, width, procs = system
    arrival = max(0, origin) + np.concatenate(([0], np.cumsum(interarrival[:-1])))
    np.testing.assert_array_equal(delays_of_arrivals(arrival, service, width, procs), delays(*system))


def test_saturated_system_serves_at_the_rate_the_stability_constant_says():
    """With an endless queue, throughput is μ/C. 3σ of this seeded run is about 1 %."""
    random = np.random.default_rng(7)
    jobs, procs = 200_000, 10
    width = random.integers(1, procs + 1, jobs)
    start = delays(np.zeros(jobs), random.exponential(1.0, jobs), width, procs)
    assert jobs / start[-1] == pytest.approx(1 / stability_constant([0.1] * 10), rel=0.01)


@pytest.mark.data
def test_known_mean_delay_of_a_real_log(data):
    log = pd.read_csv(data / "hpcwld" / "HPC_KRC.csv")
    wait = delays(log["interarrival"], log["service"], log["cores_requested"], 80)
    assert wait.mean() == pytest.approx(176.033, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [1], [1], 0), "procs is 0"),
        (([1], [1], [3], 2), "width of job 0 is 3; it must be a whole number from 1 to the 2 processors"),
        (([1], [1], [0], 2), "width of job 0 is 0"),
        (([1, 1], [1, 1], [1, 1.5], 2), "width of job 1 is 1.5"),
        (([1, -2], [1, 1], [1, 1], 2), "interarrival of job 1 is -2"),
        (([1], [-1], [1], 2), "service of job 0 is -1"),
        (([1], [np.nan], [1], 2), "service of job 0 is nan"),
        (([1, 1], [1], [1, 1], 2), "arrival 2, service 1, width 2"),
        (([], [], [], 2), "interarrival must hold one number for each job"),
    ],
)
def test_bad_input_is_one_clear_sentence(arguments, words):
    with pytest.raises(HarnessError, match=words) as raised:
        delays(*arguments)
    assert "\n" not in str(raised.value)


def test_arrivals_out_of_order_are_named():
    with pytest.raises(HarnessError, match="job 2 arrives before job 1"):
        delays_of_arrivals([0, 5, 4], [1, 1, 1], [1, 1, 1], 2)


@pytest.mark.parametrize(("keep", "words"), [("first", "'last', 'all'"), ([3], "only 2"), ([-3], "only 2")])
def test_workloads_nobody_has_are_refused(keep, words):
    with pytest.raises(HarnessError, match=words):
        workloads([1, 1], [1, 1], [1, 1], 2, keep=keep)
