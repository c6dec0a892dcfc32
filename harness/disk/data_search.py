"""Finds data in the folders of `HARNESS_DATA` and below them, and names the cache folder.

The functions accept any name without an error: too long, in another encoding, or of a pipe.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from harness.errors import HarnessError


def cache_folder() -> Path:
    """Return the folder for data that can be fetched or computed again: `HARNESS_CACHE`, or one of the user's."""
    return Path(os.environ.get("HARNESS_CACHE") or platformdirs.user_cache_dir("harness"))


def data_folders() -> list[Path]:
    """Return the folders of the environment variable `HARNESS_DATA`."""
    return [Path(place) for place in os.environ.get("HARNESS_DATA", "").split(os.pathsep) if place]


def is_file_name(name: str) -> bool:
    """Return whether `name` has a suffix like a file (`jobs.csv`, `below/log.swf.gz`), unlike short names and calls."""
    return re.search(r"\.[A-Za-z]\w*$", name) is not None


def find_below(folders: list[Path], *names: str) -> Path | None:
    """Return the first file with one of these names in or below the folders, in order of depth."""
    for folder in folders:
        for parent, _ in _walked(folder):
            for name in names:
                if os.path.isfile(path := os.path.join(parent, name)):
                    return Path(path)
    return None


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files in and below `folder` by name; of several, the one that `find_below` returns."""
    found: dict[str, Path] = {}
    for parent, files in _walked(folder):
        for file in files:
            found.setdefault(file, Path(parent) / file)
    return found


def find_data(name: str) -> Path:
    """Return a file or folder by its path from here or a folder of `HARNESS_DATA`, or a file below one."""
    for place in (Path(), *data_folders()):
        if os.path.exists(place / name):
            return place / name
    found = find_below(data_folders(), name)
    if found is None:
        raise HarnessError(f"{name}: there is no such file, here or {looked_in(data_folders())}")
    return found


def looked_in(folders: list[Path]) -> str:
    """Return words for the searched folders."""
    hint = "" if data_folders() else " (HARNESS_DATA is not set)"
    return f"in {', '.join(map(str, folders)) or 'other folders'} or below{hint}"


def _walked(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield every folder below with the names of its files, by depth, then alphabetically."""
    for parent, _, files in sorted(os.walk(folder), key=lambda walked: (walked[0].count(os.sep), walked[0])):
        yield parent, files
