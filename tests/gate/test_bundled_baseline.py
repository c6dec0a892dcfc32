"""Our own gate: the bundled policies give what reports/bundled.json says; the field says how that is made."""

import inspect
import json
import tomllib
from pathlib import Path

import harness
from harness.disk import bundled
from harness.experiment.field_reading import bundled_fields
from harness.policy.registry import plugins

BASELINE = bundled.folder("reports") / "bundled.json"


def test_the_bundled_policies_do_what_they_did() -> None:
    verdict = harness.check(BASELINE)
    assert not verdict.changed, str(verdict)
    assert str(verdict) == f"{BASELINE}: {len(verdict.runs)} runs: {len(verdict.runs)} the same"  # and no note


def test_it_is_made_of_the_field_of_its_name() -> None:
    field = tomllib.loads(bundled_fields()["bundled"].read_text())
    assert json.loads(BASELINE.read_text())["field"] == field
    assert "harness check reports/bundled.json --field bundled --update" in field["about"]


def test_all_but_a_few_bundled_policies_are_in_it() -> None:
    """New ones join with the next release; until then they have a twin in tests/engine/slow.py, and conformance."""
    kept = json.loads(BASELINE.read_text())["policies"]
    missing = {
        policy.name
        for hook, policies in plugins().policies.items()
        for policy in policies.values()
        if len(kept.get(hook, ())) > 1  # others join when the field names some; they have slow twins in tests/engine
        and policy.name not in kept[hook]
        and Path(inspect.getfile(policy.function)).parent == bundled.folder("plugins")  # somebody may have others
    }
    assert len(missing) <= 3, missing
