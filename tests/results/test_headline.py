"""What is said of a run first is true, and what is wrong is said."""

import pandas as pd

import harness
from harness.results import run_summary
from harness.results.measures import MEASURES


def run(jobs, procs=2):
    """Replay jobs of (submit, run, width) in strict order."""
    frame = [dict(zip(("submit", "run", "procs"), job, strict=True)) for job in jobs]
    log = harness.log_from_frame(pd.DataFrame(frame), name="few", procs=procs)
    return harness.simulate(harness.prepare(log), procs, harness.Scheduler(start="none"))


def test_the_sentence_says_who_waited_how_long():
    schedule = run([(0, 100, 2), (0, 100, 2), (0, 100, 2)])
    assert run_summary.sentence(schedule) == (
        "few on 2 processors under fcfs + none: half of 3 jobs waited 1.67 min or less, one in twenty 3.17 min or "
        "more, one 3.33 min; jobs used 100 % of the processors."
    )


def test_nobody_waited():
    assert "1 job, and none waited; jobs used 50 %" in run_summary.sentence(run([(0, 100, 1)]))


def test_no_job_ran():
    assert run_summary.sentence(run([(0, 100, 3)])) == "few on 2 processors under fcfs + none: no job ran."


def test_only_measures_that_say_something_are_shown_and_those_that_are_asked_for():
    values = run([(0, 100, 2), (0, 100, 2)]).measures()
    shown = run_summary.chosen_measures("", values, MEASURES)
    assert "mean_wait" in shown
    assert all(values[name] == values[name] != 0 for name in shown)
    assert len(shown) <= run_summary.MOST
    assert run_summary.chosen_measures("all", values, MEASURES) == list(values)
    assert set(run_summary.chosen_measures("energy", values, MEASURES)) == {
        name for name, measure in MEASURES.items() if measure.group == "energy"
    }


DAY = 86400


def test_an_overloaded_machine_is_said_to_be_one():
    """Two machine-days of work come every day, for ten days: a job a day is left over."""
    (told,) = (
        text for text in run_summary.warnings(run([(day * DAY // 2, DAY, 2) for day in range(21)])) if "over" in text
    )
    assert told.startswith("overloaded: the jobs bring 2.1 times the work")
    assert "the queue grows by 1 jobs a day" in told


def test_a_machine_that_keeps_up_is_not():
    assert list(run_summary.warnings(run([(day * DAY, DAY // 2, 2) for day in range(30)]))) == []


def test_who_starves_is_counted():
    """One wide job waits behind narrow ones that overtake it for months."""
    narrow = [(hour * 3600, 7000, 1) for hour in range(24 * 40)]
    frame = [dict(zip(("submit", "run", "procs"), job, strict=True)) for job in [(10, 100, 2), *narrow]]
    log = harness.log_from_frame(pd.DataFrame(frame), name="few", procs=2)
    schedule = harness.simulate(harness.prepare(log), 2, harness.Scheduler(start="greedy"))
    (told,) = (text for text in run_summary.warnings(schedule) if text.startswith("starvation"))
    assert told.startswith("starvation: 1 job waited longer than 7 d")


def test_jobs_that_no_hold_let_go_are_counted():
    frame = pd.DataFrame({"submit": [0, 1, 2], "run": [5, 5, 5], "procs": [1, 3, 2], "user": [1, 1, 1]})
    log = harness.log_from_frame(frame, name="few", procs=4)
    schedule = harness.simulate(log, 4, harness.Scheduler(hold="limits(user_procs=1)"))
    (told,) = run_summary.warnings(schedule)
    assert told == (
        "never released: 2 jobs never started, the first is job 2, held to the end by limits(user_procs=1); no "
        "average includes them"
    )
    assert schedule.measures()["stranded"] == 2
    assert list(run_summary.warnings(harness.simulate(log, 4, harness.Scheduler(hold="limits(user_procs=3)")))) == []
