"""The check: what has not changed is green, whatever has is found, and a baseline says what it was made with."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gates import GATE, LAST_COME, Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import workloads

import harness
from harness.errors import HarnessError
from harness.platform.platform import plain
from harness.results.metrics import MEASURES
from harness.tournament.baseline import pack, read_baseline, read_packed, starts_path, unpack
from harness.tournament.difference import decided, first_difference
from harness.tournament.verdict import Compared, Move, Verdict, moves

LOWER = MEASURES["mean_wait"]  # less is better
HIGHER = MEASURES["utilisation"]  # more is
NEITHER = MEASURES["killed"]

#: Of starts: often equal, sometimes never.
INSTANTS = st.sampled_from((0.0, 1.0, 2.5, 7.0, math.nan))


# ---------------------------------------------------------------- the whole


def test_making_a_baseline_and_checking_it_is_green(bench: Bench) -> None:
    verdict = bench.make()
    assert (verdict.status, verdict.written, verdict.changed) == (0, 8, False)
    assert "made, of 8 runs" in str(verdict)
    verdict = bench.check(workers=1)
    assert (verdict.status, verdict.changed, verdict.stale) == (0, False, ())
    assert verdict.counts == {"same": 8}


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
    assert "written anew" in str(verdict)
    assert str(verdict).count("The first to differ is job") == 4
    assert made.baseline.read_bytes() != before
    assert made.check(update=True).status == 0
    assert made.check().counts == {"same": 8}


def test_without_the_starts_it_is_as_strict(made: Bench) -> None:
    starts_path(made.baseline).unlink()
    assert made.check().status == 0
    made.decide(LAST_COME)
    verdict = made.check()
    assert verdict.status == 1
    assert "starts were not kept" in str(verdict)


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


@pytest.mark.parametrize(("name", "value"), [("mean_wait", -0.1), ("mean_wait", math.nan), ("mean_weight", 0.1)])
def test_tolerances_that_mean_nothing(made: Bench, name: str, value: float) -> None:
    with pytest.raises(HarnessError, match=f"tolerance of '{name}'"):
        made.check(tolerances={name: value})


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
        (r'(?s)(.*"measures": )"\w+"', r'\1"abc"', "how measures are computed has changed"),
    ],
)
def test_versions_that_have_changed_are_said_and_compared_all_the_same(
    made: Bench, pattern: str, replacement: str, words: str
) -> None:
    made.edit(pattern, replacement)
    verdict = made.check()
    assert verdict.status == 0
    assert words in str(verdict)


def test_another_content_of_a_workload_is_not_compared(made: Bench) -> None:
    made.edit(r'("poisson\(.*": )"\w+"', r'\1"abc"')
    verdict = made.check()
    assert verdict.status == 2
    assert verdict.counts == {"not compared": 4, "same": 4}
    assert "the workload poisson" in str(verdict)
    assert "is not the one that the baseline was made with" in str(verdict)
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
    assert "the field does not name it any more" in str(verdict)
    assert made.check().counts == {"same": 8}


def test_a_measure_that_nobody_offers_any_more(made: Bench) -> None:
    made.edit('"mean_wait"', '"mean_weight"')
    verdict = made.check()
    assert verdict.counts == {"not compared": 1, "same": 7}
    assert "nobody offers the measure 'mean_weight' any more; did you mean 'mean_wait'?" in str(verdict)


def test_a_measure_that_the_baseline_lacks(made: Bench) -> None:
    made.baseline.write_text(made.baseline.read_text().replace('"mean_wait"', '"mean_wait_of_old"'))
    assert "the baseline has nothing to compare with: mean_wait" in str(made.check())


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


# ---------------------------------------------------------------- the parts


@given(st.lists(st.tuples(INSTANTS, INSTANTS), max_size=20))
def test_the_first_difference_is_the_first(pairs: list[tuple[float, float]]) -> None:
    before, now = (np.array([pair[k] for pair in pairs], float) for k in (0, 1))
    jobs = harness.read_workload("poisson(jobs=20, procs=4)").jobs.head(len(pairs))
    found = first_difference(before, now, jobs)
    differing = [
        (min(x for x in pair if x == x), k)
        for k, pair in enumerate(pairs)
        if str(pair[0]) != str(pair[1])  # in words, not a number is not a number
    ]
    if not differing:
        assert found is None
    else:
        instant, row = min(differing)
        assert found is not None
        assert (found.instant, found.job) == (instant, jobs["job"].iloc[row])
        assert str((found.before, found.now)) == str(pairs[row])


@settings(max_examples=25, deadline=None)
@given(workloads(4, cancellations=True), st.data())
def test_any_single_changed_start_is_found(workload: harness.Workload, data: st.DataObject) -> None:
    schedule = harness.simulate(workload, 4)
    starts = schedule.frame["start"].to_numpy()
    row = data.draw(st.integers(0, len(starts) - 1))
    other = starts.copy()
    other[row] = data.draw(st.sampled_from((0.25, 1e9, math.nan)).filter(lambda x: str(x) != str(starts[row])))
    found = first_difference(starts, other, workload.jobs)
    assert found is not None
    assert found.job == workload.jobs["job"].iloc[row]


@settings(max_examples=25, deadline=None)
@given(workloads(4, cancellations=True))
def test_packed_starts_are_all_there(workload: harness.Workload) -> None:
    schedule = harness.simulate(workload, 4)
    submit = workload.jobs["submit"].to_numpy()
    np.testing.assert_array_equal(unpack(pack(schedule), submit), schedule.frame["start"])
    thirds = replace(workload, jobs=workload.jobs.assign(submit=submit / 3, cancel=workload.jobs["cancel"] / 3))
    schedule = harness.simulate(thirds, 4)
    np.testing.assert_array_equal(unpack(pack(schedule), thirds.jobs["submit"].to_numpy()), schedule.frame["start"])


@settings(max_examples=40, deadline=None)
@given(workloads(4, cancellations=True), st.sampled_from(["none", "conservative", "greedy"]))
def test_what_was_decided_is_the_same_from_either_side(workload: harness.Workload, other: str) -> None:
    """Nothing but the decision itself depends on which of two schedules it is looked at from."""
    one, two = (
        harness.simulate(workload, plain(4), harness.Scheduler(start=start), placements=True)
        for start in ("easy", other)
    )
    starts = [schedule.frame["start"].to_numpy() for schedule in (one, two)]
    found = first_difference(*starts, workload.jobs)
    if found is None:
        assert one.digest == two.digest
        return
    there = decided(one, starts[1], found.instant, common=True)
    here = decided(two, starts[0], found.instant, common=True)
    turned = tuple(replace(job, before=job.now, now=job.before) for job in there.queue)
    assert replace(there, queue=turned) == here
    for starting in ("before", "now"):
        assert sum(job.procs for job in here.queue if getattr(job, starting)) <= here.free


@pytest.mark.parametrize("order", ["spf", "lcfs"])
def test_who_is_suspended_at_the_instant_held_processors_until_then(order: str) -> None:
    workload = harness.prepare(harness.read_workload("poisson(jobs=80, procs=8, seed=3, load=0.9)"))
    schedule = harness.simulate(workload, 8, harness.Scheduler(order, "preempt"), placements=True)
    suspended = schedule.frame[schedule.frame["preemptions"] > 0]
    places = schedule.placements
    stay = places[places["job"].isin(suspended["job"])].groupby("job")["end"].min()
    instant = next(end for job, end in stay.items() if end < suspended.set_index("job")["end"][job])
    held = places[(places["begin"] < instant) & (places["end"] >= instant)].merge(schedule.frame, on="job")
    held = held[~((held["end_x"] == instant) & (held["end_y"] == instant))]
    starts = schedule.frame["start"].to_numpy()
    assert decided(schedule, starts, float(instant), common=False).free == 8 - held["cores"].sum()
    assert held["cores"].sum() > 0


def test_who_waits_for_sleeping_nodes_holds_processors() -> None:
    scheduler = harness.Scheduler(sleep="timeout(idle=60)")
    schedule = harness.simulate(
        "lublin(jobs=200, procs=128, seed=1, load=0.5)", "synthetic-11", scheduler, placements=True
    )
    frame = schedule.frame
    starts = frame["start"].to_numpy()
    woken = frame[frame["boot"] > 0]
    assert len(woken) > 10
    for instant in woken["start"] + woken["boot"] / 2:
        held = frame["procs"][(frame["start"] < instant) & (frame["end"] > instant)].sum()
        assert decided(schedule, starts, float(instant), common=False).free == 128 - held


VALUES = st.floats(0, 1e12, allow_nan=False)


@given(VALUES, VALUES, st.floats(0, 1))
def test_moves_follow_tolerance_and_direction(old: float, new: float, tolerance: float) -> None:
    measures = [LOWER, HIGHER, NEITHER]
    found = {
        move.measure.name: move.outcome
        for move in moves(
            {measure.name: old for measure in measures},
            {measure.name: new for measure in measures},
            measures,
            {measure.name: tolerance for measure in measures},
        )
    }
    if abs(new - old) <= tolerance * max(old, new):
        assert found == {}
    else:
        less, more = ("better", "worse") if new < old else ("worse", "better")
        assert found == {"mean_wait": less, "utilisation": more, "killed": "changed"}


@pytest.mark.parametrize(
    ("before", "now", "outcome"),
    [(None, 1.0, "changed"), (1.0, None, "worse"), (0.0, 1e-300, "worse"), (1.0, 1.0 + 2e-9, "worse")],
)
def test_moves_where_there_is_no_number_and_where_there_was_nothing(
    before: float | None, now: float | None, outcome: str
) -> None:
    (move,) = moves({"mean_wait": before}, {"mean_wait": now}, [LOWER], {})
    assert move.outcome == outcome
    assert moves({"mean_wait": before}, {"mean_wait": before}, [LOWER], {}) == ()
    assert moves({}, {"mean_wait": now}, [LOWER], {}) == ()


def compared(**more: object) -> Compared:
    return Compared(("w", "p", 0, 0, ()), "fcfs + easy", **more)  # type: ignore[arg-type]


GOOD, BAD = Move(LOWER, 2.0, 1.0), Move(LOWER, 1.0, 2.0)


@pytest.mark.parametrize(
    ("runs", "written", "outcome", "status"),
    [
        ([], 0, "same", 0),
        ([compared()], 5, "same", 0),
        ([compared(rescheduled=True)], 0, "changed", 0),
        ([compared(rescheduled=True)], 5, "changed", 1),
        ([compared(moves=(GOOD,), rescheduled=True), compared()], 0, "better", 0),
        ([compared(moves=(GOOD,))], 5, "better", 1),
        ([compared(), compared(moves=(BAD, GOOD))], 0, "worse", 1),
        ([compared(moves=(BAD,)), compared(problem="no")], 0, "not compared", 2),
        ([compared(problem="no")], 5, "not compared", 1),
    ],
)
def test_the_gravest_run_decides(runs: list[Compared], written: int, outcome: str, status: int) -> None:
    verdict = Verdict(Path("gate.json"), tuple(runs), (), written)
    assert (verdict.outcome, verdict.status) == (outcome, status)


# ---------------------------------------------------------------- baselines that are none


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read as a baseline"),
        ("[]", "not a baseline"),
        ("{}", "not a baseline"),
        ('{"schema": 99}', "a baseline of schema 99, and this harness compares schema 1"),
        ('{"schema": 1}', "versions: Field required"),
        ("\xff", "cannot be read as a baseline"),
    ],
)
def test_bad_baselines_are_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(HarnessError, match=r"bad\.json") as caught:
        harness.check(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_policy_that_is_not_there_is_said_by_line(made: Bench) -> None:
    with pytest.raises(HarnessError, match=r"gate.json, line \d+: there is no order policy 'mine'"):
        harness.check(made.baseline)


def test_a_workload_that_is_not_there_is_said_by_line(made: Bench) -> None:
    made.edit(r'"poisson\(', '"nowhere.swf(')
    with pytest.raises(HarnessError, match=r"gate.json, line \d+: .*nowhere.swf"):
        made.check()


def test_a_field_needs_an_update(made: Bench, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="expected update"):
        made.check(field=made.field)
    with pytest.raises(HarnessError, match=r"no such baseline; harness check .*other.json --field FIELD --update"):
        harness.check(tmp_path / "other.json")


def test_a_folder_that_is_not_there_is_said_before_the_work(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="expected a folder"):
        harness.check(tmp_path / "nowhere" / "gate.json", field=bench.field, update=True, plugins=[bench.plugin])
    with pytest.raises(HarnessError, match="workers = 0"):
        bench.make(workers=0)


def test_starts_that_cannot_be_read(made: Bench) -> None:
    starts_path(made.baseline).write_bytes(b"no zip")
    with pytest.raises(HarnessError, match=r"starts\.zip: cannot be read"):
        made.check()


def test_the_starts_of_a_baseline_are_those_of_its_schedules(made: Bench) -> None:
    baseline, _ = read_baseline(made.baseline)
    assert set(read_packed(made.baseline)) == {past.schedule for past in baseline.runs}
