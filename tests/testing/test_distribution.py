"""Distributions are installed, found and tested where nothing else of theirs is: in an environment of their own."""

from pathlib import Path

import pytest

from harness.policy.kinds import KINDS
from harness.policy.template import new_distribution

pytestmark = pytest.mark.slow

OURS = Path(__file__).with_name("distribution")


def test_somebody_elses_distribution_is_installed_found_and_passes(fresh, tmp_path):
    fresh(f"pip install {OURS}", tmp_path)
    assert "aged-area" in fresh("harness list orders", tmp_path)
    answer = fresh(
        "harness run 'lublin(jobs=200)' --order 'aged-area(weight=2)' --start 'patient(limit=1)' --format json",
        tmp_path,
    )
    assert '"aged-area(weight=2)"' in answer
    assert fresh("harness plugin check sched-aging --examples 5", tmp_path).count("passes") == 2
    assert "passed" in fresh(f"pytest -q -p no:cacheprovider {OURS / 'tests'}", tmp_path)


def test_a_new_distribution_for_each_hook_is_installed_found_and_passes_its_own_tests(fresh, tmp_path):
    names = {hook: f"fresh-{hook.replace('_', '-')}" for hook in KINDS}
    for hook, name in names.items():
        folder = new_distribution(name, hook, tmp_path)
        fresh(f"pip install ./{name}", tmp_path)
        (folder / "src").rename(folder / "elsewhere")  # what is tested is what was installed
    listed = fresh("harness list", tmp_path)
    for name in names.values():
        assert name in listed
        assert "passes" in fresh(f"harness plugin check {name} --examples 3", tmp_path)
        assert "passed" in fresh(f"pytest -q -p no:cacheprovider {name}", tmp_path)
