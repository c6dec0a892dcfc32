"""The logs with a short name, and where their files are."""

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
    """One entry of the catalogue."""

    name: str
    file: str
    path: str = ""  # in the archive
    jobs: int | None = None
    procs: int | None = None
    span: str = ""  # first and last month of submissions
    sha256: str = ""  # of the file, if known
    about: str = ""
    hazards: str = ""

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file in the archive; empty if our file has another name and may be packed differently."""
        return self.sha256 if self.path.endswith(f"/{self.file}") else ""


@cache
def catalogue() -> dict[str, Trace]:
    """Return all logs of `workloads/catalogue.toml`, in its order, by short name."""
    path = folder("workloads") / "catalogue.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Trace(name=name, **entry) for name, entry in entries.items()}
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise HarnessError(f"{path}: cannot be read as a catalogue of traces: {error}") from error


def find_trace(name: str | os.PathLike[str]) -> Path:
    """Return the file of a log: by path, by short name in any case, or by file name.

    Names are searched in the folders of `HARNESS_DATA` and below them, then among the fetched logs.
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
    """Return the catalogue's entry with this short name, in any case."""
    trace = _by_name(name)
    if trace is None:
        raise HarnessError(f"there is no trace {name!r}: {_nearest(name)}")
    return trace


def found_traces() -> dict[str, Path]:
    """Return the files of the catalogue's logs that are on this machine. Each folder is searched once."""
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
    """Return the folder of fetched logs."""
    return cache_folder() / "traces"


def _places() -> list[Path]:
    return [*data_folders(), fetched_folder()]


def _by_name(name: str) -> Trace | None:
    return {short.lower(): trace for short, trace in catalogue().items()}.get(name.lower())


def _nearest(name: str) -> str:
    """Return a hint with the nearest short name, in lower case if `name` is."""
    names = [short.lower() for short in catalogue()] if name.islower() else list(catalogue())
    return did_you_mean(name, names, otherwise="harness data list shows all names")
