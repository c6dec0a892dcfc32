"""Functions that compiled code calls by name are made when they are needed, also by code that was kept."""

import subprocess
import sys

import pytest
from numba.core import config

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

PROGRAM = """
from numba import types
from harness.compile import code_cache
from harness.compile.addresses import address_of
from harness.compile.by_name import offer
from harness.engine.pointers import calling

asked = types.int64(types.int64)
lone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
made = []


def offered(name, source, **known):
    def make():
        made.append(name)
        return address_of(code_cache.compile_and_keep(name, source, known, asked, **lone))

    offer(name, make)
    return calling(asked, name)


square = offered("square", "def kernel(x):\\n    return x * x\\n")
fourth = offered("fourth", "def kernel(x):\\n    return square(square(x))\\n", square=square)
never = offered("never", "def kernel(x):\\n    return x\\n")
compiled = []
code_cache.on_compiling.append(compiled.append)
source = "def kernel(x):\\n    return fourth(x) + square(x) if x > 0 else fourth(2)\\n"
for _ in range(2):
    kernel = code_cache.compile_and_keep("outer", source, {"fourth": fourth, "square": square}, asked)
print(kernel(3), kernel(0), sorted(made), sorted(compiled))
"""


def test_what_is_called_by_name_is_made_once_and_nothing_else_even_by_code_that_was_kept(tmp_path):
    def said() -> str:
        environment = {"HARNESS_CACHE": str(tmp_path), "PATH": ""}
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert said() == "90 16 ['fourth', 'square'] ['fourth', 'outer', 'square']"
    assert said() == "90 16 ['fourth', 'square'] []"
