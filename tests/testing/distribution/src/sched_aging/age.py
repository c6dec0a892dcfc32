"""How old a job is, for both plugins."""

import harness

HOUR = 3600.0


@harness.jit
def age(job, clock):
    """How long it has waited [h]."""
    return (clock.now - job.submit) / HOUR
