"""The logs that are known by a short name, and where to find them."""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.bundled import folder
from harness.errors import HarnessError, did_you_mean
from harness.workload.cache import cache_folder


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
        """What the file in the archive must have; unknown where ours goes by another name, and may be packed anew."""
        return self.sha256 if self.path.endswith(f"/{self.file}") else ""


@cache
def catalogue() -> dict[str, Trace]:
    """All logs of `workloads/catalogue.toml` by their short names, in its order."""
    path = folder("workloads") / "catalogue.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Trace(name=name, **entry) for name, entry in entries.items()}
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise HarnessError(f"{path}: cannot be read as a catalogue of traces: {error}") from error


def find_trace(name: str | os.PathLike[str]) -> Path:
    """The file of the log `name`: a path, a short name of the catalogue in any case, or a file's name.

    Names are looked for in the folders of the environment variable `HARNESS_DATA` and below them, then among
    what was fetched into the cache folder.
    """
    path, name = Path(name), str(name)
    if path.exists() and not path.is_dir():
        return path
    trace = _by_name(name)
    if trace is None and (path.is_absolute() or not _is_file_name(name)):
        raise HarnessError(f"no log file and no trace {name!r}: {did_you_mean(name, _as_typed(name))}")
    file = trace.file if trace else name
    for place in _places():
        if (found := _find_below(place, file)) is not None:
            return found
    if trace is None:
        raise HarnessError(f"{name}: there is no such file, here or {_looked()}")
    advice = f"fetch it with: harness data fetch {trace.name}" if trace.path else "its folder belongs in HARNESS_DATA"
    raise HarnessError(f"trace {trace.name!r}: its file {file} is not {_looked()}; {advice}")


def named_trace(name: str) -> Trace:
    """The log of the catalogue with this short name, in any case."""
    trace = _by_name(name)
    if trace is None:
        raise HarnessError(f"there is no trace {name!r}: {did_you_mean(name, _as_typed(name))}")
    return trace


def found_traces() -> dict[str, Path]:
    """Where the logs of the catalogue are that are there, by short name; every folder is looked through once."""
    places = [_names_below(place) for place in _places()]
    found = {}
    for trace in catalogue().values():
        for names in places:
            path = names.get(trace.file) or names.get(trace.file.removesuffix(".gz"))
            if path is not None:
                found[trace.name] = path
                break
    return found


def find_data(name: str) -> Path:
    """A file or folder that is no log, by its path here or below one of the folders of `HARNESS_DATA`."""
    for place in (Path(), *_places()):
        if (place / name).exists():
            return place / name
    raise HarnessError(f"{name}: there is no such file, here or {_looked()}")


def fetched_folder() -> Path:
    """Where traces are kept that the harness itself fetched."""
    return cache_folder() / "traces"


def _places() -> Iterator[Path]:
    for place in os.environ.get("HARNESS_DATA", "").split(os.pathsep):
        if place:
            yield Path(place)
    yield fetched_folder()


def _find_below(place: Path, file: str) -> Path | None:
    """`file` in `place`, directly or anywhere below; an unpacked one will do as well."""
    for wanted in (file, file.removesuffix(".gz")):
        if (place / wanted).is_file():
            return place / wanted
    names = _names_below(place)
    return names.get(file) or names.get(file.removesuffix(".gz"))


def _names_below(place: Path) -> dict[str, Path]:
    """The files in `place` and below by name; of several, the one that is least deep, then the first by alphabet."""
    found: dict[str, Path] = {}
    for parent, _, files in sorted(os.walk(place), key=lambda walked: (walked[0].count(os.sep), walked[0])):
        for file in files:
            found.setdefault(file, Path(parent) / file)
    return found


def _by_name(name: str) -> Trace | None:
    return {short.lower(): trace for short, trace in catalogue().items()}.get(name.lower())


def _looked() -> str:
    places = list(map(str, _places()))
    hint = "" if len(places) > 1 else " (HARNESS_DATA is not set)"
    return f"in {', '.join(places)} or below{hint}"


def _is_file_name(name: str) -> bool:
    return name.lower().endswith((".swf", ".gz"))


def _as_typed(name: str) -> list[str]:
    """The short names, in small letters if `name` is, so that its nearest match is found."""
    return [short.lower() for short in catalogue()] if name.islower() else list(catalogue())
