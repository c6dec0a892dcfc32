"""The logs that are known by a short name, and where to find them."""

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.disk.bundled import folder
from harness.disk.data_search import cache_folder, data_folders, files_below, find_below, is_file_name, looked_in
from harness.errors import HarnessError, did_you_mean


@dataclass(frozen=True)
class Trace:
    """One log of the catalogue: facts about it, not the log itself."""

    name: str
    file: str
    path: str = ""  # where the archive has it, below its own address
    jobs: int | None = None
    procs: int | None = None
    span: str = ""  # when its jobs came, to the month
    sha256: str = ""  # of the file as named, where known
    about: str = ""
    hazards: str = ""

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file in the archive; unknown where ours has another name, and may be packed anew."""
        return self.sha256 if self.path.endswith(f"/{self.file}") else ""


@cache
def catalogue() -> dict[str, Trace]:
    """Return all logs of `workloads/catalogue.toml` by their short names, in its order."""
    path = folder("workloads") / "catalogue.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Trace(name=name, **entry) for name, entry in entries.items()}
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise HarnessError(f"{path}: cannot be read as a catalogue of traces: {error}") from error


def find_trace(name: str | os.PathLike[str]) -> Path:
    """Return the file of the log `name`: a path, a short name of the catalogue in any case, or a file's name.

    Names are looked for in the folders of the environment variable `HARNESS_DATA` and below them, then among
    what was fetched into the cache folder.
    """
    path, name = Path(name), str(name)
    if os.path.exists(path) and not os.path.isdir(path):
        return path
    trace = _by_name(name)
    if trace is None and name and os.path.isdir(path):
        raise HarnessError(f"{name}: is a folder; expected a log, or the short name of one")
    if trace is None and (path.is_absolute() or not is_file_name(name)):
        raise HarnessError(f"no log file and no trace {name!r}: {_nearest(name)}")
    file = trace.file if trace else name
    if found := find_below(_places(), file, file.removesuffix(".gz")):
        return found
    if trace is None:
        raise HarnessError(f"{name}: there is no such file, here or {looked_in(_places())}")
    advice = f"fetch it with: harness data fetch {trace.name}" if trace.path else "its folder belongs in HARNESS_DATA"
    raise HarnessError(f"trace {trace.name!r}: its file {file} is not {looked_in(_places())}; {advice}")


def named_trace(name: str) -> Trace:
    """Return the log of the catalogue with this short name, in any case."""
    trace = _by_name(name)
    if trace is None:
        raise HarnessError(f"there is no trace {name!r}: {_nearest(name)}")
    return trace


def found_traces() -> dict[str, Path]:
    """Find the logs of the catalogue that are there, by short name; every folder is looked through once."""
    places = [files_below(place) for place in _places()]
    found = {}
    for trace in catalogue().values():
        for names in places:
            path = names.get(trace.file) or names.get(trace.file.removesuffix(".gz"))
            if path is not None:
                found[trace.name] = path
                break
    return found


def fetched_folder() -> Path:
    """Return where traces are kept that the harness itself fetched."""
    return cache_folder() / "traces"


def _places() -> list[Path]:
    return [*data_folders(), fetched_folder()]


def _by_name(name: str) -> Trace | None:
    return {short.lower(): trace for short, trace in catalogue().items()}.get(name.lower())


def _nearest(name: str) -> str:
    """Return words with the nearest short name, in small letters if `name` is, or none would be near."""
    names = [short.lower() for short in catalogue()] if name.islower() else list(catalogue())
    return did_you_mean(name, names, otherwise="harness data list shows the names there are")
