"""Results as one JSON object, for other programs."""

import json
import math
from typing import Any


def to_json(value: Any) -> str:
    """`value` as JSON, null where there is no finite number: JSON knows no word for such."""
    return json.dumps(_finite(value), indent=2, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
