"""Tables of events: what is read, and what is refused, each in one sentence."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import Events, HarnessError, read_events
from harness.engine.records import public
from harness.engine.records.private import EVENT
from harness.workload.events import WORDS

GOOD = """# made by hand
time, event, subject
7, node-up, 1
5, node-down, 1
5.5, job-killed, 30
5, job-requeued, 10
9, job-deleted, 20
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(GOOD)
    return path


def test_the_records_are_in_order_of_time_then_of_the_table(table: Path) -> None:
    events = read_events(table)
    assert events.requeue
    assert not read_events(table, interrupted="kill").requeue
    records = events.records(np.array([20, 10, 30]), 2, EVENT)
    assert records["time"].tolist() == [5, 5, 5.5, 7, 9]
    assert records["subject"].tolist() == [1, 1, 2, 1, 0]
    kinds = [public.NODE_DOWN, public.JOB_REQUEUED, public.JOB_KILLED, public.NODE_UP, public.JOB_DELETED]
    assert records["kind"].tolist() == kinds


def test_the_words_are_those_of_the_engine() -> None:
    codes = [getattr(public, word.replace("-", "_").upper()) for word in WORDS]
    assert codes == list(range(len(WORDS)))


def test_numbers_may_be_text() -> None:
    frame = pd.DataFrame({"time": ["5"], "event": ["node-up"], "subject": ["1.0"]})
    records = Events(frame).records(np.array([1]), 2, EVENT)
    assert records.tolist() == [(5.0, public.NODE_UP, 1)]


def test_a_table_of_no_events(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("time,event,subject\n")
    assert len(read_events(tmp_path / "none.csv").records(np.array([1]), 1, EVENT)) == 0


def test_a_comma_at_the_end_of_a_line_shifts_nothing(tmp_path: Path) -> None:
    (tmp_path / "commas.csv").write_text("time,event,subject\n1,node-up,0,\n")
    assert read_events(tmp_path / "commas.csv").records(np.array([1]), 1, EVENT).tolist() == [(1.0, public.NODE_UP, 0)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cannot be read as a table of events"),
        ("time,event\n1,node-up\n", "expected a column 'subject'"),
        ("1,node-up,0\n", "expected a column 'time'; needed: time, event, subject"),
        ("time,event,subject\n1,node-dwon,0\n", "event 1: there is no event 'node-dwon'; did you mean 'node-down'?"),
        ("time,event,subject\n1,node-up,0\n2,,0\n", "event 2: there is no event 'nan'; known: "),
        ("time,event,subject\nsoon,node-up,0\n", "event 1: time 'soon': expected a number"),
        ("time,event,subject\n,node-up,0\n", "event 1: time 'nan': expected a number"),
        ("time,event,subject\ninf,node-up,0\n", "event 1: time 'inf': expected a number"),
        ("time,event,subject\n1,node-up,0\n1,node-up,0.5\n", "event 2: subject '0.5': expected a whole number"),
        ("time,event,subject\n1,node-up,n0\n", "event 1: subject 'n0': expected a whole number"),
        ("time,event,subject\n1,node-up,0,3\n", "cannot be read as a table of events"),
        ("time,event,subject\n1,node-up,0,3,4\n1,node-up\n1,a,b,c,d,e,f,g\n", "cannot be read as a table of events"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "events.csv"
    path.write_text(text)
    with pytest.raises(HarnessError) as error:
        read_events(path)
    assert str(error.value).startswith(str(path))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(HarnessError, match="cannot be read as a table of events"):
            read_events(path)


def test_a_fate_that_does_not_exist(table: Path) -> None:
    with pytest.raises(HarnessError, match=r"interrupted='killed': expected requeue or kill; did you mean 'kill'\?"):
        read_events(table, interrupted="killed")


@pytest.mark.parametrize(
    ("event", "subject", "sentence"),
    [
        ("node-down", 2, "there is no node 2: expected 0 to 1"),
        ("node-up", -1, "there is no node -1: expected 0 to 1"),
        ("node-up", 1e300, "there is no node 1e\\+300: expected 0 to 1"),
        ("job-killed", 4, "the workload has no job 4"),
        ("job-deleted", 12345678, "the workload has no job 12345678"),
    ],
)
def test_subjects_that_do_not_exist(event: str, subject: float, sentence: str) -> None:
    frame = pd.DataFrame({"time": [0.0], "event": [event], "subject": [subject]})
    with pytest.raises(HarnessError, match=f"events, event 1: {sentence}"):
        Events(frame).records(np.array([1, 2, 3]), 2, EVENT)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(alphabet='time,event,subject\n01-."# \x00node-upé', max_size=80).map(
            lambda text: ("time,event,subject\n" + text).encode()
        ),
    )
)
def test_whatever_the_file_holds_the_answer_is_a_table_or_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(content)
    with suppress(HarnessError):  # and nothing else
        read_events(path).records(np.array([1, 2]), 2, EVENT)
