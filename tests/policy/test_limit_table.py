"""Limits of certain users and queues: the same as everybody's, but for those named; what cannot be meant is refused."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared.running import bundled
from shared.strategies import seeded_rows, workload

import harness
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform
from harness.policy.scheduler import Scheduler


def ran(made, hold, procs=6):
    """The jobs, by processors on nodes of one."""
    chosen = Scheduler(energy="none", start="easy", hold=hold).choose(bundled())
    return simulate(workload(made), Platform("two", (NodeType(procs, 1),)), chosen).jobs


@pytest.mark.parametrize("whom", ["user", "group", "queue"])
@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    st.integers(0, 10**6),
    st.dictionaries(
        st.integers(0, 2),
        st.tuples(*[st.sampled_from(("", 0, 1, 2))] * 3).filter(lambda row: row != ("", "", "")),
        min_size=1,
    ),
)
def test_nobody_is_over_a_limit_of_its_own(tmp_path_factory, whom, seed, rows):
    path = tmp_path_factory.mktemp("limits") / "some.csv"
    lines = [f"{number},{','.join(map(str, row))}" for number, row in rows.items()]
    path.write_text("\n".join([f"{whom},jobs,procs,nodes", *lines]) + "\n")
    made, _ = seeded_rows(seed, cancellations=False)
    made = [(submit, 1, *row, {whom: k % 3}) for k, (submit, _, *row, _) in enumerate(made)]
    jobs = ran(made, f"limits({whom}_jobs=3, table='{path}')")
    assert (jobs.status == harness.COMPLETED).all()
    for number in range(3):
        row = rows.get(number, ("", "", ""))
        allowed = [3 if row[0] == "" else row[0] or 6, row[1] or 6, row[2] or 6]
        mine = jobs[jobs[whom] == number]
        most = max((sum((mine.start <= at) & (at < mine.end)) for at in mine.start), default=0)
        assert most <= min(allowed)  # jobs of one processor: all three say the same


def test_an_empty_cell_leaves_what_is_said_for_everybody(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("user,jobs,procs\n0,,2\n1,0,\n")
    made = [(0, 1, 10, 10, {"user": k % 2}) for k in range(6)]
    assert ran(made, f"limits(user_jobs=1, table='{path}')").start.tolist() == [0, 0, 10, 0, 20, 0]
    assert ran(made, f"limits(table='{path}')").start.tolist() == [0, 0, 0, 0, 10, 0]


@pytest.mark.parametrize("what", ["jobs", "procs", "nodes"])
def test_a_partition_has_a_limit_of_its_own(tmp_path, what):
    path = tmp_path / "some.csv"
    path.write_text(f"partition,{what}\n1,1\n")
    made = [(0, 1, 10, 10, {"partition": k % 2}) for k in range(4)]
    platform = Platform("two", (NodeType(4, 1), NodeType(4, 1, partition=1)))
    chosen = Scheduler(energy="none", hold=f"limits(table='{path}')").choose(bundled())
    assert simulate(workload(made), platform, chosen).jobs.start.tolist() == [0, 0, 0, 10]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("user,jobs\n", "expected a table of limits with at least one row below user, group"),
        ("usr,jobs\n1,2\n", "there is no column 'usr'; did you mean 'user'"),
        ("user,queue,jobs\n1,2,3\n", "line 2: expected a number or a name in one of the columns user, group"),
        ("user,jobs\n-7,3\n", "line 2: user = '-7': expected a whole number of at least 0, or a name of the log"),
        ("user,jobs\nalice,3\nalice,4\n", "line 3: user alice has its limits in line 2: expected one row"),
        ("user,jobs\n1,-3\n", "jobs = '-3': expected a whole number"),
        ("user,jobs\n1,3\n1,4\n", "line 3: user 1 has its limits in line 2: expected one row"),
        ("user,jobs\n1,\n", "no limit: expected a number in jobs, procs, nodes"),
    ],
)
def test_what_is_no_table_of_limits_is_refused(tmp_path, text, sentence):
    path = tmp_path / "odd.csv"
    path.write_text(text)
    with pytest.raises(HarnessError, match=sentence):
        harness.read_limits(str(path))


NAMED = [
    *("; User: 1 alice", "; User: 2 bob", "; Group: 1 physics", "; Group: 2 law"),
    *("; Queue: 1 normal", "; Queue: 2 long", "; Partition: 1 thin", "; Partition: 2 fat"),
]


def named(header=NAMED, **further):
    """Four jobs of two of everybody, of which the log has names."""
    made = [
        (0, 1, 10, 10, dict.fromkeys(("user", "group", "queue", "partition"), 1 + k % 2) | further) for k in range(4)
    ]
    return replace(workload(made, "dump"), header=tuple(header))


def held(jobs, hold):
    chosen = Scheduler(energy="none", start="easy", hold=hold).choose(bundled())
    return simulate(jobs, Platform("one", (NodeType(1, 4),)), chosen).jobs.start.tolist()


@pytest.mark.parametrize(
    "row", ["user,jobs\nbob,1\n", "group,jobs\nlaw,1\n", "queue,jobs\nlong,1\n", "partition,jobs\nfat,1\n"]
)
def test_names_of_the_log_stand_for_its_numbers(tmp_path, row):
    (tmp_path / "some.csv").write_text(row)
    (tmp_path / "numbers.csv").write_text(re.sub(r"\n\w+,", "\n2,", row))
    starts = [held(named(), f"limits(table='{tmp_path / name}')") for name in ("some.csv", "numbers.csv")]
    assert starts[0] == starts[1] == [0, 0, 0, 10]


def test_groups_are_accounts_where_the_log_has_none(tmp_path):
    (tmp_path / "some.csv").write_text("group,jobs\nphysics,1\n")
    accounts = ["; Account: 1 law", "; Account: 2 physics"]
    assert held(named(accounts), f"limits(table='{tmp_path / 'some.csv'}')") == [0, 0, 0, 10]
    with pytest.raises(HarnessError, match="dump has no group 'physics'"):  # its groups are something else
        held(named(accounts, x_account=1), f"limits(table='{tmp_path / 'some.csv'}')")


@pytest.mark.parametrize(
    ("row", "header", "sentence"),
    [
        ("user,jobs\nalcie,1\n", NAMED, "some.csv'\\): dump has no user 'alcie'; did you mean 'alice'?"),
        ("queue,jobs\nxyz,1\n", NAMED, "dump has no queue 'xyz'; known: long, normal"),
        ("user,jobs\nalice,1\n", (), "dump has no user 'alice'; it has no names of users: expected a number"),
        ("user,jobs\nzoe,1\n", [f"; User: {k} u{k}" for k in range(30)], "no user 'zoe'; it has 30 other names"),
    ],
)
def test_names_that_the_log_does_not_have_are_refused(tmp_path, row, header, sentence):
    (tmp_path / "some.csv").write_text(row)
    with pytest.raises(HarnessError, match=sentence):
        held(named(header), f"limits(table='{tmp_path / 'some.csv'}') + limits(user_jobs=1)")


def test_what_sacct_names_is_known_by_name(tmp_path):
    """Users, groups, QOS and partitions of a dump."""
    lines = ["JobID|User|Group|Account|QOS|Partition|Submit|Start|End|State|AllocCPUS|Timelimit"]
    for k in range(4):
        whose = "bob|staff|law|long|fat" if k % 2 else "alice|guests|physics|normal|thin"
        lines.append(
            f"{k + 1}|{whose}|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:10|COMPLETED|1|00:10:00"
        )
    (tmp_path / "dump.txt").write_text("\n".join(lines) + "\n")
    jobs = harness.prepare(harness.read_workload(str(tmp_path / "dump.txt")))
    for whom, name in {"user": "bob", "group": "staff", "queue": "long", "partition": "fat"}.items():
        (tmp_path / "some.csv").write_text(f"{whom},jobs\n{name},1\n")
        assert held(jobs, f"limits(table='{tmp_path / 'some.csv'}')") == [0, 0, 0, 10], whom


def test_a_table_that_is_not_there_is_refused():
    with pytest.raises(HarnessError, match="there is no such file"):
        Scheduler(hold="limits(table='nowhere.csv')").choose(bundled())
