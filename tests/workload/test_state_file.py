"""What squeue and sacct print at one instant: who runs since when, who waits, who is left out."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.workload.log import STARTED

HEAD = "JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|PARTITION|QOS|REASON"
RUNS = "11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|48|main|normal|None"
WAITS = "13_7|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|64|main|normal|Resources"
SACCT = "JobID|User|State|Submit|Start|Elapsed|Timelimit|ReqCPUS|AllocCPUS|Partition|QOS"


@pytest.fixture
def read(tmp_path):
    def read(*lines, **options):
        path = tmp_path / "now.txt"
        path.write_text("\n".join((*lines, "")))
        return harness.read_state(path, **options)

    return read


def test_who_runs_and_who_waits(read):
    state = read(HEAD, RUNS, WAITS)
    assert state.now == 2 * 3600
    assert state.present[["submit", STARTED, "procs", "estimate", "user", "run"]].to_numpy().tolist() == [
        [0, 600, 48, 14400, 1, -1],
        [4200, -1, 64, 7200, 2, -1],
    ]
    assert state.labels == ("11", "13_7")
    assert state.elapsed.tolist() == [6600, 0]


def test_sacct_says_the_same_as_squeue(read):
    asked = "11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|01:50:00|04:00:00|40|48|main|normal"
    waits = "13_7|eve|PENDING|2026-11-19T09:10:00|Unknown|00:00:00|02:00:00|64|0|main|normal"
    step = "11.batch||RUNNING|2026-11-19T08:10:00|2026-11-19T08:10:00|01:50:00||48|48||"
    one, other = read(SACCT, asked, step, waits), read(HEAD, RUNS, WAITS)
    assert one.present.to_dict() == other.present.assign(used_procs=one.present["used_procs"]).to_dict()
    assert (one.now, one.labels) == (other.now, other.labels)


@pytest.mark.parametrize("newer", [True, False])
def test_squeue_in_json_says_the_same_as_in_a_table(read, newer):
    number = (lambda value: {"set": True, "infinite": False, "number": value}) if newer else (lambda value: value)
    eight = 1795075200  # 2026-11-19T08:00:00
    common = {"partition": "main", "qos": "normal", "array_task_id": {"set": False, "infinite": False, "number": 0}}
    runs = {"job_id": 11, "job_state": ["RUNNING"], "start_time": number(eight + 600), "submit_time": number(eight)}
    runs |= {"time_limit": number(240), "cpus": number(48), "user_name": "ann", "state_reason": "None", **common}
    waits = {"job_id": 20, "job_state": "PENDING", "start_time": number(0), "submit_time": number(eight + 4200)}
    waits |= {"time_limit": number(120), "cpus": number(64), "user_name": "eve", "state_reason": "Resources", **common}
    waits |= {"array_job_id": number(13), "array_task_id": number(7)}
    one = read(json.dumps({"jobs": [runs, waits], "last_update": number(eight + 7200)}))
    other = read(HEAD, RUNS, WAITS)
    assert one.present.to_dict() == other.present.to_dict()
    assert (one.now, one.labels, one.header) == (other.now, other.labels, other.header)


@pytest.mark.parametrize("field", ["user_name", "partition", "state_reason"])
@pytest.mark.parametrize("text", ["1|root|RUNNING", "1\n7|root|RUNNING", "1\r\n7"])
def test_a_text_in_json_is_one_cell(read, field, text):
    job = {"job_id": 20, "array_job_id": 20, "job_state": "PENDING", "start_time": 0, "submit_time": 5}
    found = read(json.dumps({"jobs": [job | {"time_limit": 60, "cpus": 1, field: text}], "last_update": 60}))
    assert found.present["procs"].tolist() == [1]
    assert len(found.labels) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot be read as output of squeue --json"),
        ("{}", "has no 'jobs'"),
        ('{"jobs": [{}], "last_update": 5}', "has no 'job_state'"),
        ('{"jobs": [], "last_update": 1e999}', "cannot be read as output of squeue --json"),
        ('{"jobs": 7, "last_update": 5}', "cannot be read as output of squeue --json"),
        ('{"jobs": [], "last_update": 5}', "has no jobs"),
        ('{"jobs": [{"job_state": []}], "last_update": 5}', "a job without a job_state"),
        ('{"jobs": [{"job_state": ""}], "last_update": 5}', "a job without a job_state"),
        ('{"jobs": [{"job_state": [[]]}], "last_update": 5}', "a job_state that is not a text"),
        ('{"jobs": [{"job_state": {"a": 1}}], "last_update": 5}', "a job_state that is not a text"),
        ('{"jobs": [{"job_state": [5]}], "last_update": 5}', "a job_state that is not a text"),
        ('{"jobs": [null], "last_update": 5}', "its jobs are not a list of objects"),
        ('{"jobs": [[]], "last_update": 5}', "its jobs are not a list of objects"),
        ('{"jobs": {"a": 1}, "last_update": 5}', "its jobs are not a list of objects"),
        ('{"jobs": [], "last_update": 1.5}', "'1.5' is not a whole number"),
        ('{"jobs": [], "last_update": "1e3"}', "'1e3' is not a whole number"),
    ],
)
def test_json_that_is_no_state(read, text, complaint):
    with pytest.raises(HarnessError, match=complaint):
        read(text)


def test_those_that_ended_are_the_past(read):
    ended = "9|ann|COMPLETED|2026-11-19T06:00:00|2026-11-19T06:10:00|00:50:00|04:00:00|40|48|main|normal"
    asked = "11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|01:50:00|04:00:00|40|48|main|normal"
    state = read(SACCT, ended, asked)
    assert state.labels == ("11",)
    assert state.past["run"].tolist() == [3000, -1]
    assert state.now == 4 * 3600


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (WAITS.replace("Resources", "Dependency"), "held"),
        (WAITS.replace("Resources", "(JobHeldUser)"), "held"),
        (RUNS.replace("RUNNING", "SUSPENDED"), "neither running nor waiting"),
        (WAITS.replace("|64|", "|0|"), "without a width"),
    ],
)
def test_who_cannot_start_is_left_out_and_counted(read, line, why):
    state = read(HEAD, RUNS.replace("11|", "10|"), line)
    assert state.labels == ("10",)
    assert [(step.name, step.jobs) for step in state.steps if step.name == why] == [(why, 1)]


@pytest.mark.parametrize("word", ["R", "CG", "COMPLETING", "CONFIGURING"])
def test_other_words_for_running(read, word):
    assert read(HEAD.replace("STATE", "ST", 1), RUNS.replace("RUNNING", word)).running.all()


def test_a_job_without_a_limit_has_the_longest_that_is_known(read):
    state = read(HEAD, RUNS, WAITS.replace("2:00:00", "UNLIMITED"))
    assert state.workload().jobs["estimate"].tolist() == [14400, 14400]


def test_who_runs_beyond_the_limit_ends_now(read):
    late = RUNS.replace("|4:00:00|", "|1:00:00|")
    schedule = harness.simulate(read(HEAD, late, WAITS).workload(), 64)
    assert schedule.frame["end"].tolist() == [7200, 14400]
    assert schedule.frame["wait"].tolist() == [600, 3000]


def test_measures_are_of_those_that_had_not_begun(read):
    schedule = harness.simulate(read(HEAD, RUNS, WAITS).workload(), 64)
    measures = schedule.measures()
    assert (measures["mean_wait"], measures["makespan"]) == (15000 - 4200, 15000 + 7200 - 7200)
    assert measures["offered_load"] != measures["offered_load"]
    assert measures["utilisation"] == pytest.approx((48 * 7800 + 64 * 7200) / (64 * 15000))


def test_further_jobs_arrive_from_then_on(read):
    state = read(HEAD, RUNS, WAITS).workload()
    further = harness.prepare(harness.lublin(jobs=20, procs=64))
    jobs = harness.followed_by(state, further)
    assert jobs.jobs["submit"].iloc[2:].min() == state.now
    assert jobs.jobs["submit"].iloc[2:].diff().dropna().tolist() == further.jobs["submit"].diff().dropna().tolist()
    assert jobs.jobs["job"].is_unique
    assert not set(jobs.jobs["user"].iloc[2:]) & set(state.jobs["user"])
    assert jobs.digest not in (state.digest, further.digest)
    assert (harness.simulate(jobs, 64).frame["start"] >= jobs.jobs["submit"]).all()


def test_the_state_of_a_machine_is_not_redrawn(read):
    with pytest.raises(HarnessError, match="a state without jobs that arrive later: expected jobs to redraw"):
        harness.resample(read(HEAD, RUNS, WAITS).workload(), 1)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (("",), "is empty"),
        ((HEAD,), "has no jobs"),
        ((HEAD.replace("START_TIME", "X"), RUNS), "no column 'Start'"),
        ((HEAD.replace("TIME_LIMIT", "X"), RUNS), "no column 'Timelimit'"),
        ((HEAD, RUNS.replace("2026-11-19T08:10:00", "N/A")), "line 2: a running job without its start time"),
        ((HEAD, RUNS.replace("08:00:00", "08:10:01")), "line 2: a running job submitted after its start"),
        ((HEAD, RUNS, WAITS, RUNS.replace("T08:00", "T09:00")), "line 4: a running job submitted after its start"),
        ((HEAD, RUNS.replace("|48|", f"|{10**400}|")), "line 2: ReqCPUS is"),
        ((HEAD, RUNS.replace("4:00:00", "soon")), "line 2: Timelimit is 'soon'"),
        ((HEAD, RUNS.rpartition("|")[0]), "line 2: expected 11 cells, found 10"),
        ((HEAD, WAITS.replace("13_7", "13_[7-9]")), "an array of jobs in one line"),
        ((HEAD, RUNS.replace("RUNNING", "SUSPENDED")), "no job runs or waits"),
        ((HEAD.replace("CPUS", "X"), RUNS), "has no widths"),
    ],
)
def test_what_is_no_state(read, lines, complaint):
    with pytest.raises(HarnessError, match=complaint.replace("[", r"\[")):
        read(*lines)


def test_nobody_has_a_limit(read):
    with pytest.raises(HarnessError, match="expected a time limit of at least one job"):
        read(HEAD, WAITS.replace("2:00:00", "UNLIMITED")).workload()


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 30), st.integers(1, 40), st.integers(1, 4)),
        min_size=1,
        max_size=12,
    ),
    now=st.integers(0, 100),
    after=st.lists(st.integers(1, 99), min_size=12, max_size=12),
)
def test_what_a_log_says_of_later_times_is_not_in_its_state(rows, now, after):
    """Whatever happens after the instant: what was known of the machine then is the same."""
    frame = [{"submit": s, "wait": w, "run": r, "procs": p, "estimate": 50, "user": p} for s, w, r, p in rows]
    other = [dict(row) for row in frame]
    for row, more in zip(other, after, strict=False):
        if row["submit"] > now:
            row.update(submit=now + more, procs=more % 4 + 1, run=more, wait=0, user=more)
        elif row["submit"] + row["wait"] >= now:
            row.update(wait=now - row["submit"] + more - 1, run=more, status=0, cpu=more)
        elif row["submit"] + row["wait"] + row["run"] > now:
            row.update(run=now - row["submit"] - row["wait"] + more, status=5, used_memory=more)
    known = []
    for jobs in (frame, other):
        table = [{"status": 1, "cpu": -1, "used_memory": -1} | row for row in jobs]
        log = harness.log_from_frame(pd.DataFrame(table), procs=8)
        try:
            state = harness.at_instant(log, now)
        except HarnessError:
            known.append(None)
        else:
            known.append((state.present.to_dict(), state.past.to_dict(), state.labels, state.steps))
    assert known[0] == known[1]
