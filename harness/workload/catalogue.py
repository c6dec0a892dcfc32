"""The logs that are known by a short name, and where to find them."""

import glob
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
    jobs: int
    procs: int | None = None
    sha256: str = ""  # of the file as named, where known
    about: str = ""


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
    trace = {short.lower(): trace for short, trace in catalogue().items()}.get(name.lower())
    if trace is None and (path.is_absolute() or not _is_file_name(name)):
        raise HarnessError(f"no log file and no trace {name!r}: {did_you_mean(name, _as_typed(name))}")
    file = trace.file if trace else name
    for place in _places():
        if (found := _find_below(place, file)) is not None:
            return found
    if trace is None:
        raise HarnessError(f"{name}: there is no such file, here or {_looked()}")
    raise HarnessError(
        f"trace {trace.name!r}: its file {file} is not {_looked()}; "
        "fetch it and set HARNESS_DATA to the folder that holds it"
    )


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
        if place.is_dir() and (found := sorted(place.rglob(glob.escape(wanted)))):
            return found[0]
    return None


def _looked() -> str:
    places = list(map(str, _places()))
    hint = "" if len(places) > 1 else " (HARNESS_DATA is not set)"
    return f"in {', '.join(places)} or below{hint}"


def _is_file_name(name: str) -> bool:
    return name.lower().endswith((".swf", ".gz"))


def _as_typed(name: str) -> list[str]:
    """The short names, in small letters if `name` is, so that its nearest match is found."""
    return [short.lower() for short in catalogue()] if name.islower() else list(catalogue())
