"""How fast: the service rate of all nodes."""

import harness


def full(state):
    """Full speed, always."""
    return 1.0


def fixed(state, rate=1.0):
    """One rate, always. `rate`: 1 is full speed."""
    return rate


@harness.hookimpl
def set_rate():
    return [harness.Rate("full", full, constant=True), harness.Rate("fixed", fixed, constant=True)]
