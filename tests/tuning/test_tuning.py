"""A search proposes within its ranges, learns on its own streams alone, resumes, and is judged on others."""

import math
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.experiment.field_reading import read_field
from harness.policy.scheduler import Scheduler
from harness.tuning.front import front
from harness.tuning.judging import judge
from harness.tuning.ranges import read_search
from harness.tuning.search import Training, search_for, split_time

FIELD = """
workloads = ["lublin(jobs=300, procs=32, seed=1)"]
held_out = [{held_out}]
objectives = {objectives}
platforms = "log"

[[scheduler]]
order = "wfp3(power=0.5..5)"
start = "easy(reservations=1..4)"
"""


def written(folder: Path, objectives: str = '"mean_wait"', held_out: int = 6, text: str = FIELD) -> Path:
    path = folder / "small.toml"
    logs = ", ".join(f'"lublin(jobs=80, procs=32, seed={seed})"' for seed in range(2, 2 + held_out))
    path.write_text(text.format(objectives=objectives, held_out=logs))
    return path


def test_ranges_stand_for_numbers_and_defaults(tmp_path: Path) -> None:
    search = read_search(written(tmp_path))
    assert [(one.label, one.low, one.high, one.whole, one.default) for one in search.ranges] == [
        ("order.power", 0.5, 5.0, False, 3.0),
        ("start.reservations", 1.0, 4.0, True, 1.0),
    ]
    assert search.default == Scheduler("wfp3(power=3)", "easy(reservations=1)")
    assert search.scheduler({"order.power": 0.75, "start.reservations": 2.0}) == Scheduler(
        "wfp3(power=0.75)", "easy(reservations=2)"
    )


QUEUES = """
[scheduler.queues.night]
queue = [1, 2]
start = "easy(reservations=1..8)"
"""


def test_queues_of_their_own_may_have_ranges(tmp_path: Path) -> None:
    search = read_search(written(tmp_path, text=FIELD.replace('start = "easy(reservations=1..4)"', QUEUES)))
    assert [one.label for one in search.ranges] == ["order.power", "night.start.reservations"]
    assert search.default.start == "easy + night(queue=[1, 2], order=fcfs, start=easy(reservations=1))"
    tuned = search.scheduler({"order.power": 1.0, "night.start.reservations": 3.0})
    assert tuned.start == "easy + night(queue=[1, 2], order=fcfs, start=easy(reservations=3))"
    file = tmp_path / "queues.toml"
    file.write_text(QUEUES.replace("scheduler.queues.", ""))
    text = FIELD.replace('easy(reservations=1..4)"', f'easy(reservations=1..4)"\nqueues = "{file}"')
    there = read_search(written(tmp_path, text=text))
    labels = ["order.power", "start.reservations", "night.start.reservations"]
    assert [one.label for one in there.ranges] == labels
    assert there.scheduler(dict.fromkeys(labels, 2.0)).start == (
        "easy(reservations=2) + night(queue=[1, 2], order=fcfs, start=easy(reservations=2))"
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("power=0.5..5", "pwer=0.5..5", "there is no parameter 'pwer'; did you mean 'power'"),
        ("wfp3(power", "wfp4(power", "there is no such policy; did you mean 'wfp3'"),
        ("power=0.5..5", "power=5..0.5", "expected the lower end first"),
        ("reservations=1..4", "spare=0..1", "expected the range of a number"),
        ("reservations=1..4", "reservations=0..4", "expected at least 1"),
        ("wfp3(power=0.5..5)", "fcfs", "expected at least one, as in easy"),
        ("[[scheduler]]", "[[scheduler]]\nqueues = 3", "expected a table for each"),
        (
            "[[scheduler]]",
            "[[scheduler]]\nqueues = {a = {queue = 1, start = ['easy']}}",
            "start = .* one policy",
        ),
        ("[[scheduler]]", "[[scheduler]]\nqueues = {a = {start = 'easy'}}", "the queue has no condition"),
        ("[[scheduler]]", "[[scheduler]]\nqueues = {a = {queue = 1, start = 'esy(reservations=1..2)'}}", "mean 'easy'"),
        ("[[scheduler]]", "[[scheduler]]\nstrt = 'easy'", "did you mean 'start'"),
        ("[[scheduler]]", "[[scheduler]]\nselect = ['first-fit', 'best-fit']", "one policy for each of its parts"),
        ('objectives = "mean_wait"', 'objectives = "mean_wiat"', "did you mean 'mean_wait'"),
        ('objectives = "mean_wait"', 'objectives = "jobs"', "neither more nor less"),
    ],
)
def test_what_cannot_be_searched_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = written(tmp_path)
    if new == "fcfs":  # and no other range either
        path.write_text(path.read_text().replace("reservations=1..4", "reservations=2"))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(HarnessError, match=words):
        read_search(path)


@pytest.mark.parametrize("name", ["\u00b2", "\u2460"])
def test_a_platform_of_another_name_is_refused(tmp_path: Path, name: str) -> None:
    text = FIELD.replace('"log"', f'"{name}"')
    with pytest.raises(HarnessError, match=f"{name}: no plugin reads such a platform"):
        Training(read_search(written(tmp_path, text=text)), (), 1)


def test_what_a_field_says_of_all_runs_is_heeded(tmp_path: Path) -> None:
    """Reservations and the signal, in the search and in the judgement."""
    table = tmp_path / "kept.csv"
    table.write_text("begin,end,procs\n0,50000000,8\n")
    around = f'reservations = "{table}"\nsignal = "daily(low=50, high=300)"\n\n[[scheduler]]'
    search = read_search(written(tmp_path, held_out=0, text=FIELD.replace("[[scheduler]]", around)))
    [(_, machine)] = Training(search, (), 1).streams
    assert [window.procs for window in machine.windows] == [8]
    (tmp_path / "out").mkdir()
    judge(search, (), tmp_path / "out")
    told = read_field(tmp_path / "out" / "judge.toml")
    assert told.reservations == str(table)
    assert told.signal is not None
    assert search.field.signal is not None
    assert told.signal.digest == search.field.signal.digest


def test_a_trial_is_worth_the_geometric_mean_of_its_ratios(tmp_path: Path) -> None:
    search = read_search(written(tmp_path, '["mean_wait", "utilisation"]'))
    training = Training(search, (), 1)
    tuned = search.scheduler({"order.power": 1.0, "start.reservations": 3.0})
    [(jobs, machine)] = training.streams
    ours, usual = (harness.simulate(jobs, machine, one).measures() for one in (tuned, search.default))
    expected = (ours["mean_wait"] / usual["mean_wait"], usual["utilisation"] / ours["utilisation"])
    assert training.ratios(tuned) == pytest.approx(expected)
    assert training.ratios(search.default) == pytest.approx((1.0, 1.0))


def test_training_and_judgement_share_no_job_and_leave_none_out(tmp_path: Path) -> None:
    search = read_search(written(tmp_path))
    training = Training(search, (), 1)
    judge(search, search_for(search, tmp_path / "out", trials=2, workers=1).best, tmp_path / "out", workers=1)
    (source, *others) = read_field(tmp_path / "out" / "judge.toml").workloads
    judged = harness.prepare(harness.read_workload(source.source), **source.options)
    mine, theirs = set(training.streams[0][0].jobs["job"]), set(judged.jobs["job"])
    assert not mine & theirs
    assert mine | theirs == set(range(1, 301))
    assert [one.source for one in others] == list(search.held_out)
    assert source.options["start"] == split_time(search.field.workloads[0], ())


def test_a_search_resumes_and_stays_within_its_ranges(tmp_path: Path) -> None:
    search = read_search(written(tmp_path))
    before = search_for(search, tmp_path, trials=3, workers=1)
    after = search_for(search, tmp_path, trials=6, workers=1)
    assert after.trials[:3] == before.trials
    assert len(after.trials) == 6
    assert after.trials[0].scheduler == search.default  # which is the first
    for trial in after.trials:
        assert 0.5 <= trial.values["order.power"] <= 5
        assert trial.values["start.reservations"] in (1, 2, 3, 4)
    assert after.best[0].ratios == min(trial.ratios for trial in after.trials)
    assert after.best[0].ratios <= (1.0,)
    assert search_for(search, tmp_path, trials=2, workers=1).trials == after.trials  # nothing is left to do


def test_another_field_begins_anew(tmp_path: Path) -> None:
    search_for(read_search(written(tmp_path)), tmp_path, trials=2, workers=1)
    other = read_search(written(tmp_path, '"max_wait"'))
    assert len(search_for(other, tmp_path, trials=1, workers=1).trials) == 1


def test_of_several_objectives_the_front_is_found_judged_and_drawn(tmp_path: Path) -> None:
    search = read_search(written(tmp_path, '["mean_wait", "max_wait"]'))
    found = search_for(search, tmp_path, trials=8, workers=1)
    for trial in found.best:  # nobody beats it in both
        assert not any(
            all(a <= b for a, b in zip(one.ratios, trial.ratios, strict=True)) and one.ratios != trial.ratios
            for one in found.trials
        )
    judgements, often = judge(search, found.trials[-2:], tmp_path, workers=1)
    assert often == 1
    assert len(judgements) == 4
    assert {one.measure.name for one in judgements} == {"mean_wait", "max_wait"}
    chart = front(search, found)
    assert sum(trace.mode == "markers+text" for trace in chart.data) == len({str(t.values) for t in found.trials})


def test_the_verdict_is_the_ratio_on_what_was_held_out(tmp_path: Path) -> None:
    search = read_search(written(tmp_path))
    trial = search_for(search, tmp_path, trials=4, workers=1).trials[-1]
    [one], _ = judge(search, [trial], tmp_path, workers=1)
    assert (one.units, one.unit) == (7, "workload")
    ratios = []
    for source in read_field(tmp_path / "judge.toml").workloads:
        jobs = harness.prepare(harness.read_workload(source.source), **source.options)
        waits = [harness.simulate(jobs, None, s).measures()["mean_wait"] for s in (trial.scheduler, search.default)]
        ratios.append(math.log(waits[0] / waits[1]))
    assert one.ratio == pytest.approx(np.exp(np.mean(ratios)))
    assert one.interval[0] <= one.ratio <= one.interval[1]
    assert ("is indistinguishable from the default" in one.sentence) == (one.better is None)


def test_who_looks_again_is_told(tmp_path: Path) -> None:
    search = read_search(written(tmp_path))
    trials = search_for(search, tmp_path, trials=4, workers=1).trials
    assert judge(search, [trials[1]], tmp_path, workers=1)[1] == 1
    assert judge(search, [trials[2]], tmp_path, workers=1)[1] == 2
    assert judge(search, [trials[1]], tmp_path, workers=1)[1] == 1  # that verdict is the first one still


def test_part_of_a_log_is_refused(tmp_path: Path) -> None:
    text = FIELD.replace('["lublin(jobs=300, procs=32, seed=1)"]', '[{{source = "lublin", jobs = 100}}]')
    with pytest.raises(HarnessError, match="expected the whole log"):
        Training(read_search(written(tmp_path, text=text)), (), 1)
