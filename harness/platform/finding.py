"""Finds platform files: bundled ones by name, others by path or below the folders of `HARNESS_DATA`."""

import os
from pathlib import Path

from harness.disk import bundled
from harness.disk.data_search import data_folders, find_below
from harness.errors import HarnessError, did_you_mean

#: The longest file name on any common file system.
_LONGEST = 255


def bundled_platforms() -> dict[str, Path]:
    """Return the bundled platforms by name."""
    files = {path.stem: path for path in bundled.folder("platforms").iterdir() if path.suffix in (".csv", ".toml")}
    return dict(sorted(files.items()))


def find_platform(name: str | Path, beside: Path = Path()) -> Path:
    """Return a platform file: bundled, by path from the folder `beside`, or below a folder of `HARNESS_DATA`."""
    known = bundled_platforms()
    if str(name) in known:
        return known[str(name)]
    path = beside / name
    if len(path.name) > _LONGEST:
        raise HarnessError(f"{path.name[:40]}… ({len(path.name)} letters): no such platform file; the name is too long")
    if os.path.isdir(path):  # unlike pathlib, os.path does not raise for paths that are too long
        raise HarnessError(f"{path}: it is a folder; expected a platform file")
    if os.path.exists(path):
        return path
    if not Path(name).is_absolute() and (found := find_below(data_folders(), str(name))):
        return found
    raise HarnessError(
        f"{path}: no such platform file, nor is one below HARNESS_DATA; {did_you_mean(Path(name).stem, known)}"
    )
