"""Conditions say which jobs are meant, and can say nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.workload.condition import COLUMNS, Condition

JOBS = {name: np.arange(12) * (k + 1) % 7 for k, name in enumerate(COLUMNS)}

value = st.sampled_from(sorted(COLUMNS)) | st.integers(-9, 9).map(str) | st.floats(-9, 9).map(str)
comparison = st.tuples(value, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), value).map(" ".join)
condition = st.recursive(
    comparison,
    lambda part: (
        part.map("not ({})".format)
        | st.tuples(part, st.sampled_from([" and ", " or "]), part).map(lambda p: f"({p[0]}){p[1]}({p[2]})")
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(condition)
def test_it_means_what_python_means_for_each_job(text: str) -> None:
    expected = [bool(eval(text, {}, job)) for job in pd.DataFrame(JOBS).to_dict("records")]
    assert Condition(text).holds(JOBS).tolist() == expected
    assert Condition(Condition(text).text).holds(JOBS).tolist() == expected


def test_comparisons_may_be_chained() -> None:
    assert Condition("2 <= user < 5").holds(JOBS).tolist() == [2 <= user < 5 for user in JOBS["user"]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected something like"),
        ("procs <=", "expected something like"),
        ("procs = 3", "expected something like"),
        ("procs; user", "expected something like"),
        ("user", "'user' is not a comparison"),
        ("1", "'1' is not a comparison"),
        ("procs < 3 and user", "'user' is not a comparison"),
        ("user in [1, 2]", "'user in .1, 2.' is not a comparison"),
        ("usr == 1", "no column 'usr'; did you mean 'user'"),
        ("procs < 2 ** 9", "a column or a number for '2 .. 9'"),
        ("procs < '3'", "a column or a number for \"'3'\""),
        ("procs < True", "a column or a number for 'True'"),
        ("__import__('os').system('true') == 0", "a column or a number for .__import__"),
        ("procs.real == 1", "a column or a number for 'procs.real'"),
        ("(lambda: 1)() == 1", "a column or a number"),
        ("[x for x in procs] == 1", "a column or a number"),
        ("exit()", "is not a comparison"),
        ("(" * 500 + "procs < 1" + ")" * 500, "expected something like"),
    ],
)
def test_everything_else_is_refused_when_it_is_read(text: str, complaint: str) -> None:
    with pytest.raises(HarnessError, match=complaint):
        Condition(text)
