"""The main pictures of a page as files, for papers."""

from pathlib import Path

from harness.errors import HarnessError
