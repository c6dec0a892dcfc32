"""Batsim and SPARS reproduced, and the published comparison; workloads of Batsim read."""

import json

import pandas as pd
import pytest

from harness import HarnessError, read_workload
from harness.cli.study_command import load
from harness.disk.bundled import folder
from harness.present.tables import render

study = load("other_simulators")

FALLING, WAKING = 620.0 / 6.1, 19030.0 / 152  # [W], as their scheduler was told


@pytest.mark.data
@pytest.mark.parametrize(
    "variant",
    ["conservative", "easy", "opportunistic_shutdown", "inertial_shutdown", "inertial_opportunistic_shutdown"],
)
def test_our_watts_times_their_states_is_their_energy(data, variant):
    folder = data / "reference-schedules/batsim-evalys"
    node = study.batsim_platform(folder / "medium_late.platform.xml.gz", 32).types[0]
    said = pd.read_csv(folder / f"medium_late.{variant}.out_schedule.csv.gz").iloc[0]
    changes = pd.read_csv(folder / f"medium_late.{variant}.out_machine_states.csv.gz")
    lasts = changes["time"].shift(-1, fill_value=said["makespan"]) - changes["time"]
    nap = node.sleep[0]
    watts = {
        "nb_computing": node.peak, "nb_idle": node.idle, "nb_sleeping": nap.watts,
        "nb_switching_off": nap.down_energy / nap.down, "nb_switching_on": nap.up_energy / nap.up,
    }  # fmt: skip
    assert sum((changes[state] * lasts).sum() * w for state, w in watts.items()) == pytest.approx(
        said["consumed_joules"], rel=1e-4
    )
    assert watts["nb_switching_on"] == pytest.approx(WAKING, rel=1e-3)
    assert watts["nb_switching_off"] == pytest.approx(FALLING, rel=1e-2)


@pytest.mark.data
def test_batsim_without_sleep(data):
    for case in study.batsim_cases(data / "reference-schedules/batsim-evalys")[:2]:
        assert case.theirs.energy == 48909070.4
        assert case.ours.energy == pytest.approx(case.theirs.energy, rel=1e-9)
        assert case.ours.energy == pytest.approx(95 * 32 * case.ours.makespan, rel=1e-12)
        assert case.ours.makespan == pytest.approx(case.theirs.makespan, abs=1e-6)


@pytest.mark.data
def test_spars_to_the_joule(data):
    cases = study.spars_cases(data / "reference-schedules/spars")
    for case in cases[2:]:  # timeouts of 900 s and more
        assert case.ours == case.theirs
        assert case.later == 0
    assert [case.later for case in cases[:2]] == [18, 0]
    assert cases[1].ours.energy == pytest.approx(cases[1].theirs.energy, rel=1e-4)


def written(tmp_path, **changes):
    content = {
        "nb_res": 4,
        "jobs": [
            {"id": "w!7", "subtime": 5.5, "res": 2, "profile": "short", "walltime": 30},
            {"id": 3, "subtime": 0, "res": 1, "profile": "short"},
        ],
        "profiles": {"short": {"type": "delay", "delay": 10.25}},
    }
    path = tmp_path / "w.json"
    path.write_text(json.dumps(content | changes))
    return path


def test_a_workload_of_batsim(tmp_path):
    log = read_workload(written(tmp_path))
    assert log.header == ("; MaxProcs: 4",)
    columns = ["job", "submit", "run", "procs", "estimate"]
    assert log.jobs[columns].to_numpy().tolist() == [[3, 0, 10.25, 1, -1], [7, 5.5, 10.25, 2, 30]]


def jobs_of_batsim(*before):
    """Jobs, the last of which depends on these."""
    named = [{"id": f"w!{k}", "subtime": 0, "res": 1, "profile": "short"} for k in range(1, 11)]
    named[-1]["dependencies"] = [f"w!{k}" for k in before]
    return {"jobs": named}


def test_a_job_of_batsim_waits_for_all_that_it_depends_on(tmp_path):
    log = read_workload(written(tmp_path, **jobs_of_batsim(2, 5, 9)))
    assert log.jobs[["preceding", "x_preceding_2", "x_preceding_3"]].iloc[-1].tolist() == [2, 5, 9]
    assert (log.jobs[["preceding", "x_preceding_2"]].iloc[:-1] == -1).all(axis=None)
    assert "x_preceding_4" not in log.jobs


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (jobs_of_batsim(*range(1, 10)), "job w!10 depends on 9 others; expected 8 at most"),
        ({"profiles": {"short": {"type": "parallel_homogeneous", "cpu": 1}}}, "depends on a network"),
        ({"profiles": {}}, "expected a workload of Batsim: .*; '.+' is missing$"),
        ({"jobs": [3]}, "expected a workload of Batsim"),
    ],
)
def test_what_is_not_a_workload_we_can_replay(tmp_path, changes, sentence):
    with pytest.raises(HarnessError, match=sentence):
        read_workload(written(tmp_path, **changes))


@pytest.mark.data
def test_the_comparison_is_what_we_publish(data):
    folder_of_theirs = data / "reference-schedules"
    rows = [
        case.row
        for cases, theirs in ((study.batsim_cases, "batsim-evalys"), (study.spars_cases, "spars"))
        for case in cases(folder_of_theirs / theirs)
    ]
    table = render(study.HEADERS, rows, "markdown", units=study.UNITS)
    assert table in (folder("reports") / "other-simulators.md").read_text()
