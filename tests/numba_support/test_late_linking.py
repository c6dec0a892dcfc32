"""Functions that are made machine code late are ordinary functions otherwise."""

import pytest
from numba import njit
from numba.core import config

from harness.numba_support.late_linking import LateLibrary, late_linking

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def compiled_late(function, **options):
    """Compile a function of one float, and what it calls, as kernels are."""
    dispatcher = njit(**options)(function)
    with late_linking():
        dispatcher.compile("float64(float64)")
    return dispatcher


def library_of(dispatcher):
    return next(iter(dispatcher.overloads.values())).library


def test_only_what_is_called_from_python_is_made_machine_code():
    inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(lambda x: x + 1.0)
    outer = compiled_late(lambda x: 2.0 * inner(x))
    assert outer(3.0) == 8.0
    assert isinstance(library_of(inner), LateLibrary)
    assert not library_of(inner).emitted
    assert library_of(outer).emitted


def test_what_was_compiled_late_can_be_called_from_what_was_not_and_again_late():
    inner = compiled_late(lambda x: x + 1.0, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    ordinary = njit(lambda x: 2.0 * inner(x))
    assert ordinary(3.0) == 8.0
    assert not isinstance(library_of(ordinary), LateLibrary)
    again = compiled_late(lambda x: 3.0 * inner(x) + ordinary(x))
    assert again(3.0) == 20.0


def test_a_function_deep_inside_can_raise_what_it_computed():
    def inner(x):
        if x > 1.0:
            raise ValueError("too much", x)
        return x

    deep = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(inner)
    outer = compiled_late(lambda x: deep(x))
    assert outer(1.0) == 1.0
    with pytest.raises(ValueError, match="too much") as raised:
        outer(3.0)
    assert raised.value.args[1] == 3.0
