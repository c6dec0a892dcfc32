"""Which idle nodes sleep."""

import harness


def never(state):
    """No node ever sleeps."""


@harness.hookimpl
def set_sleep():
    return [harness.Sleep("never", never, constant=True)]
