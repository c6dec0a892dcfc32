"""The short way through numba gives what the long one gives."""

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, types
from numba.core import config
from numba.core.registry import cpu_target

from harness.numba_support.front_end import ShortPipeline, operators_remembered
from harness.numba_support.late_linking import late_linking

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def walked(numbers, limit):
    """What functions of the engine do: loops, branches, tuples, variables of changing value and kind, errors."""
    total, last = 0, -1
    most = 0.0
    for k in range(len(numbers)):
        if numbers[k] < 0.0:
            continue
        step = (numbers[k], k)
        if step[0] > most:
            most, last = step
        total += int(step[0]) // 3 if k % 2 else -step[1]
        while total > limit:
            total -= limit + 1
    if limit == 0:
        raise ValueError("no limit")
    return total, last, most if last >= 0 else 0


@pytest.fixture(scope="module")
def compiled():
    return {kind: njit(error_model="numpy", **options)(walked) for kind, options in WAYS.items()}


WAYS = {"short": {"pipeline_class": ShortPipeline}, "long": {}}


@given(numbers=st.lists(st.floats(-1e6, 1e6), min_size=1), limit=st.integers(1, 50))
def test_the_short_way_computes_what_the_long_one_and_python_do(compiled, numbers, limit):
    short, long, python = (one(np.array(numbers), limit) for one in (compiled["short"], compiled["long"], walked))
    assert short == long == python


def test_the_short_way_raises_too(compiled):
    with pytest.raises(ValueError, match="no limit"):
        compiled["short"](np.array([-1.0]), 0)


KINDS = (types.int64, types.int32, types.uint64, types.float64, types.float32, types.boolean, types.literal(3))
TWO = (operator.add, operator.sub, operator.truediv, operator.floordiv, operator.lt, operator.eq, operator.and_)


@pytest.mark.parametrize("function", TWO, ids=lambda function: function.__name__)
def test_an_operator_gives_the_same_kind_whether_it_is_remembered_or_asked(function):
    context = cpu_target.typing_context
    context.refresh()
    kind = context.resolve_value_type(function)

    def answers():
        found = []
        for arguments in itertools.product(KINDS, KINDS):
            try:
                found.append(context.resolve_function_type(kind, arguments, {}))
            except Exception as refusal:
                found.append(type(refusal))
        return found

    before = answers()
    with late_linking(), operators_remembered():
        assert answers() == before
        with operators_remembered():
            assert answers() == before
    assert answers() == before
    assert "resolve_function_type" not in vars(context)
