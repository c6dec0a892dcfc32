"""`harness warm-up`: what is named is compiled and kept, and nothing else."""

import json
from pathlib import Path

import pytest
from calling import Call
from numba.core import config

from harness.numba_support.code_cache import kernel_folder

PLUGIN = """
import harness

def newcomer(job, clock):
    return {score}

@harness.hookimpl
def order_queue():
    return [harness.Order("newcomer", newcomer)]
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_is_named_is_compiled_and_kept(harness_says: Call, tmp_path: Path) -> None:
    path = tmp_path / "newcomer.py"
    path.write_text(PLUGIN.format(score=f"job.procs + {tmp_path.stat().st_ino % 100_003}.0"))  # never compiled before
    before = set(kernel_folder().glob("order_queue_*.kernel"))
    answer = harness_says("warm-up", "newcomer", "--plugins", path, "--format", "json")
    assert answer.status == 0, answer.err
    rows = json.loads(answer.out)
    apart = "functions compiled on demand"
    assert [(row["compiled"], row["as"]) for row in rows] == [
        (name, "compiled") for name in ("event loop", apart, "newcomer")
    ]
    kept = {path.name.rsplit("_", 1)[0] for path in kernel_folder().glob("apart_*.kernel")}
    assert {"apart_reservation", "apart_next_overtaker"} <= kept
    assert set(kernel_folder().glob("order_queue_*.kernel")) - before  # tests in other processes keep more


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_takes_the_place_of_a_start_policy_is_compiled_with_it(harness_says: Call) -> None:
    answer = harness_says("warm-up", "easy", "--format", "json")
    assert answer.status == 0, answer.err
    made = [row["compiled"] for row in json.loads(answer.out)]
    variants = ["easy", "easy, moldable jobs"]
    assert sorted(made[2:]) == sorted(variants)


def test_a_policy_that_does_not_exist_is_refused(harness_says: Call) -> None:
    answer = harness_says("warm-up", "eazy")
    assert answer.status == 2
    assert "there is no policy 'eazy'" in answer.err
    assert "easy" in answer.err
