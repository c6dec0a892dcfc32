"""`python -m harness` is the same as `harness`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, also while it is still being loaded."""
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
