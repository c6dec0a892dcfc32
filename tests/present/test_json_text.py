"""JSON for other programs holds what JSON has words for."""

import json
import math

from harness.present.json_text import to_json


def test_what_is_not_finite_is_null() -> None:
    value = {"a": [1.5, math.nan, (math.inf, -math.inf)], "b": {"c": None, "d": True, "e": "–", "f": 3}}
    assert json.loads(to_json(value)) == {
        "a": [1.5, None, [None, None]],
        "b": {"c": None, "d": True, "e": "–", "f": 3},
    }
