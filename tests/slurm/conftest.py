"""What tests of executions have in common."""

import tempfile
from pathlib import Path

import pytest
from real_accounts import given, log  # noqa: F401
from real_slurm import configuration, few  # noqa: F401


@pytest.fixture
def temporary(monkeypatch):
    """A folder for what is temporary, which nobody else's executions use; its name is short, as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="h-") as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
