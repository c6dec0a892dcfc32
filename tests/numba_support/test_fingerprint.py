"""Tests of the digests in the names of kept code: every file that compiled code is made from must count."""

from pathlib import Path

import harness
from harness.numba_support.fingerprint import files_of

PACKAGE = Path(harness.__file__).parent


def test_the_engines_version_covers_the_modules_in_its_folders():
    covered = {path.relative_to(PACKAGE).as_posix() for path in files_of("engine")}
    assert {"engine/loop.py", "engine/records/public.py", "engine/plan/node_plan.py"} <= covered


def test_the_compilers_version_covers_all_that_makes_code():
    covered = {path.name for path in files_of("numba_support", "policy_api")}
    assert {"code_cache.py", "pointer_tables.py", "compiled_policies.py", "readonly_types.py"} <= covered
