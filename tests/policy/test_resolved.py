"""A scheduler is found once among the plugins, and handed on."""

import pickle
import sys

import pytest

import harness
import harness.cli
from harness.experiment.simulation import choose_policies
from harness.policy import spec
from harness.policy.kinds import KINDS
from harness.policy.registry import plugins
from harness.policy.scheduler import Scheduler

FIELD = """
workloads = ["lublin(jobs=60, procs=16)"]

[[scheduler]]
order = "wfp3(power=2)"
start = "easy(backfill_order=spf)"
"""


@pytest.fixture
def calls(monkeypatch):
    """The specifications that were read, as they were read."""
    found, original = [], spec.choose

    def choose(text, hook, known):
        found.append((hook, text))
        return original(text, hook, known)

    for name, module in list(sys.modules.items()):
        if name.startswith("harness.") and getattr(module, "choose", None) is original:
            monkeypatch.setattr(module, "choose", choose)
    return found


def test_a_run_reads_each_specification_once(calls, monkeypatch, capsys):
    words = [
        "run",
        "lublin(jobs=60, procs=16)",
        "--start",
        "easy(reservations=2)",
        "--energy",
        "none",
        "--fairness",
        "3",
    ]
    monkeypatch.setattr(sys, "argv", ["harness", *words])
    harness.cli.main()
    assert capsys.readouterr().out
    assert len(calls) == len(set(calls)) == len(KINDS)  # one a kind: the energy policy is read where it is named


def test_a_run_of_a_tournament_reads_each_specification_once(calls, tmp_path):
    (tmp_path / "one.toml").write_text(FIELD)
    results = harness.tournament(tmp_path / "one.toml", tmp_path / "out", workers=1)
    assert results.frame()["status"].tolist() == ["done"]
    assert 0 < len(calls) <= 6


def test_a_page_of_a_run_reads_nothing_anew(calls):
    schedule = harness.simulate("lublin(jobs=60, procs=16)", None, Scheduler(start="none"), timeline=True)
    before = len(calls)
    harness.run_page(schedule)
    assert len(calls) == before


def test_the_parts_of_a_scheduler_are_the_kinds_of_policies():
    assert list(vars(Scheduler())) == [kind.part for kind in KINDS.values()]


def test_the_richest_energy_policy_is_taken_unless_one_is_named():
    rich, poor = harness.read_platform("synthetic-11"), harness.plain(4)
    assert choose_policies(Scheduler(), poor)["energy"].policy.name == "none"
    assert choose_policies(Scheduler(), rich)["energy"].policy.name != "none"
    assert choose_policies(Scheduler(energy="none"), rich)["energy"].policy.name == "none"
    with pytest.raises(harness.HarnessError, match="needs the load curve of every node"):
        choose_policies(Scheduler(energy="spec"), poor)


@pytest.mark.parametrize("energy", ["", "none"])
def test_elsewhere_it_is_found_anew_from_what_was_written(energy):
    written = Scheduler(order="wfp3(power=2)", start="easy(backfill_order=spf)", energy=energy)
    assert pickle.loads(pickle.dumps(written.choose(plugins().policies))) == written
