"""The check: what has not changed is green, whatever has is found, and a baseline says what it was made with."""

import json
import math
import re
from pathlib import Path

import pytest
from shared.gates import GATE, LAST_COME, Bench

import harness
from harness.errors import HarnessError
from harness.gate.baseline import starts_path
from harness.gate.verdict import as_github


def test_making_a_baseline_and_checking_it_is_green(bench: Bench) -> None:
    verdict = bench.make()
    assert (verdict.status, verdict.written, verdict.changed) == (0, 8, False)
    assert "written, with 8 runs" in str(verdict)
    verdict = bench.check(workers=1)
    assert (verdict.status, verdict.changed, verdict.stale) == (0, False, ())
    assert verdict.counts == {"same": 8}


def test_a_baseline_of_a_single_run(bench: Bench) -> None:
    bench.field.write_text('workloads = ["lublin(jobs=20, procs=16)"]\n[[scheduler]]\norder = "mine"\n')
    assert bench.make().written == 1
    assert bench.check().counts == {"same": 1}


def test_the_same_bytes_whoever_makes_it(tmp_path: Path) -> None:
    made = []
    for name, workers in (("one", 1), ("two", 3)):
        (tmp_path / name).mkdir()
        bench = Bench(tmp_path / name)
        bench.make(workers=workers)
        made.append((bench.baseline.read_bytes(), starts_path(bench.baseline).read_bytes()))
        bench.check(update=True)
        assert made[-1] == (bench.baseline.read_bytes(), starts_path(bench.baseline).read_bytes())
    assert made[0] == made[1]
    content = json.loads(made[0][0])
    assert json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False) + "\n" == made[0][0].decode()
    keys = [(run["workload"], run["platform"], run["seed"], sorted(run["policies"].items())) for run in content["runs"]]
    assert keys == sorted(keys)


def test_a_policy_that_changes_its_mind_is_found(made: Bench) -> None:
    made.decide(LAST_COME)
    verdict = made.check()
    assert verdict.status == 1
    assert verdict.stale == (
        next(note for note in verdict.stale if "the policy mine (order_queue) has changed" in note),
    )
    moved = {run.scheduler for run in verdict.runs if run.outcome != "same"}
    assert moved == {"mine + easy", "mine + none"}
    assert all(run.difference is not None and run.difference.decision is not None for run in verdict.runs if run.moves)
    for words in ("The first to differ is job", "processors were free and", "max_wait", "waits", "lublin("):
        assert words in str(verdict)


def test_what_is_told_of_the_first_difference_is_true(made: Bench) -> None:
    """Both schedules, made from scratch, say the same of the instant at which they part."""
    made.decide(LAST_COME)
    run = next(run for run in made.check().runs if run.scheduler == "mine + none" and run.workload.startswith("lublin"))
    found = run.difference
    assert found is not None
    assert found.decision is not None
    for order, mine in (("fcfs", "before"), ("lcfs", "now")):
        frame = harness.simulate(
            "lublin(jobs=80, procs=16, seed=1, load=0.9)", None, harness.Scheduler(order, "none")
        ).frame
        instant = found.instant
        waits = (frame["submit"] <= instant) & (frame["start"] >= instant)
        serves = (frame["start"] < instant) & (frame["end"] > instant)
        assert found.decision.waiting == waits.sum()
        assert found.decision.free == 16 - frame["procs"][serves].sum()
        starts = [job.job for job in found.decision.queue if getattr(job, mine)]
        assert starts == list(frame["job"][frame["start"] == instant])
        row = frame[frame["job"] == found.job].iloc[0]
        assert getattr(found, mine) == row["start"]


def test_update_writes_and_still_fails_when_something_changed(made: Bench) -> None:
    before = made.baseline.read_bytes()
    made.decide(LAST_COME)
    verdict = made.check(update=True)
    assert (verdict.status, verdict.written) == (1, 8)
    assert "rewritten" in str(verdict)
    assert str(verdict).count("The first to differ is job") == 4
    assert made.baseline.read_bytes() != before
    assert made.check(update=True).status == 0
    assert made.check().counts == {"same": 8}


def test_without_the_starts_it_is_as_strict(made: Bench) -> None:
    starts_path(made.baseline).unlink()
    verdict = made.check()
    assert verdict.status == 0
    assert "gate.starts.zip is missing" in str(verdict)
    made.decide(LAST_COME)
    verdict = made.check()
    assert verdict.status == 1
    assert "has no file of starts" in str(verdict)


def test_tolerances_go_before_those_of_the_baseline(made: Bench) -> None:
    made.edit(r'("mean_wait": )[\d.]+', r"\g<1>100000.5")  # of one run: what is now is less
    verdict = made.check()
    assert [run.outcome for run in verdict.runs].count("better") == 1
    assert verdict.status == 0
    made.edit(r"100000.5", "0.5")
    assert made.check().status == 1
    assert made.check(tolerances={"mean_wait": 1}).status == 0
    assert made.check(tolerances={"mean_wait": 1}, update=True).status == 0
    assert json.loads(made.baseline.read_text())["tolerances"] == {"mean_wait": 1.0}
    made.edit(r'("mean_wait": )[\d.]+(,\n.*"mean_w)', r"\g<1>0.5\2")
    assert made.check().status == 0
    assert made.check(tolerances={"mean_wait": 0.1}).status == 1


def test_only_measures_that_matter_are_judged_by_unless_others_are_named(made: Bench) -> None:
    made.edit(r'("p99_wait": )[\d.]+', r"\g<1>0.5")  # of one run: what is now is more
    made.edit(r'("makespan": )([\d.]+)', lambda found: f"{found[1]}{float(found[2]) / 1.015}")
    assert made.check().status == 0
    assert made.check(measures=["p99_wait"]).status == 1
    assert made.check(measures=["makespan"]).status == 0
    assert made.check(measures=["makespan"], tolerance=0.01).status == 1
    assert made.check(tolerance=0.01).status == 1
    assert made.check(tolerance=0.01, tolerances={"makespan": 0.1}).status == 0
    with pytest.raises(HarnessError, match="did you mean 'makespan'"):
        made.check(measures=["makespam"])


def test_better_here_and_worse_there_is_said(made: Bench) -> None:
    made.edit(r'("mean_wait": )[\d.]+', r"\g<1>100000.5")
    made.edit(r'("makespan": )[\d.]+', r"\g<1>1.5")
    assert re.search(r"better by mean wait \(-.* %\) and worse by makespan \(\+.* %\)", str(made.check()))


@pytest.mark.parametrize(
    ("name", "value"),
    [("mean_wait", -0.1), ("mean_wait", math.nan), ("mean_wait", 1.01), ("mean_wait", 5), ("mean_weight", 0.1)],
)
def test_tolerances_that_mean_nothing(made: Bench, name: str, value: float) -> None:
    with pytest.raises(HarnessError, match=f"tolerance of '{name}'"):
        made.check(tolerances={name: value})


@pytest.mark.parametrize("value", [5, 1.01, math.inf])
def test_a_tolerance_of_all_measures_above_the_whole_is_refused(made: Bench, value: float) -> None:
    with pytest.raises(HarnessError, match=r"between 0 and 1, such as 0\.05 for 5 %"):
        made.check(tolerance=value)


def test_a_tolerance_above_the_whole_in_a_baseline_is_refused(made: Bench) -> None:
    made.edit(r'"tolerances": \{\}', '"tolerances": {"mean_wait": 5}')
    with pytest.raises(HarnessError, match="tolerance of 'mean_wait': 5: expected"):
        made.check()


def test_plain_python_that_takes_its_time(made: Bench) -> None:
    made.decide("time.sleep(0.001) or job.submit")
    verdict = made.check()
    assert verdict.counts == {"same": 8}
    assert len(verdict.stale) == 1  # it is another source all the same


def test_a_run_that_fails_now(made: Bench) -> None:
    before = made.baseline.read_bytes()
    made.decide("job.submit / 0")
    verdict = made.check()
    assert verdict.status == 2
    assert verdict.counts == {"not compared": 4, "same": 4}
    assert "it fails: " in str(verdict)
    with pytest.raises(HarnessError, match="not written: 4 of 8 runs fail"):
        made.check(update=True)
    assert made.baseline.read_bytes() == before


# ---------------------------------------------------------------- what is stale


@pytest.mark.parametrize(
    ("pattern", "replacement", "words"),
    [
        (r'("engine": )"\w+"', r'\1"abc"', "the engine has changed: abc"),
        (r'("spf": )"\w+"', r'\1"abc"', r"the policy spf (order_queue) has changed: abc, now"),
        (r'("python": )"[\d.]+"', r'\1"3.2"', "made under Python 3.2"),
        (r'(?s)(.*"measures": )"\w+"', r'\1"abc"', "the computation of measures has changed"),
    ],
)
def test_versions_that_differ_are_printed_only_if_a_result_moved(
    made: Bench, pattern: str, replacement: str, words: str
) -> None:
    made.edit(pattern, replacement)
    verdict = made.check()
    assert verdict.status == 0
    assert any(words in note for note in verdict.stale)
    assert str(verdict) == f"{made.baseline}: 8 runs: 8 the same"
    assert as_github(verdict) == "### gate.json: 8 runs: 8 the same"
    made.decide(LAST_COME)
    assert words in str(made.check())
    assert words in as_github(made.check())


def test_a_measure_that_the_baseline_lacks_is_printed_although_no_result_moved(made: Bench) -> None:
    content = json.loads(made.baseline.read_text())
    for run in content["runs"]:
        del run["measures"]["mean_wait"]
    made.baseline.write_text(json.dumps(content))
    verdict = made.check()
    assert not verdict.changed
    assert "the baseline has no values of: mean_wait" in str(verdict)


def test_another_content_of_a_workload_is_not_compared(made: Bench) -> None:
    made.edit(r'("poisson\(.*": )"\w+"', r'\1"abc"')
    verdict = made.check()
    assert verdict.status == 2
    assert verdict.counts == {"not compared": 4, "same": 4}
    assert "the workload poisson" in str(verdict)
    assert "is not that of the baseline" in str(verdict)
    assert made.check(update=True).status == 1
    assert made.check().status == 0


def test_another_platform_is_not_compared(made: Bench) -> None:
    made.edit(r'("8 processors": )"\w+"', r'\1"abc"')
    assert made.check().counts == {"not compared": 4, "same": 4}


def test_another_field_takes_its_place(made: Bench) -> None:
    made.field.write_text(GATE.replace('"none"', '"conservative"'))
    verdict = made.check(field=made.field, update=True)
    assert verdict.status == 1
    assert verdict.counts == {"not compared": 8, "same": 4}
    assert "it is not in the baseline" in str(verdict)
    assert "it is no longer in the field" in str(verdict)
    assert made.check().counts == {"same": 8}


def test_a_measure_that_nobody_offers_any_more(made: Bench) -> None:
    made.edit('"mean_wait"', '"mean_weight"')
    verdict = made.check()
    assert verdict.counts == {"not compared": 1, "same": 7}
    assert "the measure 'mean_weight' no longer exists; did you mean 'mean_wait'?" in str(verdict)


def test_a_measure_that_the_baseline_lacks(made: Bench) -> None:
    made.baseline.write_text(made.baseline.read_text().replace('"mean_wait"', '"mean_wait_of_old"'))
    assert "the baseline has no values of: mean_wait" in str(made.check())


def test_variations_are_compared_if_they_are_drawn_as_they_were(bench: Bench, turned: None) -> None:
    bench.field.write_text("resamples = 1\n" + GATE)
    bench.make()
    assert bench.check().counts == {"same": 16}
    bench.decide(LAST_COME)
    explained = [run.difference for run in bench.check().runs if run.key[2] and run.outcome == "worse"]
    assert len(explained) == 4
    assert all(explained)
    bench.edit(r'("resampling": )"\w+"', r'\1"abc"')
    assert bench.check().counts["not compared"] == 8
