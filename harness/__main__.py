"""`python -m harness`: the same as `harness`."""

import atexit
import gc
import sys

#: Garbage is first collected after this many allocated objects, which no short command reaches.
OBJECTS = 500_000


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, even while modules are loaded."""
    _avoid_garbage_collection()
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


def _avoid_garbage_collection() -> None:
    """Skip garbage collection in short commands, and at the end: it would take a quarter of their time."""
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)


if __name__ == "__main__":
    main()
