"""JSON for other programs: no numbers that JSON has no words for, no letters that a terminal obeys."""

import json
import math
from typing import Any


def to_json(value: Any) -> str:
    """Return `value` as JSON in ASCII, null where there is no finite number, text where JSON has no word for it."""
    return json.dumps(finite(value), indent=2, default=str)


def finite(value: Any) -> Any:
    """Return `value`, or what it is made of, with None for every number that is not finite."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
