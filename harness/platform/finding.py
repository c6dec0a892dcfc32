"""Where platform files are: those of the harness by name, others by path or in the folders of `HARNESS_DATA`."""

import glob
import os
from pathlib import Path

from harness import bundled
from harness.errors import HarnessError, did_you_mean


def bundled_platforms() -> dict[str, Path]:
    """The platforms that come with the harness, by name."""
    files = {path.stem: path for path in bundled.folder("platforms").iterdir() if path.suffix in (".csv", ".toml")}
    return dict(sorted(files.items()))


def find_platform(name: str | Path, beside: Path = Path()) -> Path:
    """A platform file: bundled, by path from the folder `beside`, or anywhere below a folder of `HARNESS_DATA`."""
    known = bundled_platforms()
    if str(name) in known:
        return known[str(name)]
    path = beside / name
    if os.path.isdir(path):  # pathlib's raises for names that are too long
        raise HarnessError(f"{path}: it is a folder; expected a platform file")
    if os.path.exists(path):
        return path
    if not Path(name).is_absolute():
        for folder in filter(None, os.environ.get("HARNESS_DATA", "").split(os.pathsep)):
            if found := sorted(glob.glob(f"**/{glob.escape(str(name))}", root_dir=folder, recursive=True)):
                return Path(folder) / found[0]
    raise HarnessError(
        f"{path}: no such platform file, nor is one below HARNESS_DATA; {did_you_mean(Path(name).stem, known)}"
    )
