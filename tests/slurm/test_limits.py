"""Limits of QOS and associations: how they are written, whose counts, and what holds of every run under them."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.slurm.associations import read_shares
from harness.slurm.cluster import cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.limits import Limits
from harness.slurm.limits_in_force import Allowance
from harness.slurm.loops import Loops
from harness.slurm.node_resources import Running
from harness.slurm.requests import Request
from harness.slurm.slurm_scheduler import unmodelled

CONFIGURATION = """
ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageEnforce=limits
SchedulerParameters=bf_interval=20
NodeName=n[1-2] CPUs=4 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE
PartitionName=short Nodes=ALL QOS=short
"""

#: As sacctmgr prints it: `dump`, and `-P show qos` with some of its columns.
DUMP = """
# To edit this file start with a cluster line for the new cluster
Cluster - 'small':Fairshare=1:QOS='normal':GrpTRES=cpu=7
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'a':Description='a':Organization='a':Fairshare=30:GrpTRES=cpu=6,node=3:MaxTRESPerJob=cpu=5
Parent - 'a'
Account - 'b':Description='b':Organization='a':Fairshare=1:MaxJobs=2:MaxSubmitJobs=20:MaxWallDurationPerJob=600
User - 'ann':DefaultAccount='a':Fairshare=1:MaxJobs=3
Parent - 'b'
User - 'bob':DefaultAccount='b':Fairshare=parent
User - 'eve':DefaultAccount='b':Fairshare=1:MaxJobs=1
Name|Priority|Flags|UsageFactor|GrpTRES|GrpTRESRunMins|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MinTRES
normal|0||1.000000|||||||
high|100|DenyOnLimit|1.000000|cpu=4,mem=4G|cpu=100|cpu=4|02:00:00|cpu=3,gres/gpu=1|2|
short|0||2.000000||||00:30:00||1|cpu=2
"""


def accounts(tmp_path, text=DUMP):
    path = tmp_path / "accounts.dump"
    path.write_text(text)
    return read_shares(path)


def cluster(tmp_path, text=CONFIGURATION):
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return cluster_of(read_slurm(path))


@pytest.fixture
def allowance(tmp_path):
    return Allowance(cluster(tmp_path), accounts(tmp_path))


def job(allowance, number=1, *, partition="batch", minutes=10, cpus=1, **more):
    where = allowance.cluster.partitions[partition]
    return Request(number, 0.0, 60.0 * minutes, 60.0 * minutes, cpus, where, memory=1e-9, **more)


def test_what_sacctmgr_prints_is_understood(tmp_path):
    shares = accounts(tmp_path)
    assert shares.qos == {"normal": 0.0, "high": 100.0, "short": 0.0}
    assert shares.users["a", "ann"] == 1.0
    assert (shares.accounts["a"], shares.parent["b"]) == (30.0, "a")
    limits = shares.limits
    assert limits.accounts["root"] == Limits(together={"cpu": 7.0})
    assert limits.accounts["a"] == Limits(together={"cpu": 6.0, "node": 3.0}, of_job={"cpu": 5.0})
    assert limits.accounts["b"] == Limits(of_user={"jobs": 2.0, "submitted": 20.0}, of_job={"minutes": 600.0})
    assert limits.users["b", "eve"] == Limits(of_user={"jobs": 1.0})
    assert limits.qos["high"] == Limits(
        together={"cpu": 4.0, "mem": 4096.0, "cpu minutes": 100.0},
        of_job={"cpu": 4.0, "minutes": 120.0},
        of_user={"cpu": 3.0, "gres/gpu": 1.0, "jobs": 2.0},
    )
    assert limits.qos["short"] == Limits(of_user={"jobs": 1.0}, of_job={"minutes": 30.0}, least={"cpu": 2.0}, usage=2.0)


def test_what_is_not_modelled_is_said(tmp_path):
    told = unmodelled(cluster(tmp_path), accounts(tmp_path))
    assert set(told) == {
        "not modelled: Flags=DenyOnLimit, which may change what its limits and reservations are",
    }


def test_what_some_use_counts_for_more(tmp_path):
    """Two jobs alike, one of a QOS with UsageFactor=2.0."""
    shares = accounts(tmp_path)
    machine = cluster(tmp_path)
    asked = Allowance(machine, shares)
    requests = [
        replace(job(asked, k, cpus=2, account="a", user=user, qos=qos), work=100.0)
        for k, (user, qos) in enumerate([("ann", "short"), ("jim", "normal")])
    ]
    Loops(machine, requests, shares, 0).run()
    assert shares.used["a", "ann"] == pytest.approx(2 * shares.used["a", "jim"], rel=0.05)


def test_limits_need_to_be_in_force(tmp_path):
    free = cluster(tmp_path, CONFIGURATION.replace("AccountingStorageEnforce=limits\n", ""))
    assert unmodelled(free, accounts(tmp_path)) == [
        "not modelled: the limits of QOS and associations, which may change nothing: AccountingStorageEnforce does not "
        "say limits"
    ]
    assert Allowance(free, accounts(tmp_path)).ever(job(Allowance(free, accounts(tmp_path)), cpus=8, account="a"))
    told = unmodelled(cluster(tmp_path), accounts(tmp_path, "Name|Priority\n".lower()))
    assert "the limits of QOS and associations are not given" in told[0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Account - 'a':GrpTRES=cpu", "line 1: cpu: expected a thing and how many, as in cpu=10"),
        ("Account - 'a':MaxJobs=many", "line 1: the limit many: expected a whole number"),
        ("Account - 'a':MaxWallDurationPerJob=long", "line 1: the time long: expected minutes"),
        ("Users: ann", "line 1: expected a line such as Account - 'name'"),
        ("high|first", "line 1: expected the name of a QOS and its priority"),
        ("Name|Priority|UsageFactor\nhigh|1|much", "line 2: UsageFactor=much: expected a number"),
        ("Name|Priority|GrpJobs\nhigh|1|-3", "line 2: the limit -3: expected a whole number"),
    ],
)
def test_what_sacctmgr_would_not_print_is_refused(tmp_path, line, told):
    with pytest.raises(harness.HarnessError, match=re.escape(told)):
        accounts(tmp_path, line)


def test_the_first_that_limits_something_says_how_far(allowance):
    def bounds(**whose):
        return {(whom, thing): number for whom, thing, number, _ in allowance.bounds(job(allowance, **whose))}

    of_ann = bounds(account="a", user="ann", qos="normal")
    assert of_ann == {
        (("user", "a", "ann"), "jobs"): 3.0, (("account", "a"), "cpu"): 6.0, (("account", "a"), "node"): 3.0,
        ((), "cpu"): 5.0, (("account", "root"), "cpu"): 7.0,
    }  # fmt: skip
    of_bob = bounds(account="b", user="bob", qos="normal")  # what his account says, and those above
    assert of_bob[("user", "b", "bob"), "jobs"] == 2.0
    assert (of_bob[("account", "a"), "cpu"], of_bob[("account", "root"), "cpu"]) == (6.0, 7.0)
    of_eve = bounds(account="b", user="eve", qos="high", partition="short")
    assert of_eve[("user of qos", "short", "eve"), "jobs"] == 1.0  # the partition's QOS comes before hers
    assert (("user of qos", "high", "eve"), "jobs") not in of_eve
    assert (of_eve[(), "minutes"], of_eve[("qos", "high"), "cpu"]) == (30.0, 4.0)
    assert not any(whom[:1] == ("account",) and thing == "cpu" for whom, thing in of_eve)  # a QOS says it


def test_who_is_over_a_limit_may_when_others_have_ended(allowance):
    first = job(allowance, 1, cpus=3, account="a", user="ann", qos="high")
    running = Running(first, {0: 3}, 0.0, 600.0, 0.0)
    other = job(allowance, 2, cpus=2, account="b", user="eve", qos="high")
    assert allowance.allows(other, 0.0)
    allowance.take(running)
    assert not allowance.allows(other, 0.0)  # four of the QOS together
    assert allowance.ever(other)
    assert allowance.allows(replace(other, qos="normal"), 0.0)
    assert not allowance.allows(replace(other, qos="normal", cpus=4), 0.0)  # six of the account, seven of all
    assert not allowance.allows(replace(other, qos="normal", cpus=1), 0.0, {0: 4})  # what it would be given counts
    allowance.give_back(running)
    assert allowance.allows(other, 0.0)


def test_minutes_of_running_jobs_pass(allowance):
    """Three processors for twenty minutes are sixty of a hundred; after ten of them thirty."""
    allowance.take(Running(job(allowance, 1, cpus=3, account="a", user="ann", qos="high"), {0: 3}, 0.0, 1200.0, 0.0))
    later = job(allowance, 2, minutes=60, account="b", user="bob", qos="high")
    assert not allowance.allows(later, 0.0)
    assert not allowance.allows(later, 390.0)
    assert allowance.allows(later, 401.0)  # 40 of the running one, 60 of its own


@pytest.mark.parametrize(
    "wish",
    [
        {"minutes": 121, "qos": "high"}, {"cpus": 5, "qos": "high"}, {"minutes": 601, "account": "b"},
        {"cpus": 6, "account": "a"}, {"partition": "short", "minutes": 31, "cpus": 2},
        {"partition": "short", "cpus": 1}, {"qos": "high", "gres": {"gpu": 2}}, {"account": "b", "cpus": 8, "nodes": 4},
    ],
)  # fmt: skip
def test_who_asks_for_too_much_never_may(allowance, wish):
    wish = {"account": "a", "user": "ann", "qos": "normal"} | wish
    assert not allowance.ever(job(allowance, **wish))


# ---------------------------------------------------------------- whole runs

JOBS = st.lists(
    st.tuples(
        st.integers(0, 300), st.integers(1, 200), st.integers(1, 4), st.sampled_from(["normal", "high"]),
        st.sampled_from([("a", "ann"), ("b", "bob"), ("b", "eve")]), st.sampled_from(["batch", "short"]),
    ), min_size=1, max_size=14,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(JOBS, st.integers(0, 3))
def test_no_limit_is_passed_and_whoever_may_runs(tmp_path_factory, rows, seed):
    """Counted anew from the jobs that run at each start, without the counters."""
    tmp_path = tmp_path_factory.mktemp("run")
    machine, shares = cluster(tmp_path), accounts(tmp_path)
    asked = Allowance(machine, shares)
    requests = [
        replace(
            job(asked, number, minutes=10, cpus=cpus, account=account, user=user, qos=qos, partition=partition),
            submit=float(submit), eligible=float(submit), work=float(work),
        )
        for number, (submit, work, cpus, qos, (account, user), partition) in enumerate(rows, 1)
    ]  # fmt: skip
    decided = Loops(machine, requests, shares, seed).run()
    ran = [(request, one) for request, one in zip(requests, decided, strict=True) if one.places]
    for request, one in zip(requests, decided, strict=True):
        assert bool(one.places) == (asked.ever(request) and Loops(machine, [request], shares, 0).empty.place(
            request, machine.everywhere) is not None)  # fmt: skip
    for _, moment in ran:
        now = [(request, one) for request, one in ran if one.start <= moment.start < one.end]

        def total(chosen, now=now):
            theirs = [one for request, one in now if chosen(request)]
            return len(theirs), sum(sum(one.places.values()) for one in theirs)

        assert total(lambda request: True)[1] <= 8
        high = {request.qos == "high" and request.partition.name == "batch" for request, _ in now}
        assert total(lambda request: request.qos == "high")[1] <= 4 or high == {False}
        for user in ("ann", "bob", "eve"):
            assert total(lambda r, user=user: r.user == user and r.partition.name == "short")[0] <= 1
            mine = total(lambda r, user=user: r.user == user and r.partition.name == "batch" and r.qos == "high")
            assert mine[0] <= 2
            assert mine[1] <= 3
        if all(request.qos == "normal" for request, _ in ran):
            assert total(lambda request: True)[1] <= 6


SUBMISSIONS = """
Cluster - 'small':Fairshare=1
Parent - 'root'
Account - 'a':Fairshare=1:GrpSubmitJobs=4
Parent - 'a'
User - 'ann':Fairshare=1:MaxSubmitJobs=3
User - 'bob':Fairshare=1
Name|Priority|MaxSubmitPU|MaxSubmitPA
normal|0|2|3
high|100||
"""


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 60), st.integers(20, 200), st.sampled_from(["normal", "high"]),
            st.sampled_from(["ann", "bob"]),
        ), min_size=1, max_size=10,
    ),
    st.integers(0, 3),
)  # fmt: skip
def test_who_has_submitted_enough_is_refused(tmp_path_factory, rows, seed):
    """Counted anew at each submission: jobs that were taken, and wait or run."""
    tmp_path = tmp_path_factory.mktemp("run")
    machine, shares = cluster(tmp_path), accounts(tmp_path, SUBMISSIONS)
    asked = Allowance(machine, shares)
    requests = [
        replace(
            job(asked, number, cpus=4, account="a", user=user, qos=qos), submit=30.0 * submit, eligible=30.0 * submit,
            work=float(work),
        )
        for number, (submit, work, qos, user) in enumerate(sorted(rows), 1)
    ]  # fmt: skip
    decided = Loops(machine, requests, shares, seed).run()
    taken = []
    for request, one in zip(requests, decided, strict=True):
        ends = [end for _, end in taken]
        if any(abs(end - request.submit) < 3.0 for end in ends):
            return  # whose end is seen first is chance
        there = [other for other, end in taken if end > request.submit]
        mine = [other for other in there if other.user == request.user]
        normal = [other for other in there if other.qos == "normal"]
        if request.qos == "normal":  # whose own limit of a user comes before ann's
            his = [other for other in normal if other.user == request.user]
            enough = len(normal) >= 3 or len(his) >= 2
        else:
            enough = request.user == "ann" and len(mine) >= 3
        enough |= len(there) >= 4
        assert (one.places is None) == enough
        if one.places:
            taken.append((request, one.end))
