"""Functions that compiled code calls by name are made when they are called, also by code that was kept."""

import os
import subprocess
import sys

import pytest
from numba.core import config

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

PROGRAM = """
import signal
from concurrent.futures import ThreadPoolExecutor

from numba import types
from harness.numba_support import code_cache, lazy_symbols
from harness.numba_support.addresses import address_of
from harness.numba_support.pointer_tables import calling

asked = types.int64(types.int64)
lone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
made, compiled, patience = [], [], [KeyboardInterrupt(), OSError("full")]
code_cache.on_compiling.append(compiled.append)


def offered(name, source, **known):
    def make():
        if name == "hasty" and patience:
            raise patience.pop()
        if name == "deaf" and name not in made:
            try:  # as in a callback of Python's, which loses what it raises
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                pass
        made.append(name)
        return address_of(code_cache.compile_and_keep(name, source, known, asked, **lone))

    lazy_symbols.offer(name, make)
    return calling(asked, name)


def said(function, *arguments):
    try:
        return function(*arguments)
    except BaseException as error:
        error = lazy_symbols.why_not() if isinstance(error, lazy_symbols.NotMadeError) else error
        return type(error).__name__


square = offered("square", "def kernel(x):\\n    return x * x\\n")
fourth = offered("fourth", "def kernel(x):\\n    return square(square(x))\\n", square=square)
picky = offered("picky", "def kernel(x):\\n    if x < 0:\\n        raise IndexError\\n    return x\\n")
hasty = offered("hasty", "def kernel(x):\\n    return x + 1\\n")
deaf = offered("deaf", "def kernel(x):\\n    return x + 2\\n")
rare = offered("rare", "def kernel(x):\\n    return x\\n")
source = '''
def kernel(x):
    if x == 2:
        return hasty(x)
    if x == 4:
        return deaf(x)
    if x > 0:
        return fourth(x) + square(x)
    return rare(x) if x < -5 else picky(x)
'''
known = {"fourth": fourth, "square": square, "picky": picky, "hasty": hasty, "deaf": deaf, "rare": rare}
outer = code_cache.compile_and_keep("outer", source, known, asked, nogil=True)
print(sorted(made))
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(outer, [3] * 8), sorted(made))
print(outer(0), said(outer, -1), outer(0), [said(outer, 2) for _ in range(4)])
print([said(outer, 4) for _ in range(3)])
print(lazy_symbols.asked.seconds > 0.0, lazy_symbols.asked.computing > 0.0, "rare" in made)
print(said(lazy_symbols.offer, "square", None))
print(sorted(compiled))
"""

SAID = """[]
90 90 90 90 90 90 90 90 ['fourth', 'square']
0 IndexError 0 ['OSError', 'KeyboardInterrupt', 3, 3]
['KeyboardInterrupt', 6, 6]
True True False
ValueError
"""


def test_what_is_called_by_name_is_made_once_when_it_is_called_and_nothing_else_even_by_code_that_was_kept(tmp_path):
    def said() -> str:
        environment = {**os.environ, "HARNESS_CACHE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said() == SAID + "['deaf', 'fourth', 'hasty', 'outer', 'picky', 'square']\n"
    assert said() == SAID + "[]\n"
