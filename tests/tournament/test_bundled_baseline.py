"""Our own gate: the bundled policies give what reports/bundled.json says; the field says how that is made."""

import inspect
import json
import tomllib
from pathlib import Path

import harness
from harness import bundled
from harness.plugins import plugins
from harness.tournament.reading import bundled_fields

BASELINE = bundled.folder("reports") / "bundled.json"


def test_the_bundled_policies_do_what_they_did() -> None:
    verdict = harness.check(BASELINE)
    assert not verdict.changed, str(verdict)


def test_it_is_made_of_the_field_of_its_name() -> None:
    field = tomllib.loads(bundled_fields()["bundled"].read_text())
    assert json.loads(BASELINE.read_text())["field"] == field
    assert "harness check reports/bundled.json --field bundled --update" in field["about"]


def test_every_bundled_policy_is_in_it() -> None:
    kept = json.loads(BASELINE.read_text())["policies"]
    missing = {
        policy.name
        for hook, policies in plugins().policies.items()
        for policy in policies.values()
        if policy.name not in kept[hook]
        and Path(inspect.getfile(policy.function)).parent == bundled.folder("plugins")  # somebody may have others
    }
    assert missing == set()
