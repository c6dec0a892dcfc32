"""Where data is: in the folders of `HARNESS_DATA` and below them; and where what can be had again is kept.

The functions here ask the system in ways that raise nothing, whatever a name is: too long, of no encoding, of a pipe.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from harness.errors import HarnessError


def cache_folder() -> Path:
    """Return the harness's folder for what can be fetched or computed again: `HARNESS_CACHE`, or the user's own."""
    return Path(os.environ.get("HARNESS_CACHE") or platformdirs.user_cache_dir("harness"))


def data_folders() -> list[Path]:
    """Return the folders of the environment variable `HARNESS_DATA`."""
    return [Path(place) for place in os.environ.get("HARNESS_DATA", "").split(os.pathsep) if place]


def is_file_name(name: str) -> bool:
    """Say whether `name` ends as those of files do, unlike short names and calls: `jobs.csv`, `below/log.swf.gz`."""
    return re.search(r"\.[A-Za-z]\w*$", name) is not None


def find_below(folders: list[Path], *names: str) -> Path | None:
    """Return the first file of one of these names in one of the folders or below, the least deep first."""
    for folder in folders:
        for parent, _ in _walked(folder):
            for name in names:
                if os.path.isfile(path := os.path.join(parent, name)):
                    return Path(path)
    return None


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files in `folder` and below by name; of several, the one that `find_below` would find."""
    found: dict[str, Path] = {}
    for parent, files in _walked(folder):
        for file in files:
            found.setdefault(file, Path(parent) / file)
    return found


def find_data(name: str) -> Path:
    """Return the file or folder `name`, by its path here or in a folder of `HARNESS_DATA`, or the file below one."""
    for place in (Path(), *data_folders()):
        if os.path.exists(place / name):
            return place / name
    found = find_below(data_folders(), name)
    if found is None:
        raise HarnessError(f"{name}: there is no such file, here or {looked_in(data_folders())}")
    return found


def looked_in(folders: list[Path]) -> str:
    """Return the words that say where was looked."""
    hint = "" if data_folders() else " (HARNESS_DATA is not set)"
    return f"in {', '.join(map(str, folders)) or 'other folders'} or below{hint}"


def _walked(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield every folder below and the names of its files, the least deep first, then by alphabet."""
    for parent, _, files in sorted(os.walk(folder), key=lambda walked: (walked[0].count(os.sep), walked[0])):
        yield parent, files
