"""JSON for other programs: null for numbers that JSON does not have, and no control characters."""

import json
import math
from typing import Any


def to_json(value: Any) -> str:
    """Return `value` as JSON in ASCII: null for numbers that are not finite, text for other types."""
    return json.dumps(finite(value), indent=2, default=str)


def finite(value: Any) -> Any:
    """Return `value`, with None for every number in it that is not finite."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
