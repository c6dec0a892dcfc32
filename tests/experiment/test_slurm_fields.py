"""Fields that name configurations of Slurm: schedulers like any, known by what the files say."""

import pickle
import re
from pathlib import Path

import pytest
from shared.small_fields import Write

import harness
from harness.errors import HarnessError
from harness.experiment.field_reading import field_from_store, read_field
from harness.experiment.run_matrix import make_run_matrix
from harness.experiment.runner import tournament
from harness.gate.checking import check
from harness.slurm.slurm_replay import slurm_replay

CONFIGURATION = """
ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
Include more.conf
NodeName=n[1-4] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
"""
LAZY = "SchedulerParameters=bf_interval=900,sched_interval=900,defer\n"
FIELD = """
workloads = ["poisson(jobs=60, procs=16, load=1.2, seed=2)"]
seeds = [0, 1]

[[scheduler]]
slurm = ["usual.conf", "lazy.conf"]
"""
POLICIES = """
[[scheduler]]
start = ["easy", "none"]
"""


@pytest.fixture(autouse=True)
def configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two configurations that differ in how often they look."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "usual.conf").write_text(CONFIGURATION)
    (tmp_path / "lazy.conf").write_text(CONFIGURATION + LAZY)
    (tmp_path / "more.conf").write_text("SchedulerType=sched/backfill\n")
    return tmp_path


@pytest.mark.slow
def test_configurations_are_ranked_beside_policies(write: Write, tmp_path: Path) -> None:
    results = tournament(write(FIELD + POLICIES), tmp_path / "out")
    frame = results.frame()
    assert (frame["status"] == "done").all(), frame["error"].tolist()
    assert set(frame["scheduler"]) == {"slurm(usual.conf)", "slurm(lazy.conf)", "fcfs + easy", "fcfs + none"}
    assert set(frame["platform"]) == {"as configured"}
    usual = frame[frame["scheduler"] == "slurm(usual.conf)"]
    assert usual["schedule_digest"].nunique() == 2  # the seed draws the phases
    ranked = harness.rank(frame, "mean_wait").standings
    assert {one.scheduler for one in ranked} == set(frame["scheduler"])


def test_a_run_is_what_the_replay_gives(write: Write, tmp_path: Path) -> None:
    frame = tournament(write(FIELD), tmp_path / "out").frame()
    log = harness.read_workload("poisson(jobs=60, procs=16, load=1.2, seed=2)")
    slurm = harness.read_slurm_scheduler("lazy.conf")
    for _, row in frame[frame["start"] == "slurm(lazy.conf)"].iterrows():
        schedule = slurm_replay(harness.prepare(log), log, slurm.cluster, seed=row["seed"])
        assert row["schedule_digest"] == schedule.digest
        assert row["mean_wait"] == schedule.measures()["mean_wait"]
        assert harness.simulate(log, 16, slurm, seed=row["seed"]).digest == schedule.digest
        again = harness.simulate(log, None, pickle.loads(pickle.dumps(slurm)), seed=row["seed"])
        assert again.digest == schedule.digest


@pytest.mark.parametrize("changed", ["usual.conf", "more.conf", "topology.conf", "accounts.dump"])
def test_what_was_run_is_known_by_all_that_was_read(write: Write, configurations: Path, changed: str) -> None:
    """Nothing is repeated while files are the same; whichever changes, the runs under it are others."""
    (configurations / "topology.conf").write_text("SwitchName=s Nodes=n[1-4]\n")
    (configurations / "accounts.dump").write_text("Account - 'a':Fairshare=1\n")
    field = write(
        'workloads = "poisson(jobs=20, procs=16, seed=2)"\n[[scheduler]]\nslurm = "usual.conf + accounts.dump"\n'
    )

    def identities() -> set[str]:
        return {run.identity for run in make_run_matrix(read_field(field)).runs}

    before = identities()
    assert identities() == before
    with (configurations / changed).open("a") as file:
        file.write("# changed\n")
    assert not identities() & before


@pytest.mark.slow
def test_what_has_run_is_not_repeated(write: Write, tmp_path: Path) -> None:
    field = write(FIELD)
    first = tournament(field, tmp_path / "out").frame()
    seen = []
    second = tournament(field, tmp_path / "out", watch=seen.append).frame()
    assert seen[-1].to_do == 0
    assert second["seconds"].tolist() == first["seconds"].tolist()


def test_configurations_may_have_other_nodes_but_not_beside_policies(write: Write, configurations: Path) -> None:
    (configurations / "lazy.conf").write_text(CONFIGURATION.replace("n[1-4]", "n[1-8]"))
    runs = make_run_matrix(read_field(write(FIELD))).runs
    assert {run.platform.cores for run in runs} == {16, 32}
    several = "usual.conf and lazy.conf describe different nodes or partitions, and a policy"
    size = "lazy.conf has 32 processors, the platform '16 processors' 16: expected the same number"
    with pytest.raises(HarnessError, match=re.escape(several)):
        make_run_matrix(read_field(write(FIELD + POLICIES)))
    plan = make_run_matrix(read_field(write("platforms = 16\n" + FIELD)))  # on which one of them runs
    assert {run.scheduler.configured for run in plan.runs} == {"usual.conf"}
    assert {(one.policies["start"], one.reason) for one in plan.refused} == {("slurm(lazy.conf)", size)}


def test_exclusions_name_configurations(write: Write) -> None:
    field = write(FIELD + POLICIES + '[[exclude]]\nslurm = "lazy.conf"\n[[exclude]]\nstart = "none"\n')
    runs = make_run_matrix(read_field(field)).runs
    assert {run.policies["start"] for run in runs} == {"slurm(usual.conf)", "easy"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('slurm = "usual.conf"\norder = "fcfs"', "order next to slurm: a configuration determines all decisions"),
        ('slurm = "none.conf"', "none.conf: cannot be read as a slurm.conf: there is no such file"),
        ('slurm = "usual.conf + a + b"', "expected a slurm.conf, or slurm.conf + what sacctmgr dump writes"),
        ('slurm = ["usual.conf", "copy.conf"]', "copy.conf is the same configuration as usual.conf: expected another"),
        ("slurm = 3", "slurm = 3: expected texts, at least one"),
    ],
)
def test_bad_input_is_said_by_line(write: Write, configurations: Path, text: str, told: str) -> None:
    (configurations / "copy.conf").write_text(CONFIGURATION)
    with pytest.raises(HarnessError, match=r"line \d+: .*" + re.escape(told)):
        read_field(write(f'workloads = "poisson(jobs=20, procs=16, seed=2)"\n[[scheduler]]\n{text}\n'))


def test_configurations_may_be_added_to_a_field_or_compete_on_a_log(write: Write, tmp_path: Path) -> None:
    """What a store keeps of the field is enough to read it again."""
    for source, schedulers, workloads in (
        (write("workloads = 'poisson(jobs=20, procs=16, seed=2)'\n" + POLICIES), 4, 1),
        ("poisson(jobs=20, procs=16, seed=2)", 2, 1),
    ):
        field = read_field(source, slurms=["usual.conf", "lazy.conf"])
        assert (len(field.schedulers), len(field.workloads)) == (schedulers, workloads)
        about = tournament(field, tmp_path / f"out{schedulers}").about["field"]
        plans = [make_run_matrix(one) for one in (field, field_from_store(about))]
        assert len({tuple(run.identity for run in plan.runs) for plan in plans}) == 1
    with pytest.raises(HarnessError, match="no such field"):
        read_field("poisson(jobs=20, procs=16, seed=2)")


def test_a_workload_that_begins_in_the_middle_is_refused(configurations: Path) -> None:
    table = configurations / "logged.csv"
    table.write_text("submit,run,procs,estimate,wait\n0,100,4,200,0\n10,100,4,200,30\n")
    middle = harness.at_instant(harness.read_workload(table), 20.0)
    with pytest.raises(HarnessError, match=r"usual\.conf: the model of a Slurm begins with an empty machine"):
        harness.simulate(middle.workload(), None, harness.read_slurm_scheduler("usual.conf"))


@pytest.mark.parametrize(
    "key", ["backfill_interval = 60", 'event_semantics = "per-event"', 'signal = "daily(low=1, high=2)"']
)
def test_what_is_for_policies_is_refused(write: Write, key: str) -> None:
    with pytest.raises(HarnessError, match="a Slurm decides by its configuration alone"):
        read_field(write(key + "\n" + FIELD))


@pytest.mark.slow
def test_a_gate_names_the_configuration_that_changed(write: Write, configurations: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate.json"
    check(gate, field=write(FIELD), update=True)
    assert check(gate).status == 0
    (configurations / "usual.conf").write_text(CONFIGURATION + "SchedulerParameters=bf_interval=600,defer\n")
    verdict = check(gate)
    assert any("the policy usual.conf (slurm) has changed" in line for line in verdict.stale)
