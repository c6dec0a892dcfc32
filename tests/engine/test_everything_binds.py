"""Limits, resources, features, windows and dependencies at once: the engine agrees with a slow and obvious simulator.

That shares nothing with it: what a node has left is counted second by second, and rules are asked about everybody.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from requesting_jobs import NODES, asking, starts
from slow_nodes import STARTS
from slow_nodes_holds import simulate as slowly
from slow_queues import together_by_nodes
from slow_rules import follows, limited

LIMITS = {
    "limits(user_jobs=1)": [limited("user", jobs=1)],
    "limits(user_jobs=2, group_procs=3)": [limited("user", jobs=2), limited("group", procs=3)],
    "limits(queue_nodes=1)": [limited("queue", nodes=1)],
    "limits(partition_jobs=1, queue_procs=4)": [limited("partition", jobs=1), limited("queue", procs=4)],
    "limits(user_submitted=2)": [limited("user", submitted=2)],
    "limits(partition_nodes=2, partition_submitted=3)": [limited("partition", nodes=2, submitted=3)],
}
DEPENDENCIES = {
    "dependencies": [follows("end")],
    "dependencies(after=success)": [follows("success")],
    "dependencies(after=start)": [follows("start")],
}


@st.composite
def cases(draw):
    """Nodes, licences, windows, and jobs that ask for this and that, belong to somebody and wait for each other."""
    nodes = draw(NODES)
    if len({partitions for _, _, partitions, *_ in nodes}) == 1:  # one partition binds nobody
        nodes = [(cores, memory, (0, 1), *more) for cores, memory, _, *more in nodes]
    nodes[0] = (*nodes[0][:3], nodes[0][3] | 1, nodes[0][4])  # where no node has features, none is asked for
    jobs = draw(asking(sum(cores for cores, *_ in nodes), most=9))
    jobs[0][4]["features"] = 1  # so that something binds
    whose = st.fixed_dictionaries(
        {
            "user": st.integers(0, 1),
            "group": st.integers(-1, 1),
            "queue": st.integers(-1, 1),
            "x_preceding": st.integers(-12, len(jobs)),
            "x_preceding_2": st.integers(-12, len(jobs)),
            "x_preceding_3": st.integers(-12, len(jobs)),
            "x_think": st.sampled_from((-1, 0, 0, 2)),
            "x_after": st.sampled_from((-1, -1, 0, 1, 2)),
            "x_after_2": st.sampled_from((-1, -1, 0, 1, 2)),
        }
    )
    jobs = [(*job[:4], job[4] | draw(whose)) for job in jobs]
    some = st.sets(st.integers(0, len(nodes) - 1), min_size=1).map(lambda found: tuple(sorted(found)))
    window = st.tuples(st.integers(0, 20), st.integers(1, 12), some, st.sampled_from(((), (0,), (1, 2))))
    drawn = draw(st.lists(window, max_size=2))
    return jobs, nodes, draw(st.integers(0, 2)), [(begin, begin + length, *rest) for begin, length, *rest in drawn]


def agrees(case, order, start, limit, dependency):
    jobs, nodes, licences, windows = case
    parts = {"order": order, "start": start, "hold": f"{limit} + {dependency}"}
    found = starts(jobs, nodes, licences, windows, **parts)
    assert found == slowly(jobs, nodes, order, start, licences, windows, LIMITS[limit] + DEPENDENCIES[dependency])


PARTS = (
    cases(),
    st.sampled_from(("fcfs", "spf", "lcfs")),
    st.sampled_from(list(STARTS)),
    st.sampled_from(list(LIMITS)),
    st.sampled_from(list(DEPENDENCIES)),
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(*PARTS)
def test_agrees_with_the_obvious_simulator(case, order, start, limit, dependency):
    agrees(case, order, start, limit, dependency)


QUEUES = st.tuples(
    st.sampled_from(((0,), (1,), (-1, 1))), st.sampled_from(("fcfs", "spf", "lcfs")), st.sampled_from(list(STARTS))
)


def agree_in_queues(case, queues, limit, dependency):
    """Where several queues have their own order and start, of which the last one is that of everybody else."""
    jobs, nodes, licences, windows = case
    jobs[0][4]["queue"] = queues[0][0][0]  # one queue alone may keep its plans
    jobs.append(
        (99, 1, 1, 1, dict.fromkeys(jobs[0][4], -1) | {"memory": -1.0, "queue": 5, "cancel": 200, "x_think": 0})
    )
    *own, (_, order, last) = queues
    named = [f"q{k}(queue={list(numbers)}, order={o}, start={s})" for k, (numbers, o, s) in enumerate(own)]
    holds = [name for name in (limit, dependency) if name != "none"]
    parts = {"order": order, "start": " + ".join([last, *named]), "hold": " + ".join(holds or ["none"])}
    rules = LIMITS.get(limit, []) + DEPENDENCIES.get(dependency, [])
    expected = slowly(jobs, nodes, order, together_by_nodes(queues), licences, windows, rules)
    assert starts(jobs, nodes, licences, windows, **parts) == expected


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    cases(),
    st.lists(QUEUES, min_size=2, max_size=3),
    st.sampled_from(("none", *LIMITS)),
    st.sampled_from(("none", *DEPENDENCIES)),
)
def test_queues_of_their_own_agree_with_the_obvious_simulator(case, queues, limit, dependency):
    agree_in_queues(case, queues, limit, dependency)


@pytest.mark.study
@settings(max_examples=3000, suppress_health_check=list(HealthCheck), deadline=None)
@given(*PARTS)
def test_three_thousand_cases_agree(case, order, start, limit, dependency):
    agrees(case, order, start, limit, dependency)


@pytest.mark.slow
def test_all_of_it_binds_in_these_cases():
    """Each kind of rule, taken away, changes some start in a good part of them: else they test nothing."""
    changed = dict.fromkeys(("limits", "dependencies", "windows", "demands"), 0)

    @settings(max_examples=250, derandomize=True, database=None, suppress_health_check=list(HealthCheck), deadline=None)
    @given(cases())
    def count(case):
        jobs, nodes, licences, windows = case
        limits, dependencies = LIMITS["limits(user_jobs=1)"], DEPENDENCIES["dependencies"]
        modest = [(*job[:4], {name: job[4].get(name, -1) for name in OF_NO_NODE} | ALWAYS) for job in jobs]
        usual = slowly(jobs, nodes, "fcfs", "easy", licences, windows, limits + dependencies)
        otherwise = {
            "limits": slowly(jobs, nodes, "fcfs", "easy", licences, windows, dependencies),
            "dependencies": slowly(jobs, nodes, "fcfs", "easy", licences, windows, limits),
            "windows": slowly(jobs, nodes, "fcfs", "easy", licences, (), limits + dependencies),
            "demands": slowly(modest, nodes, "fcfs", "easy", licences, windows, limits + dependencies),
        }
        for name, found in otherwise.items():
            changed[name] += found != usual

    count()
    assert min(changed.values()) >= 10, changed


#: What jobs have that binds no node, and what they have where they are not asked.
OF_NO_NODE = (
    *("user", "group", "queue", "x_preceding", "x_preceding_2", "x_preceding_3"),
    *("x_think", "x_after", "x_after_2"),
)
ALWAYS = {"memory": -1.0, "partition": -1}
