"""Calling the command line as a user does, and looking at all that comes back."""

import sys
import warnings
from pathlib import Path

import pytest
from calling import HEADER, Answer, Call, swf_line

import harness.cli
import harness.cli.run_command
from harness.numba_support import code_cache


@pytest.fixture
def harness_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call `harness` with some arguments in this process; everything but the process is as in a shell."""
    # A machine that compiles for the first time prints that it does, and how long it has taken so far.
    monkeypatch.setattr(harness.cli.console, "SLOW_TO_COMPILE", {})
    monkeypatch.setattr(code_cache, "SLOW", 1e6)

    def call(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        status = 0
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # a user's process does not turn them into errors
            try:
                harness.cli.main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(bool(end.code))
        seen = capsys.readouterr()
        return Answer(status, seen.out, seen.err)

    return call


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Twelve small jobs on four processors."""
    path = tmp_path / "small.swf"
    path.write_text(HEADER + "".join(swf_line(job, 1 + job % 4) for job in range(1, 13)))
    return path
