"""`python -m harness` is the same as `harness`."""

import atexit
import gc
import sys

#: So many objects may come before garbage is looked for: more than a short command makes.
OBJECTS = 500_000


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, also while it is still being loaded."""
    _leave_what_is_imported_alone()
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


def _leave_what_is_imported_alone() -> None:
    """Look through it for garbage neither as it comes nor at the end: that is a quarter of a short command's time."""
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)


if __name__ == "__main__":
    main()
