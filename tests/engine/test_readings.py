"""Predictions, readings of the instant and passes agree with the slow and obvious simulator."""

import gzip
import inspect
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from shared.strategies import workload
from slow_readings import Online, Recent, Similar
from slow_readings import simulate as slowly

import harness
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform, plain
from harness.policy.kinds import Predict
from harness.policy.registry import Plugins
from harness.policy.scheduler import Scheduler
from harness.policy.timing import DecisionTiming

POLICIES = Plugins().policies
BUNDLED = POLICIES["predict_runtime"]["recent"]
STARTS = ("none", "greedy", "easy", "easy(backfill_order=spf)", "easy(reservations=2)", "conservative")


def in_short_steps(job):
    return job.predicted + (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3000.0, 6000.0)[job.corrections]


#: Whole jobs of a few seconds need steps of a few seconds.
SHORT = Predict("short", BUNDLED.function, learn=BUNDLED.learn, correct=in_short_steps, memory=BUNDLED.memory)

LEARNT = POLICIES["predict_runtime"]["online"]
online = harness.jit(LEARNT.function)


def in_whole_seconds(job, user, clock, per_job, memory, rate=0.2, caution=1.5):
    return math.floor(online(job, user, clock, per_job, memory, rate, caution) + 0.5)


#: The slow simulator is exact in whole seconds only.
WHOLE = Predict("whole", in_whole_seconds, learn=LEARNT.learn, correct=LEARNT.correct, memory=LEARNT.memory)


def some_rows(seed, procs, count=14):
    dice = np.random.default_rng(seed)
    submit = np.cumsum(dice.choice((0, 0, 1, 1, 2, 7), count))
    work = dice.integers(1, dice.choice((3, 9, 40)), count)
    request = work + dice.choice((0, 0, 1, 4, 60), count)
    return [
        (int(s), int(n), int(w), int(e), {"user": int(u)})
        for s, n, w, e, u in zip(
            submit, dice.integers(1, procs + 1, count), work, request, dice.integers(0, 2, count), strict=True
        )
    ]


def passes(interval, main=None, depth=None, plan_horizon=None):
    """Backfill passes every `interval` seconds, with main passes and limits if given."""
    return DecisionTiming("batch", interval, main, depth, plan_horizon)


def quickly(made, procs, order="fcfs", start="easy", predict="requested", timing=None):
    known = {**POLICIES, "predict_runtime": {**POLICIES["predict_runtime"], "short": SHORT, "whole": WHOLE}}
    chosen = Scheduler(order=order, start=start, energy="none", predict=predict).choose(known)
    jobs = simulate(workload(made), plain(procs), chosen, extras=Extras(timing=timing or DecisionTiming())).jobs
    return [tuple(map(int, (job.start, job.end, job.predicted, job.corrections))) for job in jobs]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("instants", ["batch", "per-event"])
def test_predicts_learns_corrects_and_reads_the_instant_as_the_obvious_simulator(start, instants):
    corrections = 0
    for seed in range(40):
        procs = 2 + seed % 5
        made = some_rows(seed, procs)
        for predict, slow in (("requested", None), ("short(n=1)", Recent(1, 60)), ("short", Recent(2, 60))):
            expected = slowly(made, procs, "fcfs", start, slow, each=instants == "per-event")
            assert quickly(made, procs, "fcfs", start, predict, DecisionTiming(instants)) == expected, f"seed {seed}"
            corrections += sum(row[-1] for row in expected)
    assert corrections > 100


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("timing", "slow"),
    [
        (passes(5), {"period": 5}),
        (passes(7, 0), {"period": 7, "main": 0}),
        (passes(3, 0, 2), {"period": 3, "main": 0, "depth": 2}),
        (passes(5, 3), {"period": 5, "main": 3}),
        (passes(4, 6, 1), {"period": 4, "main": 6, "depth": 1}),
        (passes(2, 2, plan_horizon=9), {"period": 2, "main": 2, "window": 9}),
        (passes(3, 2, 6, 0), {"period": 3, "main": 2, "depth": 6, "window": 0}),
    ],
)
def test_starts_wait_for_a_pass_as_in_the_obvious_simulator(start, timing, slow):
    for seed in range(20):
        procs = 2 + seed % 5
        made = some_rows(100 + seed, procs)
        for order in ("fcfs", "saf"):
            expected = slowly(made, procs, order, start, **slow)
            assert quickly(made, procs, order, start, timing=timing) == expected, f"seed {seed}"
        learnt = slowly(made, procs, "fcfs", start, Recent(2, 60), **slow)
        assert quickly(made, procs, "fcfs", start, "short", timing) == learnt, f"seed {seed}"


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("period", ["0.1", "0.3", "0.7", "2.3", "1e-2"])
def test_passes_of_fractions_of_a_second_do_not_slip_by_rounding(start, period):
    exact = Fraction(period)
    for seed in range(10):
        procs = 2 + seed % 5
        made = some_rows(200 + seed, procs)
        for main, slow in ((None, {}), (0.7, {"main": Fraction("0.7")})):
            expected = slowly(made, procs, "fcfs", start, period=exact, **slow)
            chosen = Scheduler(start=start, energy="none").choose(POLICIES)
            jobs = simulate(
                workload(made), plain(procs), chosen, extras=Extras(timing=passes(float(period), main))
            ).jobs
            np.testing.assert_allclose(jobs["start"], [float(row[0]) for row in expected], rtol=0, atol=1e-9)


@pytest.mark.parametrize("memory", [{}, {"memory": 1.0}], ids=["processors", "nodes"])
@pytest.mark.parametrize("start", ["easy", "easy(reservations=3)", "easy(spare=no)", "conservative"])
def test_within_no_window_nothing_is_promised_and_within_a_wide_one_everything(start, memory):
    """Promises keep nobody back then: whoever fits starts, as `greedy` lets it, by processors and by nodes alike."""
    moved = 0
    for seed in range(20):
        procs = 2 + seed % 5
        made = [(*row[:4], row[4] | memory) for row in some_rows(300 + seed, procs, 20)]
        nodes = Platform("bound", (NodeType(procs, 1, 1.0, 8.0),))
        starts = {}
        for start_of, horizon in ((start, 0), ("greedy", None), (start, 1e6), (start, None)):
            chosen = Scheduler(start=start_of, energy="none").choose(POLICIES)
            timing = passes(2, 0, plan_horizon=horizon)
            starts[start_of, horizon] = list(
                simulate(workload(made), nodes, chosen, extras=Extras(timing=timing)).jobs["start"]
            )
        assert starts[start, 0] == starts["greedy", None]
        assert starts[start, 1e6] == starts[start, None]
        moved += starts[start, None] != starts["greedy", None]
    assert moved > 5


@pytest.mark.parametrize("instants", ["batch", "per-event"])
@pytest.mark.parametrize(
    ("predict", "slow"),
    [
        ("similar", lambda: Similar(200)),
        ("similar(look=2)", lambda: Similar(2)),
        ("whole", Online),
        ("whole(rate=0.5, caution=3)", lambda: Online(0.5, 3)),
    ],
)
def test_similar_and_online_predict_and_learn_as_their_obvious_twins(predict, slow, instants):
    corrections = guessed = 0
    for seed in range(20):
        made = [(97 * s, n, 97 * w, 97 * e, user) for s, n, w, e, user in some_rows(seed, 2 + seed % 3, 30)]
        expected = slowly(made, 2 + seed % 3, predictor=slow(), each=instants == "per-event")
        assert quickly(made, 2 + seed % 3, predict=predict, timing=DecisionTiming(instants)) == expected, f"seed {seed}"
        corrections += sum(row[-1] for row in expected)
        guessed += sum(predicted != row[3] for (_, _, predicted, _), row in zip(expected, made, strict=True))
    assert corrections > 50
    assert guessed > 100


def test_online_that_learns_nothing_believes_every_request_to_the_last_bit():
    run = harness.simulate(workload(some_rows(5, 4, 40)), 4, Scheduler(predict="online(rate=0)", energy="none"))
    assert (run.frame["predicted"] == run.frame["estimate"]).all()


def test_where_nobody_overtakes_both_readings_give_one_schedule():
    for seed in range(60):
        made = some_rows(seed, 3, 20)
        assert quickly(made, 3, start="none") == quickly(made, 3, start="none", timing=DecisionTiming("per-event"))


def test_believing_the_request_by_asking_gives_the_schedule_that_nobody_was_asked_for():
    asked = Predict("asked", lambda job, user, clock: job.requested)
    known = {**POLICIES, "predict_runtime": {"requested": POLICIES["predict_runtime"]["requested"], "asked": asked}}
    for start in STARTS:
        made = some_rows(7, 5, 40)
        runs = []
        for name in ("requested", "asked"):
            chosen = Scheduler(start=start, energy="none", predict=name).choose(known)
            runs.append(simulate(workload(made), plain(5), chosen).jobs["start"])
        assert list(runs[0]) == list(runs[1])


def test_the_slow_predictor_in_plain_python_is_the_compiled_one():
    made = some_rows(3, 4, 40)
    scheduler = Scheduler(start="easy(backfill_order=spf)", predict="recent(n=1)", energy="none")
    for timing in (DecisionTiming(), DecisionTiming("per-event"), passes(4)):
        quick, slow = (
            harness.simulate(workload(made), 4, scheduler, timing=timing, plain=plain).frame for plain in (False, True)
        )
        pd.testing.assert_frame_equal(quick, slow)


# ---------------------------------------------------------------- published schedules

PUBLISHED = {"KTH-SP2": 100, "CTC-SP2": 338, "SDSC-SP2": 128}
FILES = {
    "easy": ("easy_backfill_scheduler_None_None", "requested"),
    "easy(backfill_order=spf)": ("easy_plus_plus_scheduler_predictortsafrir_tsafrir", "recent(n=2)"),
}


def published(data, log, start):
    """The jobs of a result of Gaussier et al. (2015), in order of their numbers."""
    path = data / "anchors" / "sc15-predictsim" / f"{log}.res_{FILES[start][0]}.swf.gz"
    with gzip.open(path, "rt") as lines:
        rows = sorted([float(word) for word in line.split()] for line in lines if not line.startswith(";"))
    return np.array(rows)


@pytest.mark.parametrize("start", FILES)
@pytest.mark.parametrize("log", PUBLISHED)
def test_every_start_and_prediction_is_that_of_the_published_simulations(data, log, start):
    rows = published(data, log, start)
    made = [(int(r[1]), int(r[7]), int(r[3]), int(r[8]), {"user": int(r[11])}) for r in rows]
    chosen = Scheduler(start=start, energy="none", predict=FILES[start][1]).choose(POLICIES)
    jobs = simulate(
        workload(made), plain(PUBLISHED[log]), chosen, extras=Extras(timing=DecisionTiming("per-event"))
    ).jobs
    np.testing.assert_array_equal(jobs["start"], rows[:, 1] + rows[:, 2])
    if start != "easy":
        np.testing.assert_array_equal(jobs["predicted"], rows[:, 17])
        np.testing.assert_array_equal(jobs["corrections"] - 1, rows[:, 16])


def test_on_one_log_predictions_lengthen_the_published_waits_too(data):
    waits = {start: published(data, "CTC-SP2", start)[:, 2].mean() for start in FILES}
    assert waits["easy(backfill_order=spf)"] > waits["easy"]


def test_the_slow_simulator_gives_the_published_schedule_too(data):
    rows = published(data, "KTH-SP2", "easy(backfill_order=spf)")[:1500]
    made = [(int(r[1]), int(r[7]), int(r[3]), int(r[8]), {"user": int(r[11])}) for r in rows]
    slow = slowly(made, 100, "fcfs", "easy(backfill_order=spf)", Recent(2), each=True)
    quick = quickly(made, 100, "fcfs", "easy(backfill_order=spf)", "recent(n=2)", DecisionTiming("per-event"))
    assert slow == quick


# ---------------------------------------------------------------- mistakes


def stopped(function, words, **traits):
    policy = Predict("broken", function, **traits)
    known = {**POLICIES, "predict_runtime": {"broken": policy}}
    made = [(0, 1, 9, 9), (0, 1, 9, 9)]
    for plain_python in (False, True):
        with pytest.raises(HarnessError, match=words):
            simulate(workload(made), plain(1), Scheduler(predict="broken").choose(known), plain=plain_python)


@pytest.mark.parametrize("value", [float("nan"), -1.0, float("inf")])
def test_predictions_that_are_no_time_stop_the_run(value):
    words = (
        r"'broken' \(predict_runtime\), at 0 s, says that job 1 takes .* s, where a number of at least 0 was expected"
    )
    stopped(lambda job, user, clock: value, words)


@pytest.mark.parametrize("value", [1.0, 0.5])
def test_a_belief_that_never_grows_stops_the_run(value):
    words = r"at 1 s, corrects what job 1 takes to .* s, which it has run for already: expected more"
    stopped(lambda job, user, clock: 1.0, words, correct=lambda job: value)


def test_a_correction_that_is_no_time_stops_the_run():
    stopped(
        lambda job, user, clock: 1.0,
        "corrects what job 1 takes to nan s, where a number",
        correct=lambda job: job.estimate * np.nan,
    )


def nothing(job):
    job.estimate + 1.0


def misspelt(job):
    return job.estimat + 1.0


@pytest.mark.parametrize(
    ("correct", "words"),
    [
        (nothing, "in its correct, return.* nothing, where a number of seconds was expected"),
        (misspelt, "asks for 'estimat', which the job does not have"),
    ],
)
def test_a_wrong_correct_is_named_with_its_line(correct, words):
    stopped(lambda job, user, clock: 1.0, words, correct=correct)
    line = f"in its correct, .*test_readings.py, line {correct.__code__.co_firstlineno + (correct is misspelt)}"
    policy = Predict("broken", lambda job, user, clock: 1.0, correct=correct)
    known = {**POLICIES, "predict_runtime": {"broken": policy}}
    with pytest.raises(HarnessError, match=line):
        simulate(workload([(0, 1, 9, 9)]), plain(1), Scheduler(predict="broken").choose(known))


def test_without_correct_the_request_is_believed_and_an_uncapped_prediction_may_exceed_it():
    half = Predict("half", lambda job, user, clock: 0.5 * job.requested)
    more = Predict("more", lambda job, user, clock: 2.0 * job.requested, capped=False)
    known = {**POLICIES, "predict_runtime": {"half": half, "more": more}}
    for name, first in (("half", 4.0), ("more", 16.0)):
        job = simulate(workload([(0, 1, 8, 8)]), plain(1), Scheduler(predict=name).choose(known)).jobs[0]
        assert (job.predicted, job.corrections, job.end) == (first, int(name == "half"), 8.0)


@pytest.mark.parametrize(
    ("traits", "words"),
    [
        ({"learn": lambda job, other: None}, "names 'other', which is no argument, memory or parameter"),
        ({"correct": lambda job, per_user: 0.0}, "names per_user, and its memory has no such part"),
        ({"learn": 3}, "learn=3: expected a function"),
    ],
)
def test_functions_that_ask_for_what_is_not_declared_are_refused(traits, words):
    with pytest.raises(HarnessError, match=words):
        Predict("broken", lambda job, user, clock: 1.0, **traits)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"event_semantics": "per-evnt"}, "did you mean 'per-event'"),
        ({"backfill_interval": "sometimes"}, "backfill_interval = 'sometimes': expected seconds, at least 0.01"),
        ({"backfill_interval": 0}, "expected seconds, at least 0.01"),
        ({"backfill_interval": 1e-9}, "expected seconds, at least 0.01"),
        ({"backfill_interval": float("nan")}, "expected seconds, at least 0.01"),
        ({"backfill_interval": True}, "expected seconds, at least 0.01"),
        ({"backfill_interval": 60, "backfill_depth": 1e30}, "a whole number of jobs from 1 to 2,147,483,647"),
        ({"backfill_interval": 60, "backfill_depth": 1.5}, "a whole number"),
        ({"backfill_interval": 60, "backfill_depth": 0}, "a whole number"),
        ({"backfill_interval": 60, "main_interval": 0.001}, "main_interval = 0.001: .* or 0 for every event"),
        ({"backfill_interval": 60, "plan_horizon": -1}, "plan_horizon = -1: expected seconds"),
        ({"backfill_depth": 3}, "backfill_depth = 3: expected a backfill_interval too"),
    ],
)
def test_timings_that_cannot_be_are_refused(given, words):
    with pytest.raises(HarnessError, match=words):
        DecisionTiming(**given)


def test_every_bundled_predictor_is_described():
    assert all(inspect.getdoc(policy.function) for policy in POLICIES["predict_runtime"].values())
